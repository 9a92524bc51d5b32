//! Files that an agent reads and writes through the client, confined to the directory of its session.

use std::fs;
use std::path::{Component, Path, PathBuf};

use evalsuite_schema::Value;

use crate::platform::untrusted::{OpenError, UntrustedDirectory};

/// Bytes of the largest file that is read.
const FILE_LIMIT: u64 = 8 << 20;

/// The files of a session.
#[derive(Debug, Clone)]
pub(crate) struct SessionFiles {
    directory: UntrustedDirectory,
    /// The paths under which the agent knows the directory.
    roots: Vec<PathBuf>,
    /// Files of the input, which may be read wherever they are.
    given: Vec<PathBuf>,
}

/// Why a request is refused.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum FileRefusal {
    /// The path is not in the directory.
    Outside(String),
    Missing(String),
    Other(String),
}

impl SessionFiles {
    pub(crate) fn new(directory: &Path, given: Vec<PathBuf>) -> Self {
        let canonical = fs::canonicalize(directory).unwrap_or_else(|_| directory.to_owned());
        let roots = vec![directory.to_owned(), canonical];
        Self { directory: UntrustedDirectory::new(directory), roots, given }
    }

    /// Adds files of the input of another turn.
    pub(crate) fn give(&mut self, files: &[PathBuf]) {
        self.given.extend_from_slice(files);
    }

    /// The text of a file, or its lines from `line`, at most `limit`.
    pub(crate) fn read(&self, params: &Value) -> Result<String, FileRefusal> {
        let path = path_of(params)?;
        let bytes = match self.inside(path) {
            Some(inside) => self.directory.read(inside, FILE_LIMIT),
            None if self.given.iter().any(|file| file == path) => {
                let (folder, name) = (path.parent().unwrap_or(path), path.file_name().unwrap_or_default());
                UntrustedDirectory::new(folder).read(name, FILE_LIMIT)
            }
            None => return Err(outside(path)),
        };
        let bytes = bytes.map_err(|error| {
            let message = format!("{} {error}", path.display());
            match error {
                OpenError::Missing => FileRefusal::Missing(message),
                OpenError::Outside => FileRefusal::Outside(message),
                _ => FileRefusal::Other(message),
            }
        })?;
        let text = String::from_utf8(bytes)
            .map_err(|_| FileRefusal::Other(format!("{} is not text in UTF-8", path.display())))?;
        let number =
            |key: &str| params.get(key).and_then(Value::as_u64).and_then(|number| usize::try_from(number).ok());
        Ok(match (number("line"), number("limit")) {
            (None, None) => text,
            (line, limit) => {
                let before = line.unwrap_or(1).saturating_sub(1);
                text.split_inclusive('\n').skip(before).take(limit.unwrap_or(usize::MAX)).collect()
            }
        })
    }

    /// Writes a file, with the directories on the way to it. Its permissions stay.
    pub(crate) fn write(&self, params: &Value) -> Result<(), FileRefusal> {
        let path = path_of(params)?;
        let content = params.get("content").and_then(Value::as_str);
        let content = content.ok_or_else(|| FileRefusal::Other("`content` has to be a text".to_owned()))?;
        let inside = self.inside(path).ok_or_else(|| outside(path))?;
        let name = inside.file_name().and_then(|name| name.to_str());
        let Some(name) = name else {
            return Err(FileRefusal::Other(format!("{} is not the path of a file", path.display())));
        };
        let permissions = self.directory.open(&inside).ok().and_then(|file| file.metadata().ok());
        let folder = self.directory.join(inside.parent().unwrap_or(Path::new("")));
        if self.directory.path().join(&inside).is_dir() {
            return Err(FileRefusal::Other(format!("{} is a directory", path.display())));
        }
        let failed =
            |error: std::io::Error| FileRefusal::Other(format!("{} cannot be written: {error}", path.display()));
        folder.write(name, content.as_bytes()).map_err(failed)?;
        if let (Some(before), Ok(file)) = (permissions, self.directory.open(&inside)) {
            file.set_permissions(before.permissions()).map_err(failed)?;
        }
        Ok(())
    }

