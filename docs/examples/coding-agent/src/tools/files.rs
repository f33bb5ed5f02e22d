//! Files of a session: inside its directories, whatever links say.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use super::editor::Editor;

/// The largest file that is read, in bytes.
const LARGEST: u64 = 4 << 20;
/// The most entries of a directory that are listed.
const MOST_ENTRIES: usize = 1_000;

/// The directories of a session, and what may be done in them.
#[derive(Debug)]
pub(crate) struct Files {
    cwd: PathBuf,
    roots: Vec<PathBuf>,
}

/// Why a file was not touched.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Refused {
    #[error("{0} lies outside the session's directories")]
    Outside(String),
    #[error("{0}: {1}")]
    Io(String, io::Error),
    #[error("{0}: {1}")]
    Editor(String, String),
    #[error("{0} is too large")]
    TooLarge(String),
    #[error("{0} is no text file")]
    NoText(String),
    #[error("the text to be replaced occurs {found} times in {path}; it must occur exactly once")]
    NotOnce { path: String, found: usize },
}

impl Files {
    pub(crate) fn new(cwd: PathBuf, others: Vec<PathBuf>) -> Self {
        let roots = std::iter::once(cwd.clone()).chain(others);
        let roots = roots.map(|root| root.canonicalize().unwrap_or(root)).collect();
        Self { cwd, roots }
    }

    pub(crate) fn cwd(&self) -> &Path {
        &self.cwd
    }

    /// Where a path really leads, if that is inside; of one that does not exist yet, where its directory leads.
    pub(crate) fn resolve(&self, path: &str) -> Result<PathBuf, Refused> {
        let joined = self.cwd.join(path);
        let mut existing = joined.as_path();
        let mut missing = Vec::new();
        let real = loop {
            match existing.canonicalize() {
                Ok(real) => break real,
                // A link to nowhere exists, and would be followed when written to.
                Err(_) if existing.is_symlink() => return Err(Refused::Outside(path.to_owned())),
                Err(_) => {}
            }
            let (Some(parent), Some(name)) = (existing.parent(), existing.file_name()) else {
                return Err(Refused::Outside(path.to_owned()));
            };
            missing.push(name);
            existing = parent;
        };
        let whole = missing.iter().rev().fold(real, |whole, name| whole.join(name));
        if self.roots.iter().any(|root| whole.starts_with(root)) {
            Ok(whole)
        } else {
            Err(Refused::Outside(path.to_owned()))
        }
    }

    /// The text of a file, or `limit` lines from `line` on (counted from 1).
    pub(crate) fn read(
        &self,
        path: &str,
        line: Option<u64>,
        limit: Option<u64>,
        editor: &Editor<'_>,
    ) -> Result<String, Refused> {
        let text = self.seen(path, editor)?;
        if line.is_none() && limit.is_none() {
            return Ok(text);
        }
        let skip = usize::try_from(line.unwrap_or(1).saturating_sub(1)).unwrap_or(usize::MAX);
        let most = usize::try_from(limit.unwrap_or(u64::MAX)).unwrap_or(usize::MAX);
        Ok(text.split_inclusive('\n').skip(skip).take(most).collect())
    }

    pub(crate) fn write(&self, path: &str, content: &str, editor: &Editor<'_>) -> Result<String, Refused> {
        self.put(path, content, editor)?;
        Ok(format!("Wrote {} bytes to {path}.", content.len()))
    }

    fn put(&self, path: &str, content: &str, editor: &Editor<'_>) -> Result<(), Refused> {
        let file = self.resolve(path)?;
        if let Some(written) = editor.write(&file, content) {
            return written;
        }
        if let Some(folder) = file.parent() {
            fs::create_dir_all(folder).map_err(|error| Refused::Io(path.to_owned(), error))?;
        }
        fs::write(&file, content).map_err(|error| Refused::Io(path.to_owned(), error))
    }

    /// The text of a file as the user sees it.
    fn seen(&self, path: &str, editor: &Editor<'_>) -> Result<String, Refused> {
        editor.read(&self.resolve(path)?).unwrap_or_else(|| self.text(path))
    }

    pub(crate) fn patch(
        &self,
        path: &str,
        old: &str,
        new: &str,
        all: bool,
        editor: &Editor<'_>,
    ) -> Result<String, Refused> {
        let text = self.seen(path, editor)?;
        let found = if old.is_empty() { 0 } else { text.matches(old).count() };
        if found == 0 || (found > 1 && !all) {
            return Err(Refused::NotOnce { path: path.to_owned(), found });
        }
        if found.saturating_mul(new.len()) as u64 > LARGEST {
            return Err(Refused::TooLarge(path.to_owned()));
        }
        self.put(path, &text.replace(old, new), editor)?;
        Ok(format!("Replaced {found} in {path}."))
    }

    pub(crate) fn list(&self, path: &str) -> Result<String, Refused> {
        let folder = self.resolve(path)?;
        let failed = |error| Refused::Io(path.to_owned(), error);
        let mut names = Vec::new();
        for entry in fs::read_dir(folder).map_err(failed)?.take(MOST_ENTRIES) {
            let entry = entry.map_err(failed)?;
            let end = if entry.path().is_dir() { "/" } else { "" };
            names.push(format!("{}{end}", entry.file_name().to_string_lossy()));
        }
        names.sort();
        Ok(names.join("\n"))
    }

    pub(crate) fn text(&self, path: &str) -> Result<String, Refused> {
        let file = self.resolve(path)?;
        let failed = |error| Refused::Io(path.to_owned(), error);
        let about = fs::metadata(&file).map_err(failed)?;
        if !about.is_file() {
            return Err(Refused::NoText(path.to_owned()));
        }
        if about.len() > LARGEST {
            return Err(Refused::TooLarge(path.to_owned()));
        }
        String::from_utf8(fs::read(&file).map_err(failed)?).map_err(|_| Refused::NoText(path.to_owned()))
    }
}
