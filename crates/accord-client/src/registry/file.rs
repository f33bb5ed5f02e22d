//! The registry's file: read, locked, and replaced atomically.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::ConfiguredAgent;

/// Why the registry's file could not be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RegistryError {
    /// The file or its folder could not be read, locked or written.
    #[error("cannot {doing} the agent registry {}", path.display())]
    Io {
        /// What was being done: read, lock or write.
        doing: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file holds something else.
    #[error("{} is not an agent registry", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// Where it stops being one.
        source: serde_json::Error,
    },
}

#[derive(Default, Serialize, Deserialize)]
struct Document {
    #[serde(default)]
    agents: Vec<ConfiguredAgent>,
    #[serde(flatten)]
    other: Map<String, Value>,
}

/// The file's agents; none if it does not exist.
pub(super) fn read(path: &Path) -> Result<Vec<ConfiguredAgent>, RegistryError> {
    Ok(read_document(path)?.agents)
}

/// Edits the agents the file holds now, under a lock that other processes respect, and replaces the file.
pub(super) fn update(
    path: &Path,
    edit: impl FnOnce(&mut Vec<ConfiguredAgent>),
) -> Result<Vec<ConfiguredAgent>, RegistryError> {
    let failed = |doing| move |source| RegistryError::Io { doing, path: path.to_owned(), source };
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    fs::create_dir_all(folder).map_err(failed("write"))?;
    // The lock lives in a file of its own: the registry's own file is replaced, and a lock would go with it.
    let lock = private().create(true).truncate(false).open(beside(path, ".lock")).map_err(failed("lock"))?;
    lock.lock().map_err(failed("lock"))?;

    let mut document = read_document(path)?;
    edit(&mut document.agents);
    write_document(path, folder, &document).map_err(failed("write"))?;
    Ok(document.agents)
}

fn read_document(path: &Path) -> Result<Document, RegistryError> {
    match fs::read_to_string(path) {
        Ok(text) => serde_json::from_str(&text)
            .map_err(|source| RegistryError::Malformed { path: path.to_owned(), source }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Document::default()),
        Err(source) => Err(RegistryError::Io { doing: "read", path: path.to_owned(), source }),
    }
}

/// A reader sees the old file or the new one, also after a power cut: the new one is synced before it is renamed.
fn write_document(path: &Path, folder: &Path, document: &Document) -> io::Result<()> {
    let mut text = serde_json::to_vec_pretty(document)?;
    text.push(b'\n');
    let new = beside(path, ".new");
    let mut file = private().create(true).truncate(true).open(&new)?;
    file.write_all(&text)?;
    file.sync_all()?;
    fs::rename(&new, path)?;
    if cfg!(unix) {
        File::open(folder)?.sync_all()?;
    }
    Ok(())
}

/// Environment variables often hold keys, so only the owner may read what is written.
fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}
