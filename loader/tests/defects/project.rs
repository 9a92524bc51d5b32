//! A package with one suite, in memory and on disk.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path as FilePath;
use std::rc::Rc;

use crate::render::{Syntax, Text, render};
use crate::tree::{Node, Path};

/// A package and the suite in it.
#[derive(Debug, Clone)]
pub(crate) struct Project {
    pub(crate) layout: Layout,
    /// The entry path.
    pub(crate) entry: String,
    /// The directory of the suite.
    pub(crate) root: String,
    /// By path from the package root; shared with other versions of the project, of which most files are the same.
    pub(crate) files: BTreeMap<String, Rc<File>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    Tasks,
    Combined,
    Cases,
    Directories,
    Lines,
}

impl Layout {
    pub(crate) const ALL: &[Layout] =
        &[Layout::Tasks, Layout::Combined, Layout::Cases, Layout::Directories, Layout::Lines];
}

#[derive(Debug, Clone)]
pub(crate) enum File {
    Data(Data),
    Bytes(Vec<u8>),
    Directory,
    #[cfg(unix)]
    Socket,
    /// A link to a path relative to the link's directory.
    Link(String),
}

/// A file with values in it.
#[derive(Debug, Clone)]
pub(crate) struct Data {
    pub(crate) root: Node,
    pub(crate) syntax: Syntax,
    pub(crate) byte_order_mark: bool,
    pub(crate) crlf: bool,
    /// Written after the values.
    pub(crate) end: Vec<u8>,
}

impl Data {
    pub(crate) fn new(root: Node, syntax: Syntax) -> Self {
        Self { root, syntax, byte_order_mark: false, crlf: false, end: Vec::new() }
    }

    pub(crate) fn render(&self) -> Text {
        render(&self.root, self.syntax)
    }

    fn bytes(&self) -> Vec<u8> {
        let mut text = self.render().text;
        if self.crlf {
            text = text.replace('\n', "\r\n");
        }
        let mut bytes = if self.byte_order_mark { "\u{feff}".as_bytes().to_vec() } else { Vec::new() };
        bytes.extend_from_slice(text.as_bytes());
        bytes.extend_from_slice(&self.end);
        bytes
    }
}

impl Project {
    /// The values of a file.
    pub(crate) fn data(&self, file: &str) -> Option<&Data> {
        match self.files.get(file).map(Rc::as_ref) {
            Some(File::Data(data)) => Some(data),
            _ => None,
        }
    }

    /// The values of a file that has some.
    pub(crate) fn data_mut(&mut self, file: &str) -> &mut Data {
        match self.files.get_mut(file).map(Rc::make_mut) {
            Some(File::Data(data)) => data,
            other => panic!("{file} is {other:?}"),
        }
    }

    pub(crate) fn add(&mut self, path: &str, file: File) {
        self.files.insert(path.to_owned(), Rc::new(file));
    }

    pub(crate) fn add_text(&mut self, file: &str, text: &str) {
        self.add(file, File::Bytes(text.as_bytes().to_vec()));
    }

    /// Path of something in the suite's directory.
    pub(crate) fn inside(&self, path: &str) -> String {
        format!("{}/{path}", self.root)
    }

    /// Calls `see` for every value of every file, with the file's name and the value's path.
    pub(crate) fn walk<'p>(&'p self, mut see: impl FnMut(&'p str, &[usize], &'p Node)) {
        for (name, file) in &self.files {
            if let File::Data(data) = file.as_ref() {
                data.root.walk(&mut Path::new(), &mut |path, node| see(name, path, node));
            }
        }
    }

    /// Writes everything below `package`.
    pub(crate) fn write(&self, package: &FilePath) {
        for (name, file) in &self.files {
            write(&package.join(name), file);
        }
    }

    /// Makes of `package`, where `before` was written, what this project says.
    pub(crate) fn write_changes(&self, before: &Project, package: &FilePath) {
        let is_changed = |name: &&String| match (before.files.get(*name), self.files.get(*name)) {
            (Some(before), Some(now)) => !Rc::ptr_eq(before, now),
            _ => true,
        };
        let names: BTreeSet<&String> = before.files.keys().chain(self.files.keys()).collect();
        let changed: Vec<&String> = names.into_iter().filter(is_changed).collect();
        for name in &changed {
            if before.files.contains_key(*name) {
                remove(&package.join(name));
                self.remove_empty_parents(name, package);
            }
        }
        for name in &changed {
            if let Some(file) = self.files.get(*name) {
                write(&package.join(name), file);
            }
        }
    }
}

impl Project {
    /// Removes the directories around a file that is gone which only it kept.
    fn remove_empty_parents(&self, name: &str, package: &FilePath) {
        let mut directory = name;
        while let Some((parent, _)) = directory.rsplit_once('/') {
            // A directory that is not empty stays, and so do those around it.
            if self.files.contains_key(parent) || fs::remove_dir(package.join(parent)).is_err() {
                return;
            }
            directory = parent;
        }
    }
}

fn write(path: &FilePath, file: &File) {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).unwrap();
    }
    match file {
        File::Data(data) => fs::write(path, data.bytes()).unwrap(),
        File::Bytes(bytes) => fs::write(path, bytes).unwrap(),
        File::Directory => fs::create_dir_all(path).unwrap(),
        #[cfg(unix)]
        File::Socket => drop(std::os::unix::net::UnixListener::bind(path).unwrap()),
        File::Link(target) => link(target, path),
    }
}

#[cfg(unix)]
fn link(target: &str, path: &FilePath) {
    std::os::unix::fs::symlink(target, path).unwrap();
}

#[cfg(not(unix))]
fn link(_: &str, path: &FilePath) {
    panic!("{} cannot be a link on this system", path.display());
}

fn remove(path: &FilePath) {
    match path.symlink_metadata() {
        Ok(metadata) if metadata.is_dir() => fs::remove_dir_all(path).unwrap(),
        Ok(_) => fs::remove_file(path).unwrap(),
        Err(_) => {}
    }
}
