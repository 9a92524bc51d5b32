//! The directory that the agent works in.

use std::error::Error;
use std::io::Write;
use std::path::{Component, Path, PathBuf};
use std::{fmt, fs, io};

use super::ToolResult;

/// The directory the agent may read and write, and nothing outside it.
#[derive(Debug, Clone)]
pub struct Desk {
    root: PathBuf,
}

/// Maximum size in bytes of a file that the model may read.
const READ_LIMIT: u64 = 64 * 1024;

/// Maximum number of files in a listing.
const LIST_LIMIT: usize = 1000;

impl Desk {
    /// Opens a directory.
    ///
    /// # Errors
    ///
    /// If it does not exist or is not a directory.
    pub fn open(root: impl AsRef<Path>) -> io::Result<Self> {
        let root = root.as_ref().canonicalize()?;
        if !root.is_dir() {
            return Err(io::Error::new(io::ErrorKind::NotADirectory, format!("{} is not a directory", root.display())));
        }
        Ok(Self { root })
    }

    /// All files, as paths with `/`, sorted.
    pub(crate) fn list(&self) -> Result<Vec<String>, ToolError> {
        let mut files = Vec::new();
        let mut directories = vec![self.root.clone()];
        while let Some(directory) = directories.pop() {
            let entries = fs::read_dir(&directory).map_err(|error| ToolError::io("list", &directory, &error))?;
            for entry in entries {
                let entry = entry.map_err(|error| ToolError::io("list", &directory, &error))?;
                let kind = entry.file_type().map_err(|error| ToolError::io("list", &directory, &error))?;
                // Links are neither followed nor listed, because their targets may be outside.
                if kind.is_dir() {
                    directories.push(entry.path());
                } else if kind.is_file()
                    && let Some(path) = self.relative(&entry.path())
                {
                    files.push(path);
                }
                if files.len() > LIST_LIMIT {
                    return Err(ToolError::new(format!("the workspace has more than {LIST_LIMIT} files")));
                }
            }
        }
        files.sort();
        Ok(files)
    }

    /// A path as the model writes it; `None` for names that are not Unicode.
    fn relative(&self, path: &Path) -> Option<String> {
        let parts: Option<Vec<&str>> =
            path.strip_prefix(&self.root).ok()?.components().map(|part| part.as_os_str().to_str()).collect();
        Some(parts?.join("/"))
    }

    pub(crate) fn read(&self, path: &str) -> ToolResult {
        let file = self.resolve(path)?;
        let size = fs::metadata(&file).map_err(|error| ToolError::io("read", path, &error))?.len();
        if size > READ_LIMIT {
            return Err(ToolError::new(format!("`{path}` has {size} bytes, more than {READ_LIMIT}")));
        }
        fs::read_to_string(&file).map_err(|error| ToolError::io("read", path, &error))
    }

    pub(crate) fn write(&self, path: &str, content: &str, overwrite: bool) -> Result<(), ToolError> {
        let file = self.resolve(path)?;
        if let Some(parent) = file.parent() {
            fs::create_dir_all(parent).map_err(|error| ToolError::io("write", path, &error))?;
        }
        let mut options = fs::OpenOptions::new();
        options.write(true);
        if overwrite {
            options.create(true).truncate(true);
        } else {
            options.create_new(true);
        }
        options
            .open(&file)
            .and_then(|mut file| file.write_all(content.as_bytes()))
            .map_err(|error| ToolError::io("write", path, &error))
    }

    pub(crate) fn append(&self, path: &str, content: &str) -> Result<(), ToolError> {
        fs::OpenOptions::new()
            .append(true)
            .open(self.resolve(path)?)
            .and_then(|mut file| file.write_all(content.as_bytes()))
            .map_err(|error| ToolError::io("append to", path, &error))
    }

