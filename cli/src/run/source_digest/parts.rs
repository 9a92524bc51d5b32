//! The parts of a digest: files, and texts such as values of variables, by names that are the same on another machine.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::{Component, Path, PathBuf};

use evalsuite_discovery::with_slashes;
use evalsuite_records::digest::sha256_of_source;
use evalsuite_schema::digest::hexadecimal;
use hmac_sha256::Hash;

use crate::platform::cli_error::{ErrorContext, Result};

pub(super) struct Parts {
    /// The directory of the workspace, without links.
    root: PathBuf,
    /// Directories of this machine, longest first, and what is written in their place.
    places: Vec<(PathBuf, String)>,
    parts: BTreeSet<(String, String)>,
}

impl Parts {
    pub(super) fn new(root: &Path) -> Self {
        Self {
            root: canonical(root),
            places: vec![(root.to_owned(), "{workspace}".to_owned())],
            parts: BTreeSet::new(),
        }
    }

    /// A directory whose path differs between machines.
    pub(super) fn add_place(&mut self, directory: &Path, name: String) {
        self.places.push((directory.to_owned(), name));
        self.places.sort_by_key(|(directory, _)| std::cmp::Reverse(directory.as_os_str().len()));
    }

    /// A text without directories of this machine.
    pub(super) fn add_text(&mut self, name: impl Into<String>, text: &str) {
        let mut text = text.to_owned();
        for (directory, name) in &self.places {
            text = text.replace(&*directory.to_string_lossy(), name);
        }
        self.parts.insert((name.into(), text));
    }

    /// A file as a compiler reads it. One that is not there is a part, too.
    pub(super) fn add_built(&mut self, path: &Path) -> Result<()> {
        let digest = match fs::read(path) {
            Ok(bytes) => hexadecimal(Hash::hash(&bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => "missing".to_owned(),
            Err(error) => return Err(error).at(path),
        };
        self.parts.insert((format!("built {}", self.name(path)), digest));
        Ok(())
    }

    /// A file that a program may read. Another checkout, with other line breaks, has the same digest.
    pub(super) fn add_file(&mut self, path: &Path) -> Result<()> {
        let digest = File::open(path).and_then(sha256_of_source).at(path)?;
        self.parts.insert((self.name(path), digest));
        Ok(())
    }

    pub(super) fn digest(&self) -> String {
        let mut all = Hash::new();
        for (name, digest) in &self.parts {
            all.update(format!("{name}\0{digest}\n"));
        }
        hexadecimal(all.finalize())
    }

    /// The path relative to the workspace, or to one of the places.
    fn name(&self, path: &Path) -> String {
        let place = self.places.iter().find_map(|(directory, name)| Some((path.strip_prefix(directory).ok()?, name)));
        match place {
            Some((rest, name)) if *name != "{workspace}" => format!("{name}/{}", with_slashes(rest)),
            _ => with_slashes(&relative(&self.root, &canonical(path))),
        }
    }
}

/// A path without links, as far as it exists.
pub(super) fn canonical(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) if !parent.as_os_str().is_empty() => canonical(parent).join(name),
        _ => path.to_owned(),
    })
}

/// The path from a directory, also with `..`.
fn relative(directory: &Path, path: &Path) -> PathBuf {
    let (mut from, mut to) = (directory.components().peekable(), path.components().peekable());
    while from.peek().is_some() && from.peek() == to.peek() {
        from.next();
        to.next();
    }
    from.map(|_| Component::ParentDir).chain(to).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checkout_with_other_line_breaks_has_the_same_digest() {
        let root = tempfile::tempdir().unwrap();
        let digest = |text: &str| {
            let file = root.path().join("notes");
            fs::write(&file, text).unwrap();
            let mut parts = Parts::new(root.path());
            parts.add_file(&file).unwrap();
            parts.digest()
        };
        assert_eq!(digest("a\nb\n"), digest("a\r\nb\r\n"));
        assert_ne!(digest("a\n"), digest("b\n"));
    }

    #[test]
    fn names_are_the_same_in_another_directory() {
        let digest = |root: &Path| {
            fs::create_dir_all(root.join("ws/target/out-1234")).unwrap();
            fs::write(root.join("shared"), "text").unwrap();
            fs::write(root.join("ws/target/out-1234/table"), "text").unwrap();
            let mut parts = Parts::new(&root.join("ws"));
            parts.add_place(&root.join("ws/target/out-1234"), "{out}".to_owned());
            parts.add_built(&root.join("shared")).unwrap();
            parts.add_built(&root.join("ws/target/out-1234/table")).unwrap();
            parts.add_text("variable", &root.join("ws/target/out-1234/x").to_string_lossy());
            parts.digest()
        };
        let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        assert_eq!(digest(one.path()), digest(other.path()));
    }
}
