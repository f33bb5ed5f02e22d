//! Ready-made files: what the agent may read and write, confined to its session's folders.

use std::{
    fs,
    io::{self, BufRead, BufReader, Read},
    path::{Component, Path, PathBuf},
};

use accord_protocol::{
    rpc::{Error, ErrorCode},
    v1::{ReadTextFileRequest, ReadTextFileResponse, WriteTextFileRequest, WriteTextFileResponse},
};
use tokio::task::spawn_blocking;

/// Ready-made files for [`Builder::files`](crate::Builder::files).
///
/// A session's agent gets at what lies in the session's folder and its additional ones, and nothing else: symbolic links
/// are followed first, and what they lead to must lie there, too. A program that swaps folders for links while a
/// request is served can still lead it astray; run such programs elsewhere.
#[derive(Debug, Clone)]
pub struct Files {
    writable: bool,
    size_limit: usize,
    missing_is_empty: bool,
}

impl Default for Files {
    fn default() -> Self {
        Self { writable: true, size_limit: 16 * 1024 * 1024, missing_is_empty: false }
    }
}

impl Files {
    /// Files to read and to write.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Files to read.
    #[must_use]
    pub fn read_only() -> Self {
        Self { writable: false, ..Self::default() }
    }

    /// The most text a read may give or a write may take, in bytes. Default 16 MiB.
    #[must_use]
    pub fn size_limit(mut self, bytes: usize) -> Self {
        self.size_limit = bytes;
        self
    }

    /// Reads a missing file as an empty one instead of refusing: some agents cannot create a file otherwise.
    #[must_use]
    pub fn missing_reads_as_empty(mut self) -> Self {
        self.missing_is_empty = true;
        self
    }

    pub(crate) fn is_writable(&self) -> bool {
        self.writable
    }

    pub(crate) async fn read(
        &self,
        roots: Vec<PathBuf>,
        request: ReadTextFileRequest,
    ) -> Result<ReadTextFileResponse, Error> {
        let files = self.clone();
        in_background(move || {
            let line = match request.line.get() {
                Some(0) => return Err(Error::invalid_params("line", "a line counted from 1")),
                line => line.copied(),
            };
            let path = match confined(&roots, &request.path) {
                Err(error) if files.missing_is_empty && error.code == ErrorCode::RESOURCE_NOT_FOUND => {
                    return Ok(ReadTextFileResponse::new(""));
                }
                path => path?,
            };
            let content = match (line, request.limit.get()) {
                (None, None) => whole(&path, files.size_limit),
                (line, limit) => window(&path, line.unwrap_or(1), limit.copied(), files.size_limit),
            };
            match content {
                Err(error) if files.missing_is_empty && error.kind() == io::ErrorKind::NotFound => {
                    Ok(ReadTextFileResponse::new(""))
                }
                content => Ok(ReadTextFileResponse::new(content.map_err(|error| refusal(&error))?)),
            }
        })
        .await
    }

    pub(crate) async fn write(
        &self,
        roots: Vec<PathBuf>,
        request: WriteTextFileRequest,
    ) -> Result<WriteTextFileResponse, Error> {
        if request.content.len() > self.size_limit {
            return Err(Error::invalid_params("content", format!("at most {} bytes", self.size_limit)));
        }
        in_background(move || {
            let path = confined(&roots, &request.path)?;
            write(&path, &request.content).map_err(|error| refusal(&error))?;
            Ok(WriteTextFileResponse::new())
        })
        .await
    }
}

async fn in_background<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    spawn_blocking(work).await.unwrap_or_else(|_| Err(Error::internal("the file could not be handled")))
}

/// Where `path` really leads, if that lies in one of the roots. What does not exist yet is judged by the folder that does.
fn confined(roots: &[PathBuf], path: &Path) -> Result<PathBuf, Error> {
    if !path.is_absolute() {
        return Err(Error::invalid_params("path", "an absolute path"));
    }
    let mut missing = Vec::new();
    let mut existing = path;
    let real = loop {
        match existing.canonicalize() {
            Ok(real) => break real,
            // A link to nowhere is there, and writing through it would end up where it points.
            Err(error) if error.kind() == io::ErrorKind::NotFound && existing.symlink_metadata().is_err() => {
            }
            Err(error) => return Err(refusal(&error)),
        }
        match (existing.components().next_back(), existing.parent()) {
            (Some(Component::Normal(name)), Some(parent)) => {
                missing.push(name);
                existing = parent;
            }
            _ => return Err(outside()),
        }
    };
    let is_inside = |root: &PathBuf| root.canonicalize().is_ok_and(|root| real.starts_with(root));
    if !roots.iter().any(is_inside) {
        return Err(outside());
    }
    Ok(missing.iter().rev().fold(real, |path, name| path.join(name)))
}

fn whole(path: &Path, size_limit: usize) -> io::Result<String> {
    let mut text = String::new();
    // One byte more than allowed tells a file at the limit from one over it, also while it grows.
    open(path)?.take(size_limit as u64 + 1).read_to_string(&mut text)?;
    if text.len() > size_limit { Err(too_large(size_limit)) } else { Ok(text) }
}

/// `limit` lines from `line` on, with their line ends.
fn window(path: &Path, line: u32, limit: Option<u32>, size_limit: usize) -> io::Result<String> {
    let mut file = BufReader::new(open(path)?);
    for _ in 1..line {
        if file.skip_until(b'\n')? == 0 {
            return Ok(String::new());
        }
    }
    let mut text = Vec::new();
    for _ in 0..limit.unwrap_or(u32::MAX) {
        let room = (size_limit + 1).saturating_sub(text.len()) as u64;
        if file.by_ref().take(room).read_until(b'\n', &mut text)? == 0 {
            break;
        }
        if text.len() > size_limit {
            return Err(too_large(size_limit));
        }
    }
    String::from_utf8(text).map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "not UTF-8"))
}

/// Opening a pipe or a device could wait for ever.
fn open(path: &Path) -> io::Result<fs::File> {
    if fs::metadata(path)?.is_file() { fs::File::open(path) } else { Err(io::ErrorKind::InvalidInput.into()) }
}

fn write(path: &Path, content: &str) -> io::Result<()> {
    match fs::metadata(path) {
        Ok(metadata) if !metadata.is_file() => {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        Ok(_) => {}
        Err(_) => fs::create_dir_all(path.parent().unwrap_or(path))?,
    }
    fs::write(path, content)
}

fn outside() -> Error {
    Error::invalid_params("path", "a path within the session's folders")
}

fn too_large(limit: usize) -> io::Error {
    io::Error::new(io::ErrorKind::FileTooLarge, format!("more than {limit} bytes"))
}

fn refusal(error: &io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::NotFound => Error::resource_not_found("file"),
        io::ErrorKind::InvalidData => Error::internal("the file is not UTF-8 text"),
        io::ErrorKind::InvalidInput => Error::invalid_params("path", "a regular file"),
        // Only ours say more than the kind; the system's may name what the agent is not to know.
        _ if error.get_ref().is_some() => Error::internal(format!("the file cannot be used: {error}")),
        kind => Error::internal(format!("the file cannot be used: {kind}")),
    }
}