    /// Resolves a path that the model wrote. It must be inside the workspace, with links resolved.
    fn resolve(&self, path: &str) -> Result<PathBuf, ToolError> {
        let outside = || ToolError::new(format!("`{path}` is outside the workspace"));
        let relative = Path::new(path);
        let mut inside = PathBuf::new();
        for component in relative.components() {
            match component {
                Component::Normal(part) => inside.push(part),
                Component::CurDir => {}
                Component::ParentDir | Component::RootDir | Component::Prefix(_) => return Err(outside()),
            }
        }
        if inside.as_os_str().is_empty() {
            return Err(ToolError::new("the path does not name a file"));
        }
        let full = self.root.join(inside);
        // The existing part of the path must be inside; the part that does not exist yet cannot be a link.
        let existing = full.ancestors().find(|ancestor| ancestor.symlink_metadata().is_ok()).ok_or_else(outside)?;
        let real = existing.canonicalize().map_err(|error| ToolError::io("open", path, &error))?;
        if real.starts_with(&self.root) { Ok(full) } else { Err(outside()) }
    }
}

/// Why a tool call failed, as the model reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolError(String);

impl ToolError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }

    fn io(action: &str, path: impl AsRef<Path>, error: &io::Error) -> Self {
        let reason = match error.kind() {
            // The operating system's own messages vary.
            io::ErrorKind::NotFound => "no such file".to_owned(),
            io::ErrorKind::AlreadyExists => "the file exists already".to_owned(),
            io::ErrorKind::InvalidData => "it is not UTF-8 text".to_owned(),
            _ => error.to_string(),
        };
        Self(format!("cannot {action} `{}`: {reason}", path.as_ref().display()))
    }
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for ToolError {}

#[cfg(test)]
mod tests {
    use super::*;

    fn desk() -> (tempfile::TempDir, Desk) {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("desk");
        fs::create_dir(&root).unwrap();
        fs::write(dir.path().join("secret"), "outside").unwrap();
        let desk = Desk::open(root).unwrap();
        (dir, desk)
    }

    #[test]
    fn paths_outside_are_rejected() {
        let (dir, desk) = desk();
        let absolute = dir.path().join("secret").to_str().unwrap().to_owned();
        for path in ["../secret", "cards/../../secret", absolute.as_str()] {
            let error = desk.read(path).unwrap_err().to_string();
            assert!(error.ends_with("is outside the workspace"), "{error}");
            assert!(desk.write(path, "x", true).is_err());
        }
        assert_eq!(fs::read_to_string(dir.path().join("secret")).unwrap(), "outside");
    }

    #[cfg(unix)]
    #[test]
    fn links_to_the_outside_are_rejected() {
        let (dir, desk) = desk();
        std::os::unix::fs::symlink(dir.path(), desk.root.join("up")).unwrap();
        std::os::unix::fs::symlink(dir.path().join("new"), desk.root.join("dangling")).unwrap();
        assert!(desk.read("up/secret").is_err());
        assert!(desk.write("up/other", "x", false).is_err());
        assert!(desk.write("dangling", "x", true).is_err());
        assert!(!dir.path().join("new").exists());
        assert_eq!(desk.list().unwrap(), Vec::<String>::new());
    }

    #[test]
    fn a_file_is_replaced_only_with_overwrite() {
        let (_dir, desk) = desk();
        desk.write("a.json", "1", false).unwrap();
        let error = desk.write("a.json", "2", false).unwrap_err();
        assert_eq!(error.to_string(), "cannot write `a.json`: the file exists already");
        desk.write("a.json", "2", true).unwrap();
        assert_eq!(desk.read("a.json").unwrap(), "2");
    }

    #[test]
    fn huge_and_binary_files_are_not_read() {
        let (_dir, desk) = desk();
        fs::write(desk.root.join("big"), vec![b'a'; READ_LIMIT as usize + 1]).unwrap();
        fs::write(desk.root.join("binary"), [0xff, 0xfe]).unwrap();
        assert!(desk.read("big").unwrap_err().to_string().contains("more than 65536"));
        assert!(desk.read("binary").unwrap_err().to_string().ends_with("it is not UTF-8 text"));
    }
}
