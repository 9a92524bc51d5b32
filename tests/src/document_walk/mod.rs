//! Follows a document: writes its files and runs its commands, in order, in a new directory outside of any workspace.

mod blocks;
mod output;

use std::path::{Path, PathBuf};
use std::{env, fs};

use crate::throwaway::{Call, CommandOutput, Package, workspace};

use self::output::{comparable, shown};

pub use self::blocks::{Block, Command, Content, File, blocks};

/// A text with the path of this clone, which documents show next to the package.
fn in_this_clone(text: &str) -> String {
    text.replace("../evalsuite", &workspace().to_string_lossy())
}

/// Files and commands of documents, followed in one directory.
#[derive(Debug)]
pub struct Walk {
    package: Package,
    /// Where commands run: first the empty directory, then the package that `cargo new` made.
    directory: PathBuf,
    /// What `export` set.
    exported: Vec<(String, String)>,
    /// The address of the judge that stands in for the one of the document.
    judge: Option<String>,
    /// The program that `cargo evalsuite` starts.
    program: Option<PathBuf>,
    /// The directory with the programs of the reader.
    reader_programs: Option<PathBuf>,
    /// Differences between the documented outputs and the actual ones: the old text, the new text.
    differences: Vec<(String, String)>,
}

impl Walk {
    /// `name` has to be unique among all tests.
    pub fn new(name: &str) -> Self {
        let package = Package::directory_outside_of_workspaces(name);
        let directory = package.root().to_owned();
        Self {
            package,
            directory,
            exported: Vec::new(),
            judge: None,
            program: None,
            reader_programs: None,
            differences: Vec::new(),
        }
    }

    /// Uses the judge at this address instead of the one that the document names.
    pub fn with_judge(mut self, url: &str) -> Self {
        self.judge = Some(url.to_owned());
        self
    }

    /// Runs the commands `cargo evalsuite …` with this program. Without one, they are left out.
    pub fn with_program(mut self, program: &Path) -> Self {
        self.program = Some(program.to_owned());
        self
    }

    /// Finds programs in this directory that a document takes for granted, such as the reader's agent.
    pub fn with_reader_programs(mut self, directory: &Path) -> Self {
        self.reader_programs = Some(directory.to_owned());
        self
    }

    /// Writes the files and runs the commands of these blocks.
    ///
    /// # Panics
    ///
    /// If a command without a documented output fails.
    pub fn follow<'a>(&mut self, blocks: impl IntoIterator<Item = &'a Block>) {
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
            None => in_this_clone(file.content()),
            Some(line) => {
                let before = self.read(&file.path);
                let place = before.find(&**line).unwrap_or_else(|| panic!("`{}` has no line `{line}`", file.path));
                let start = before[..place].rfind('\n').map_or(0, |newline| newline + 1);
                let (_, added) = file.text.split_once('\n').expect("the first line is the path");
                format!("{}{}{}", &before[..start], in_this_clone(added), &before[start..])
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

    /// Writes a file of the package.
    ///
    /// # Panics
    ///
    /// If it cannot be written.
    pub fn write(&self, path: &str, text: &str) {
        let path = self.directory.join(path);
        fs::create_dir_all(path.parent().expect("a file has a folder")).expect("the folder can be made");
        fs::write(&path, text).unwrap_or_else(|error| panic!("cannot write {}: {error}", path.display()));
    }

    /// The text of a file of the package.
    ///
    /// # Panics
    ///
    /// If it cannot be read.
    pub fn read(&self, path: &str) -> String {
        fs::read_to_string(self.directory.join(path)).unwrap_or_else(|error| panic!("cannot read {path}: {error}"))
    }

    fn run(&mut self, command: &Command) {
        let line = &command.line;
        if let Some(directory) = line.strip_prefix("cd ") {
            self.directory.push(directory);
            self.lock();
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
            if line.starts_with("cargo add ") {
                // Cargo has removed what the package did not need yet.
                self.lock();
            }
        }
    }

    /// The same versions as those of all other packages, which are built already.
    fn lock(&self) {
        let lock = self.package.root().join("Cargo.lock");
        fs::copy(lock, self.directory.join("Cargo.lock")).expect("the lock file can be copied");
    }

    /// Programs that a document installs may be missing here.
    fn can_run(&self, line: &str) -> bool {
        let has_program = self.program.is_some() || !line.contains("cargo evalsuite ");
        has_program && !["cargo install ", "cargo binstall "].iter().any(|installs| line.contains(installs))
    }

    /// Runs a command line in the directory. `../evalsuite` is this clone.
    pub fn call(&self, line: &str) -> CommandOutput {
        let line = in_this_clone(&line.replace("cargo add ", "cargo add --quiet "));
        let call = Call::program("sh", &self.package).with_cargo().args(["-c", &line]).in_directory(&self.directory);
        let call = call.env("EVALSUITE_OUTPUT", self.directory.join("target/evalsuite")).without_env("CI");
        // Cargo finds its subcommands there.
        let of_cargo = self.program.as_ref().and_then(|program| program.parent()).map(Path::to_owned);
        let directories: Vec<PathBuf> = of_cargo.into_iter().chain(self.reader_programs.clone()).collect();
        let rest = env::var_os("PATH").unwrap_or_default();
        let path = env::join_paths(directories.into_iter().chain(env::split_paths(&rest))).expect("a search path");
        let call = call.env("PATH", path);
        let call = self.exported.iter().fold(call, |call, (name, value)| {
            let value = if name == "EVALSUITE_JUDGE_URL" { self.judge.as_ref().unwrap_or(value) } else { value };
            call.env(name, value)
        });
        call.run()
    }

    /// What a user sees of a command's output.
    pub fn shown(&self, ran: &CommandOutput) -> String {
        shown(&ran.stdout, &ran.stderr, &self.directory.to_string_lossy())
    }

    /// Notes the documented output unless it is the actual one.
    pub fn compare(&mut self, documented: &str, ran: &CommandOutput) {
        let actual = self.shown(ran);
        if comparable(documented) != comparable(&actual) {
            self.differences.push((documented.trim().to_owned(), actual));
        }
    }

    /// Fails the test if outputs since the last check are not those of the document. With `UPDATE_README=1`, writes them to it.
    ///
    /// # Panics
    ///
    /// If an output differs.
    #[track_caller]
    pub fn check_outputs(&mut self, document: &str) {
        let differences = std::mem::take(&mut self.differences);
        let report: String = differences
            .iter()
            .map(|(documented, actual)| format!("--- {document} shows\n{documented}\n--- it is\n{actual}\n"))
            .collect();
        if env::var_os("UPDATE_README").is_some() {
            let file = workspace().join(document);
            let text = fs::read_to_string(&file).expect("the document");
            let updated = differences.iter().fold(text, |text, (old, new)| text.replacen(old, new, 1));
            fs::write(file, updated).expect("the document can be written");
        } else {
            assert!(differences.is_empty(), "{report}UPDATE_README=1 updates {document}");
        }
    }
}
