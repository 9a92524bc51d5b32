//! Follows the README: writes its files and runs its commands, in order, in a new directory outside of any workspace.

use std::fs;
use std::path::PathBuf;

use evalsuite_tests::throwaway::{Call, CommandOutput, Package, has_nextest, workspace};

use super::blocks::{Block, Command, Content, File};
use super::output::{comparable, shown};

pub(super) struct Walk {
    package: Package,
    /// Where commands run: first the empty directory, then the package that `cargo new` made.
    directory: PathBuf,
    /// What `export` set.
    exported: Vec<(String, String)>,
    /// The address of the judge that stands in for the README's.
    judge: Option<String>,
    /// Differences between the README's outputs and the actual ones: the old text, the new text.
    pub(super) differences: Vec<(String, String)>,
}

impl Walk {
    /// `name` has to be unique among all tests.
    pub(super) fn new(name: &str) -> Self {
        let package = Package::directory_outside_of_workspaces(name);
        let directory = package.root().to_owned();
        Self { package, directory, exported: Vec::new(), judge: None, differences: Vec::new() }
    }

    /// Uses the judge at this address instead of the one that the README names.
    pub(super) fn with_judge(mut self, url: &str) -> Self {
        self.judge = Some(url.to_owned());
        self
    }

    pub(super) fn follow<'a>(&mut self, blocks: impl IntoIterator<Item = &'a Block>) {
        for block in blocks {
            match &block.content {
                Content::File(file) => self.paste(file),
                Content::Console(commands) => commands.iter().for_each(|command| self.run(command)),
                Content::Text(_) => {}
            }
        }
    }

    fn paste(&mut self, file: &File) {
        let text = match &file.above {
            None => file.text.clone(),
            Some(line) => {
                let before = self.read(&file.path);
                let place = before.find(&**line).unwrap_or_else(|| panic!("`{}` has no line `{line}`", file.path));
                let start = before[..place].rfind('\n').map_or(0, |newline| newline + 1);
                let (_, added) = file.text.split_once('\n').expect("the first line is the path");
                format!("{}{added}{}", &before[..start], &before[start..])
            }
        };
        self.write(&file.path, &text);
        // The steps of a workflow are commands too.
        if file.path.starts_with(".github/") {
            for line in file.text.lines().filter_map(|line| line.trim().strip_prefix("- run: ")) {
                self.run(&Command { line: line.to_owned(), output: String::new() });
            }
        }
    }

    pub(super) fn write(&self, path: &str, text: &str) {
        let path = self.directory.join(path);
        fs::create_dir_all(path.parent().expect("a file has a folder")).expect("the folder can be made");
        fs::write(&path, text).unwrap_or_else(|error| panic!("cannot write {}: {error}", path.display()));
    }

    pub(super) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.directory.join(path)).unwrap_or_else(|error| panic!("cannot read {path}: {error}"))
    }

    fn run(&mut self, command: &Command) {
        let line = &command.line;
        if let Some(directory) = line.strip_prefix("cd ") {
            self.directory.push(directory);
            // The same versions as those of all other packages, which are built already.
            let lock = self.package.root().join("Cargo.lock");
            fs::copy(lock, self.directory.join("Cargo.lock")).expect("the lock file can be copied");
        } else if let Some(variables) = line.strip_prefix("export ") {
            let variables = variables.split(' ').filter_map(|variable| variable.split_once('='));
            self.exported.extend(variables.map(|(name, value)| (name.to_owned(), value.to_owned())));
        } else if self.can_run(line) {
            let ran = self.call(line);
            if command.output.is_empty() {
                ran.succeeds(&format!("`{line}` succeeds"));
            } else {
                self.compare(&command.output, &ran);
            }
        }
    }

    /// Programs that the README installs may be missing here: the tests of `cargo evalsuite` check its commands.
    fn can_run(&self, line: &str) -> bool {
        let is_installed = !line.contains("cargo install ") && !line.contains("cargo evalsuite ");
        is_installed && (!line.contains("cargo nextest ") || has_nextest("following_the_readme"))
    }

    /// Runs a command line in the directory, with path dependencies for the crates of evalsuite.
    pub(super) fn call(&self, line: &str) -> CommandOutput {
        let path = |folder: &str| format!("--path {:?}", workspace().join(folder));
        let line = match line.strip_prefix("cargo add ") {
            Some(names) => {
                let names = names.split(' ').map(|name| match name {
                    "evalsuite" => path("runtime"),
                    "evalsuite-build" => path("codegen"),
                    name => name.to_owned(),
                });
                format!("cargo add --quiet {}", names.collect::<Vec<_>>().join(" "))
            }
            None => line.to_owned(),
        };
        let call = Call::program("sh", &self.package).with_cargo().args(["-c", &line]).in_directory(&self.directory);
        // As in the packages of other tests, whose dependencies are shared.
        let call = call.env("CARGO_PROFILE_DEV_DEBUG", "false").env("CARGO_INCREMENTAL", "0");
        let call = call.env("EVALSUITE_OUTPUT", self.directory.join("target/evalsuite")).without_env("CI");
        let call = self.exported.iter().fold(call, |call, (name, value)| {
            let value = if name == "EVALSUITE_JUDGE_URL" { self.judge.as_ref().unwrap_or(value) } else { value };
            call.env(name, value)
        });
        call.run()
    }

    /// What a user sees of a command's output.
    pub(super) fn shown(&self, ran: &CommandOutput) -> String {
        shown(&ran.stdout, &ran.stderr, &self.directory.to_string_lossy())
    }

    /// Notes the output that the README shows unless it is the actual one.
    pub(super) fn compare(&mut self, documented: &str, ran: &CommandOutput) {
        let actual = self.shown(ran);
        if comparable(documented) != comparable(&actual) {
            self.differences.push((documented.trim().to_owned(), actual));
        }
    }
}
