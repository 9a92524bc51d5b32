//! What the tests of several modules share: a package in a temporary directory, with files of a suite.

use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::fields::paths::{Roots, Scope, SharedFiles};
use crate::read;
use crate::read::node::Node;
use crate::request::Request;
use crate::source::{FileId, Files};

/// A package on disk with files in it, in which snippets of an eval file are read.
pub(crate) struct Package {
    root: TempDir,
    request: Request,
    roots: Roots,
    pub(crate) files: Files,
    shared: SharedFiles,
}

impl Package {
    /// A package of cases layout with these files: paths and texts.
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        Self::with(files, false)
    }

    /// As [`Package::new`] for the tasks layout.
    pub(crate) fn tasks(files: &[(&str, &str)]) -> Self {
        Self::with(files, true)
    }

    fn with(files: &[(&str, &str)], only_root: bool) -> Self {
        let root = TempDir::new().expect("a temporary directory");
        let path = root.path().canonicalize().expect("it exists");
        std::fs::create_dir_all(path.join("suite")).expect("a directory");
        for (name, text) in files {
            let file = path.join(name);
            std::fs::create_dir_all(file.parent().expect("files lie in the package")).expect("a directory");
            std::fs::write(file, text).expect("a file");
        }
        let suite = path.join("suite");
        let boundary = if only_root { suite.clone() } else { path.clone() };
        let roots = Roots {
            real_boundary: boundary.clone(),
            boundary,
            package_root: path.clone(),
            suite_root: suite.clone(),
            eval_dir: suite,
            only_root,
        };
        let mut request = Request::new("suite", &path);
        request.workspace_root = path.clone();
        Self { root, request, roots, files: Files::new(&path), shared: SharedFiles::default() }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.root.path().canonicalize().expect("it exists")
    }

    pub(crate) fn scope(&self) -> Scope<'_> {
        Scope {
            request: &self.request,
            roots: &self.roots,
            files: &self.files,
            shared: &self.shared,
            dir: &self.roots.suite_root,
            vars: None,
        }
    }

    pub(crate) fn node(&self, yaml: &str) -> Node {
        let mut d = Diagnostics::new();
        let node = read::parse_yaml(self.file(), yaml, &mut d).expect("snippets of tests are YAML");
        assert!(d.is_empty(), "snippets of tests have no problems: {d:?}");
        node
    }

    fn file(&self) -> FileId {
        self.files.add(Path::new("suite/EVAL.yaml"))
    }

    /// Lines `FILE:LINE:COLUMN CODE MESSAGE` of all problems, sorted.
    pub(crate) fn lines(&self, d: &Diagnostics) -> Vec<String> {
        let line = |problem: &Diagnostic| {
            let span = problem.place.expect("problems of files have a place");
            let (start, shown) = (span.start(), self.files.get(span.file).shown);
            let file = shown.rsplit('/').next().unwrap_or_default().trim_end_matches("EVAL.yaml").to_owned();
            let file = if file.is_empty() { file } else { format!("{file}:") };
            format!("{file}{}:{} {} {}", start.line, start.column, problem.code.as_str(), problem.message)
        };
        let mut lines: Vec<String> = d.iter().map(line).collect();
        lines.sort();
        lines
    }
}