    /// The path relative to the directory, if it is in it.
    fn inside(&self, path: &Path) -> Option<PathBuf> {
        let below = self.roots.iter().find_map(|root| path.strip_prefix(root).ok())?;
        let mut inside = PathBuf::new();
        for component in below.components() {
            match component {
                Component::Normal(name) => inside.push(name),
                Component::CurDir => {}
                Component::ParentDir if inside.pop() => {}
                _ => return None,
            }
        }
        Some(inside).filter(|inside| inside.components().next().is_some())
    }
}

fn path_of(params: &Value) -> Result<&Path, FileRefusal> {
    let path = params.get("path").and_then(Value::as_str).map(Path::new);
    path.filter(|path| path.is_absolute())
        .ok_or_else(|| FileRefusal::Other("`path` has to be an absolute path".to_owned()))
}

fn outside(path: &Path) -> FileRefusal {
    FileRefusal::Outside(format!("{} is outside of the session's directory", path.display()))
}

#[cfg(all(test, unix))]
mod tests {
    use evalsuite_schema::json::json;

    use super::*;

    #[test]
    fn files_are_read_and_written_in_the_directory_only() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().join("workspace");
        fs::create_dir_all(root.join("d")).unwrap();
        fs::write(place.path().join("secret"), "secret").unwrap();
        fs::write(root.join("d/a"), "1\n2\n3").unwrap();
        std::os::unix::fs::symlink(place.path().join("secret"), root.join("link")).unwrap();
        std::os::unix::fs::symlink(place.path(), root.join("up")).unwrap();
        let files = SessionFiles::new(&root, vec![place.path().join("secret")]);
        let at = |path: &str| json!({"path": root.join(path).to_str(), "content": "new"});
        assert_eq!(files.read(&at("d/../d/./a")).as_deref(), Ok("1\n2\n3"));
        assert_eq!(
            files.read(&json!({"path": root.join("d/a").to_str(), "line": 2, "limit": 1})).as_deref(),
            Ok("2\n")
        );
        assert!(matches!(files.read(&at("gone")), Err(FileRefusal::Missing(_))));
        for path in ["link", "up/secret", "../workspace2/x"] {
            assert!(
                matches!(files.read(&at(path)), Err(FileRefusal::Outside(_))),
                "{path}: {:?}",
                files.read(&at(path))
            );
        }
        let given = json!({"path": place.path().join("secret").to_str()});
        assert_eq!(files.read(&given).as_deref(), Ok("secret"), "it is a file of the input");
        assert!(matches!(files.read(&json!({"path": "d/a"})), Err(FileRefusal::Other(_))));
        assert!(matches!(files.read(&at("")), Err(FileRefusal::Outside(_))));

        for path in ["../secret", "up/new", "../../x"] {
            assert!(files.write(&at(path)).is_err(), "{path}");
        }
        assert!(matches!(files.write(&at("d")), Err(FileRefusal::Other(_))));
        assert_eq!(files.write(&at("new/deep/file")), Ok(()));
        assert_eq!(files.write(&at("link")), Ok(()), "the link is replaced");
        assert_eq!(fs::read_to_string(place.path().join("secret")).unwrap(), "secret");
        assert_eq!(fs::read_to_string(root.join("new/deep/file")).unwrap(), "new");
    }

    #[test]
    fn a_file_that_is_written_again_can_still_be_executed() {
        use std::os::unix::fs::PermissionsExt as _;
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("run.sh");
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        let files = SessionFiles::new(place.path(), Vec::new());
        assert_eq!(files.write(&json!({"path": path.to_str(), "content": "new"})), Ok(()));
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o755);
    }
}
