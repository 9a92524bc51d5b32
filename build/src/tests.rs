//! What tests of several modules share.

use std::path::PathBuf;

use crate::cargo_instructions::{Instructions, Package};

/// A valid task with the id `a`.
pub(crate) const TASK: &str = r#"{ "id": "a", "description": "Says hello.", "graders": [{ "name": "contains", "config": { "value": "hello" } }] }"#;

/// A package with the suite `suites/card_agent`.
pub(crate) struct Fixture {
    _temporary: tempfile::TempDir,
    pub(crate) package: Package,
}

impl Fixture {
    /// Writes the suite and more `files`.
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let temporary = tempfile::tempdir().expect("a temporary directory");
        let root = temporary.path().join("package");
        let out_dir = root.join("target/debug/build/x/out");
        std::fs::create_dir_all(&out_dir).expect("a target directory");
        let fixture = Self { _temporary: temporary, package: Package { root, out_dir } };
        fixture.write("Cargo.toml", "[package]\nname = \"cards\"\n");
        fixture.write(
            "suites/card_agent/suite.json",
            r#"{ "name": "cards", "agent_name": "card-agent", "kind": "capability" }"#,
        );
        fixture.write("suites/card_agent/tasks/a.json", TASK);
        for (path, content) in files {
            fixture.write(path, content);
        }
        fixture
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.package.root.join(path)
    }

    pub(crate) fn write(&self, path: &str, content: &str) {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        std::fs::write(path, content).expect("a file");
    }

    /// What a build script prints that calls `run`.
    pub(crate) fn lines(&self, run: impl FnOnce(&Package, &mut Instructions)) -> Vec<String> {
        let mut instructions = Instructions::default();
        run(&self.package, &mut instructions);
        instructions.lines().to_vec()
    }
}
