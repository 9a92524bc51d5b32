//! What tests of several modules share.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use evalsuite_loader::Request;
use proc_macro2::Span;
use syn::LitStr;

use crate::binding::{Binding, Judge, NamedExpr, Problem};
use crate::expansion::{CacheLocation, Context, Expansion, expand};

/// A valid task with the id `a`.
pub(crate) const TASK: &str = r#"{ "id": "a", "description": "Says hello.", "graders": [{ "name": "contains", "config": { "value": "hello" } }] }"#;

/// A package with the suite `suites/card_agent`.
pub(crate) struct Fixture {
    _temporary: tempfile::TempDir,
    /// Directory of the package.
    pub(crate) root: PathBuf,
    pub(crate) cache: CacheLocation,
}

impl Fixture {
    /// Writes the suite and more `files`. Everything is an hour old, as after a checkout.
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let temporary = tempfile::tempdir().expect("a temporary directory");
        let root = temporary.path().join("package");
        let out_dir = root.join("target/debug/build/x/out");
        std::fs::create_dir_all(&out_dir).expect("a target directory");
        let cache = CacheLocation { out_dir, program: "this test".to_owned() };
        let fixture = Self { _temporary: temporary, root, cache };
        fixture.write("Cargo.toml", "[package]\nname = \"cards\"\n");
        fixture.write(
            "suites/card_agent/suite.json",
            r#"{ "name": "cards", "agent_name": "card-agent", "kind": "capability" }"#,
        );
        fixture.write("suites/card_agent/tasks/a.json", TASK);
        for (path, content) in files {
            fixture.write(path, content);
        }
        fixture.age("suites");
        fixture
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    pub(crate) fn write(&self, path: &str, content: &str) {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        std::fs::write(path, content).expect("a file");
    }

    /// Makes a file, or a folder and everything below it, an hour old.
    pub(crate) fn age(&self, path: &str) {
        age(&self.path(path));
        wait_for_clock();
    }

    /// A macro call without arguments in a package with a build script.
    pub(crate) fn call(&self, entry: &str) -> Call {
        let mut context = Context::new(Request::new(entry, &self.root));
        context.cache = Some(self.cache.clone());
        Call { binding: Binding::new(literal(entry)), context }
    }
}

/// A call of the macro.
#[derive(Clone)]
pub(crate) struct Call {
    pub(crate) binding: Binding,
    pub(crate) context: Context,
}

impl Call {
    pub(crate) fn expand(&self) -> Expansion {
        expand(self.binding.clone(), &self.context, Vec::new())
    }

    /// The expansion without a cache.
    pub(crate) fn expand_uncached(mut self) -> Expansion {
        self.context.cache = None;
        self.expand()
    }

    pub(crate) fn graders(&mut self, names: &[&str]) {
        self.binding.graders = names.iter().map(|name| named(name)).collect();
    }

    pub(crate) fn judges(&mut self, registered: &[&str], default: &str) {
        self.binding.judges = registered.iter().map(|name| named(name)).collect();
        self.binding.judge = Some(Judge::Named(vec![literal(default)]));
    }
}

pub(crate) fn literal(text: &str) -> LitStr {
    LitStr::new(text, Span::call_site())
}

pub(crate) fn named(name: &str) -> NamedExpr {
    let value = syn::parse_str("a::b").expect("a path");
    NamedExpr { name: literal(name), value }
}

/// The texts of all errors, or of all warnings.
pub(crate) fn texts(expansion: &Expansion, errors: bool) -> Vec<String> {
    expansion.problems().iter().filter(|problem| problem.is_error() == errors).map(Problem::text).collect()
}

fn age(path: &Path) {
    if path.is_dir() {
        for entry in std::fs::read_dir(path).expect("a folder") {
            age(&entry.expect("an entry").path());
        }
    }
    let file = open_for_times(path).expect("a file or folder");
    file.set_modified(SystemTime::now() - Duration::from_secs(3600)).expect("a time");
}

/// Waits until what changed before is old enough for the cache: no program can set the time back at which a file has changed.
pub(crate) fn wait_for_clock() {
    std::thread::sleep(std::time::Duration::from_millis(25));
}

/// The file or directory, opened to set its times.
#[cfg(unix)]
pub(crate) fn open_for_times(path: &Path) -> std::io::Result<std::fs::File> {
    std::fs::File::open(path)
}

/// The file or directory, opened to set its times.
#[cfg(windows)]
pub(crate) fn open_for_times(path: &Path) -> std::io::Result<std::fs::File> {
    use std::os::windows::fs::OpenOptionsExt;
    // FILE_WRITE_ATTRIBUTES, and FILE_FLAG_BACKUP_SEMANTICS, with which directories can be opened.
    std::fs::File::options().access_mode(0x0100).custom_flags(0x0200_0000).open(path)
}
