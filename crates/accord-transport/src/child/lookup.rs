//! Finding a program as a Windows shell does: `npx` may be `npx.cmd`, somewhere in `PATH`.
//!
//! The system itself tries no extension but `.exe`. How arguments are quoted for a batch file is the standard library's
//! business, which knows one by its extension.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// What `PATHEXT` says where it is not set.
const EXTENSIONS: &str = ".COM;.EXE;.BAT;.CMD";

/// Where programs are looked for.
pub(crate) struct Places {
    folders: Vec<PathBuf>,
    extensions: Vec<String>,
}

impl Places {
    /// The folders of `path`, in the form of this system's `PATH`, and the extensions of `pathext`.
    pub(crate) fn new(path: Option<&OsStr>, pathext: Option<&OsStr>) -> Self {
        let pathext =
            pathext.map_or_else(|| EXTENSIONS.to_owned(), |list| list.to_string_lossy().into_owned());
        Self {
            folders: path.iter().flat_map(std::env::split_paths).collect(),
            extensions: pathext
                .split(';')
                .filter(|extension| extension.len() > 1)
                .map(str::to_owned)
                .collect(),
        }
    }

    /// The file that `program` means, or nothing if there is none.
    pub(crate) fn find(&self, program: &OsStr) -> Option<PathBuf> {
        let path = Path::new(program);
        if path.components().count() > 1 {
            return self.with_extension(path);
        }
        self.folders.iter().find_map(|folder| self.with_extension(&folder.join(path)))
    }

    /// A name with one of the extensions is taken as it is; else they are tried in their order.
    fn with_extension(&self, path: &Path) -> Option<PathBuf> {
        let name = path.to_string_lossy().to_ascii_lowercase();
        if self.extensions.iter().any(|extension| name.ends_with(&extension.to_ascii_lowercase())) {
            return path.is_file().then(|| path.to_owned());
        }
        self.extensions.iter().find_map(|extension| {
            let mut file = path.as_os_str().to_owned();
            file.push(extension);
            Path::new(&file).is_file().then(|| file.into())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_found_by_the_order_of_folders_and_extensions() {
        let root = tempfile::tempdir().expect("a directory");
        let folders = ["first", "second"].map(|name| root.path().join(name));
        for (folder, files) in folders.iter().zip([&["npx", "npx.cmd"][..], &["npx.exe", "agent.1.exe"]]) {
            std::fs::create_dir(folder).expect("creatable");
            for file in files {
                std::fs::write(folder.join(file), "").expect("writable");
            }
        }
        let path = std::env::join_paths(&folders).expect("no odd names");
        let find = |program: &str, pathext: Option<&str>| {
            Places::new(Some(&path), pathext.map(OsStr::new)).find(OsStr::new(program))
        };
        let [first, second] = &folders;
        // A file without an extension, such as a script for another system, is no program here.
        assert_eq!(find("npx", Some(".exe;.cmd")), Some(first.join("npx.cmd")));
        assert_eq!(find("npx", Some(".exe")), Some(second.join("npx.exe")));
        assert_eq!(find("npx.cmd", Some(".EXE;.CMD")), Some(first.join("npx.cmd")));
        assert_eq!(find("agent.1", Some(".exe")), Some(second.join("agent.1.exe")));
        assert_eq!(find("missing", None), None);
        let whole = second.join("npx");
        assert_eq!(find(&whole.to_string_lossy(), Some(".exe")), Some(second.join("npx.exe")));
        assert_eq!(find("npx", Some("")), None);
    }
}
