//! Settings from a file of `NAME=value` lines, below those of the process's environment.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    fs, io,
    path::{Path, PathBuf},
};

/// What the program is configured with: the process's environment, and under it an env file.
///
/// The process's own variables are never changed: what a program starts gets only what it is given.
#[derive(Clone, Default)]
pub struct Environment {
    file: BTreeMap<String, String>,
    path: Option<PathBuf>,
    fixed: Option<BTreeMap<String, String>>,
}

impl Environment {
    /// The process's environment alone.
    pub fn process() -> Self {
        Self::default()
    }

    /// These variables alone, whatever the process has: for tests and embedders.
    pub fn of(variables: impl IntoIterator<Item = (String, String)>) -> Self {
        Self { fixed: Some(variables.into_iter().collect()), ..Self::default() }
    }

    /// The same with the variables of an env file below; a file that does not exist holds none.
    ///
    /// # Errors
    ///
    /// When the file is there and can't be read, or a line of it is no assignment.
    pub fn with_file(mut self, path: impl Into<PathBuf>) -> Result<Self, EnvFileError> {
        let path = path.into();
        match fs::read_to_string(&path) {
            Ok(text) => self.file = parse(&text, &path)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => self.file.clear(),
            Err(source) => return Err(EnvFileError::Unreadable { path, source }),
        }
        self.path = Some(path);
        Ok(self)
    }

    /// The same with the env file read again: another process may have written it meanwhile.
    ///
    /// # Errors
    ///
    /// As [`with_file`](Self::with_file).
    pub fn reread(&self) -> Result<Self, EnvFileError> {
        match &self.path {
            Some(path) => self.clone().with_file(path),
            None => Ok(self.clone()),
        }
    }

    /// The value of `name`: the process's, else the file's; an empty one counts as none.
    pub fn get(&self, name: &str) -> Option<String> {
        let outer = match &self.fixed {
            Some(fixed) => fixed.get(name).cloned(),
            None => std::env::var(name).ok(),
        };
        outer.or_else(|| self.file.get(name).cloned()).filter(|value| !value.is_empty())
    }

    /// The env file that was named, whether it exists or not.
    pub fn file(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Sets variables in the env file, leaving its other lines as they are; the file is replaced at once and readable by
    /// its owner alone.
    ///
    /// # Errors
    ///
    /// When no file was named, a name or value can't stand on a line, or the file can't be written.
    pub fn store(&mut self, variables: &[(&str, &str)]) -> Result<(), EnvFileError> {
        let path = self.path.clone().ok_or(EnvFileError::NoFile)?;
        let old = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Err(source) => return Err(EnvFileError::Unreadable { path, source }),
        };
        let mut text = String::new();
        for line in old.lines() {
            let replaced =
                assignment(line).is_some_and(|(name, _)| variables.iter().any(|(new, _)| *new == name));
            if !replaced {
                text.push_str(line);
                text.push('\n');
            }
        }
        for (name, value) in variables {
            if !is_name(name) || value.contains(['\n', '\r', '\0']) {
                return Err(EnvFileError::Unwritable { name: (*name).to_owned() });
            }
            writeln!(text, "{name}={}", quoted(value)).expect("writing to a string cannot fail");
        }
        write_private(&path, &text)
            .map_err(|source| EnvFileError::Unreadable { path: path.clone(), source })?;
        self.file = parse(&text, &path)?;
        Ok(())
    }
}

/// Names alone: the values are secrets more often than not.
impl std::fmt::Debug for Environment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Environment")
            .field("path", &self.path)
            .field("in_file", &self.file.keys())
            .finish_non_exhaustive()
    }
}

/// What is wrong with an env file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EnvFileError {
    /// The file can't be read or written.
    #[error("cannot access the env file {}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A line is neither blank, a comment nor an assignment.
    #[error("line {line} of the env file {} is not NAME=value", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
    },
    /// A variable that can't be written as a line.
    #[error("the variable {name} cannot be written to an env file")]
    Unwritable {
        /// Its name.
        name: String,
    },
    /// There is no env file to write to.
    #[error("no env file was named")]
    NoFile,
}

fn parse(text: &str, path: &Path) -> Result<BTreeMap<String, String>, EnvFileError> {
    let mut variables = BTreeMap::new();
    for (index, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let (name, value) = assignment(line)
            .ok_or_else(|| EnvFileError::Malformed { path: path.to_owned(), line: index + 1 })?;
        variables.insert(name.to_owned(), unquoted(value));
    }
    Ok(variables)
}

fn assignment(line: &str) -> Option<(&str, &str)> {
    let line = line.trim();
    let line = line.strip_prefix("export ").unwrap_or(line);
    let (name, value) = line.split_once('=')?;
    let name = name.trim();
    is_name(name).then(|| (name, value.trim()))
}

fn is_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.chars().all(|other| other.is_ascii_alphanumeric() || other == '_')
}

/// Single quotes keep everything; in double quotes a backslash keeps the next character; bare values end at ` #`.
fn unquoted(value: &str) -> String {
    if let Some(inner) = value.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')) {
        return inner.to_owned();
    }
    if let Some(inner) = value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        let mut plain = String::with_capacity(inner.len());
        let mut characters = inner.chars();
        while let Some(character) = characters.next() {
            match character {
                '\\' => plain.extend(characters.next()),
                other => plain.push(other),
            }
        }
        return plain;
    }
    value.split(" #").next().unwrap_or(value).trim_end().to_owned()
}

fn quoted(value: &str) -> String {
    let plain = value.chars().all(|c| c.is_ascii_alphanumeric() || "-_.:/@+,=%".contains(c));
    if plain { value.to_owned() } else { format!("\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\"")) }
}

/// Replaces the file in one step, through a neighbour that nobody else may read.
fn write_private(path: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        fs::create_dir_all(folder)?;
    }
    let mut neighbour = path.as_os_str().to_owned();
    neighbour.push(format!(".{}.new", std::process::id()));
    let neighbour = PathBuf::from(neighbour);
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(&neighbour)?;
    io::Write::write_all(&mut file, text.as_bytes())?;
    file.sync_all()?;
    fs::rename(&neighbour, path)
}
