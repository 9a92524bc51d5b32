//! The messages of cargo about a build.

use std::collections::BTreeSet;
use std::path::PathBuf;

use evalsuite_schema::Value;

use super::{Call, CommandOutput, Package};

/// A build, as `cargo --message-format=json` reports it.
#[derive(Debug)]
pub struct Build {
    /// The call; its standard output is JSON.
    pub output: CommandOutput,
    /// Everything that was built or found to be fresh.
    pub artifacts: Vec<Artifact>,
    /// Errors and warnings of the compiler.
    pub messages: Vec<Message>,
    /// `OUT_DIR` of build scripts, by the ids of their packages.
    out_dirs: Vec<(String, PathBuf)>,
}

/// A library, a program or a build script.
#[derive(Debug)]
pub struct Artifact {
    /// Name of the target: that of the package, the file of a test, an example.
    pub target: String,
    /// `lib`, `bin`, `test`, `example`, `custom-build` …
    pub kind: String,
    /// Whether it is a test program. For integration tests cargo also builds the package's programs without their tests.
    pub is_test: bool,
    /// Whether it was up to date.
    pub fresh: bool,
    /// The program.
    pub executable: Option<PathBuf>,
}

/// An error or a warning of the compiler.
#[derive(Debug)]
pub struct Message {
    /// `error`, `warning` …
    pub level: String,
    /// Name of the target that is compiled.
    pub target: String,
    /// Its text, for errors of macros with all lines.
    pub message: String,
    /// Its text with the snippet, as the compiler shows it.
    pub rendered: String,
}

impl Build {
    pub(crate) fn new(output: CommandOutput) -> Self {
        let (mut artifacts, mut messages, mut out_dirs) = (Vec::new(), Vec::new(), Vec::new());
        for line in output.stdout.lines().filter(|line| line.starts_with('{')) {
            let value: Value = evalsuite_schema::json::from_str(line).expect("cargo prints JSON");
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            let target = text(&value["target"]["name"]);
            match value["reason"].as_str() {
                Some("compiler-artifact") => artifacts.push(Artifact {
                    target,
                    kind: text(&value["target"]["kind"][0]),
                    is_test: value["profile"]["test"] == true,
                    fresh: value["fresh"] == true,
                    executable: value["executable"].as_str().map(PathBuf::from),
                }),
                Some("compiler-message") => messages.push(Message {
                    level: text(&value["message"]["level"]),
                    target,
                    message: text(&value["message"]["message"]),
                    rendered: text(&value["message"]["rendered"]),
                }),
                Some("build-script-executed") => {
                    out_dirs.push((text(&value["package_id"]), PathBuf::from(text(&value["out_dir"]))));
                }
                _ => {}
            }
        }
        Self { output, artifacts, messages, out_dirs }
    }

    /// Fails the test unless the build succeeded.
    #[track_caller]
    pub fn succeeds(self, expected: &str) -> Self {
        assert!(self.output.success, "expected: {expected}\n{}", self.transcript());
        self
    }

    /// Fails the test if the build succeeded.
    #[track_caller]
    pub fn fails(self, expected: &str) -> Self {
        assert!(!self.output.success, "expected: {expected}\n{}", self.transcript());
        self
    }

    /// What the user would have seen.
    pub fn transcript(&self) -> String {
        let rendered: String = self.messages.iter().map(|message| message.rendered.as_str()).collect();
        format!("{rendered}{}", self.output.stderr)
    }

    /// The errors of a target, in order, without the compiler's summary at the end.
    pub fn errors(&self, target: &str) -> Vec<&Message> {
        self.of_level("error", target, |message| !message.starts_with("aborting due to"))
    }

    /// The warnings of a target, in order, without the compiler's summary at the end.
    pub fn warnings(&self, target: &str) -> Vec<&Message> {
        self.of_level("warning", target, |message| !message.ends_with("emitted"))
    }

    fn of_level(&self, level: &str, target: &str, counts: fn(&str) -> bool) -> Vec<&Message> {
        let wanted =
            |message: &&Message| message.level == level && message.target == target && counts(&message.message);
        self.messages.iter().filter(wanted).collect()
    }

    /// Kinds and names of the artifacts that were compiled again.
    pub fn rebuilt(&self) -> Vec<String> {
        let rebuilt = self.artifacts.iter().filter(|artifact| !artifact.fresh);
        rebuilt.map(|artifact| format!("{} {}", artifact.kind, artifact.target)).collect()
    }

    /// The test program of a target; `kind` as in [`Artifact`].
    #[track_caller]
    pub fn executable(&self, kind: &str, target: &str) -> PathBuf {
        let found = self.artifacts.iter().find_map(|artifact| {
            let wanted = artifact.is_test && artifact.kind == kind && artifact.target == target;
            wanted.then_some(artifact.executable.clone()).flatten()
        });
        found.unwrap_or_else(|| panic!("no program of {kind} {target} was built\n{}", self.transcript()))
    }

    /// `OUT_DIR` of the build script of a package.
    #[track_caller]
    pub fn out_dir(&self, package: &Package) -> PathBuf {
        // An id is a URL of the folder and, after `#`, the version, before it the name if the folder has another one.
        let path = format!("{}#", package.root().display());
        let found = self.out_dirs.iter().find(|(id, _)| id.contains(&path)).map(|(_, directory)| directory.clone());
        found.unwrap_or_else(|| panic!("{} has no build script that ran\n{}", package.name(), self.transcript()))
    }

    /// Names of the tests of a target, as libtest lists them.
    #[track_caller]
    pub fn tests(&self, package: &Package, kind: &str, target: &str) -> BTreeSet<String> {
        let list = Call::program(self.executable(kind, target), package).args(["--list", "--format", "terse"]);
        let list = list.run().succeeds("the test program lists its tests");
        list.stdout.lines().filter_map(|line| line.strip_suffix(": test")).map(str::to_owned).collect()
    }
}
