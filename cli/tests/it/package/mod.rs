//! A package in a temporary directory, and the program run in it.

#![allow(dead_code, reason = "no test file uses all of it")]

use std::path::Path;

use evalsuite_schema::Value;
use evalsuite_tests::closed_schema::close;

/// A valid task.
pub(crate) const TASK: &str = r#"{ "id": "a", "description": "Says hello.", "graders": [{ "name": "contains", "config": { "value": "hello" } }] }"#;

pub(crate) struct Package {
    root: tempfile::TempDir,
}

pub(crate) struct Output {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Package {
    /// A package with the suite `suites/card_agent` and these files.
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let package = Self { root: tempfile::tempdir().expect("a temporary directory") };
        package.write("Cargo.toml", "[package]\nname = \"cards\"\n");
        package.write(
            "suites/card_agent/suite.json",
            r#"{ "name": "cards", "agent_name": "card-agent", "kind": "capability" }"#,
        );
        for (path, content) in files {
            package.write(path, content);
        }
        if !package.root().join("suites/card_agent/tasks").exists() {
            std::fs::remove_dir_all(package.root().join("suites/card_agent")).expect("the empty suite");
        }
        package
    }

    pub(crate) fn root(&self) -> &Path {
        self.root.path()
    }

    pub(crate) fn write(&self, path: &str, content: &str) {
        let path = self.root().join(path);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        std::fs::write(path, content).expect("a file");
    }

    /// Runs `cargo evalsuite …` as cargo does.
    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        self.run_with(arguments, &[])
    }

    /// The same, with runs in `out`.
    pub(crate) fn run_in_output(&self, arguments: &[&str]) -> Output {
        let records = self.root().join("out").display().to_string();
        self.run_with(arguments, &[("EVALSUITE_OUTPUT", &records)])
    }

    /// The same with these variables, and none of the environment that says who judges or where runs are.
    pub(crate) fn run_with(&self, arguments: &[&str], variables: &[(&str, &str)]) -> Output {
        self.run_at(self.root(), arguments, variables)
    }

    /// Runs `cargo evalsuite …` in a directory of the package.
    pub(crate) fn run_in(&self, directory: &str, arguments: &[&str]) -> Output {
        self.run_at(&self.root().join(directory), arguments, &[])
    }

    fn run_at(&self, directory: &Path, arguments: &[&str], variables: &[(&str, &str)]) -> Output {
        let mut command = assert_cmd::Command::new(assert_cmd::cargo::cargo_bin!("cargo-evalsuite"));
        let is_ours =
            |name: &str| ["EVALSUITE_", "OPENAI_", "CARGO_TARGET_DIR"].iter().any(|start| name.starts_with(start));
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_str().is_some_and(is_ours)) {
            command.env_remove(name);
        }
        command.envs(variables.iter().copied());
        let output =
            command.arg("evalsuite").args(arguments).current_dir(directory).output().expect("the program runs");
        let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
        Output { code: output.status.code().expect("an exit code"), out: text(output.stdout), err: text(output.stderr) }
    }

    /// The object that is printed, which is what `cargo evalsuite schema KIND` says and nothing else.
    pub(crate) fn json(&self, kind: &str, printed: &str) -> Value {
        let value: Value =
            evalsuite_schema::json::from_str(printed).unwrap_or_else(|error| panic!("{error} in\n{printed}"));
        let mut schema: Value = evalsuite_schema::json::from_str(&self.run(&["schema", kind]).out).expect("a schema");
        close(&mut schema);
        let validator = jsonschema::validator_for(&schema.into()).expect("a valid schema");
        let errors: Vec<String> = validator.iter_errors(&value.clone().into()).map(|error| error.to_string()).collect();
        assert_eq!(errors, [""; 0], "{printed}");
        value
    }

    /// What `cargo evalsuite …` prints on a terminal where `typed` is typed. `script` makes the terminal.
    #[cfg(target_os = "linux")]
    pub(crate) fn run_on_terminal(&self, arguments: &str, typed: &str, variables: &[(&str, &str)]) -> String {
        let line = format!("{} evalsuite {arguments}", assert_cmd::cargo::cargo_bin!("cargo-evalsuite").display());
        let mut command = assert_cmd::Command::new("script");
        command.args(["-qec", &line, "/dev/null"]).envs(variables.iter().copied());
        let output = command.current_dir(self.root()).write_stdin(typed).output().expect("`script` runs");
        String::from_utf8(output.stdout).expect("UTF-8")
    }
}
