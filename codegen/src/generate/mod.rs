//! `generate()`: the code of the macro as a file.

mod binding;
mod source;

use std::fs;
use std::path::{Path, PathBuf};

use evalsuite_loader::Request;

use crate::environment::{DENY_WARNINGS, Package, warnings_are_denied};
use crate::expansion::{Expansion, Options, allow, expand, limited, registration_problems};
use crate::instructions::Instructions;
use crate::track::Tracker;

pub use binding::Binding;
pub use source::source;

/// Code for a suite that a build script writes; see [`generate`](crate::generate()). Methods are the arguments of
/// `include_eval_suite!`.
#[derive(Debug, Clone)]
#[must_use = "nothing is written before `write`"]
pub struct Generator {
    entry: String,
    binding: Binding,
    targets: Vec<String>,
    require_env: Vec<String>,
    require_commands: Vec<String>,
    name: Option<String>,
    ignore: Option<String>,
    fixtures: bool,
    embed: bool,
    deny_warnings: bool,
    allow: Vec<String>,
}

impl Generator {
    /// The suite at `entry`, a path relative to the package's root.
    pub fn new(entry: impl Into<String>) -> Self {
        Self {
            entry: entry.into(),
            binding: Binding::default(),
            targets: Vec::new(),
            require_env: Vec::new(),
            require_commands: Vec::new(),
            name: None,
            ignore: None,
            fixtures: true,
            embed: true,
            deny_warnings: false,
            allow: Vec::new(),
        }
    }

    /// The agent: a path or another expression, in the scope of the `include!`. By default the function named like the
    /// suite's `agent_name`, without one `agent`.
    pub fn agent(mut self, path: impl Into<String>) -> Self {
        self.binding.agent(path);
        self
    }

    /// The agents are commands of a targets file, as with `agent = "cli"` of the macro.
    pub fn cli_agents(mut self) -> Self {
        self.binding.commands();
        self
    }

    /// No agent: only `SUITE`, no tests.
    pub fn no_agent(mut self) -> Self {
        self.binding.no_agent();
        self
    }

    /// The agent of one target of the matrix.
    pub fn agent_for(mut self, target: impl Into<String>, path: impl Into<String>) -> Self {
        self.binding.agent_for(target, path);
        self
    }

    /// Graders by path, each under the name of its last segment.
    pub fn graders<P: Into<String>>(mut self, paths: impl IntoIterator<Item = P>) -> Self {
        for path in paths {
            self.binding.grader(path);
        }
        self
    }

    /// A grader under another name than its path says.
    pub fn grader(mut self, name: impl Into<String>, path: impl Into<String>) -> Self {
        self.binding.named_grader(name, path);
        self
    }

    /// The judge of graders that name none: a path or another expression.
    pub fn judge(mut self, path: impl Into<String>) -> Self {
        self.binding.judge(path);
        self
    }

    /// A judge under the name that graders write as `target`.
    pub fn judge_for(mut self, name: impl Into<String>, path: impl Into<String>) -> Self {
        self.binding.named_judge(name, path);
        self
    }

    /// The judges of graders that name none, by their names: those of [`judge_for`](Self::judge_for), or commands of a targets
    /// file. Of several the majority decides.
    pub fn judged_by<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.binding.judged_by(names);
        self
    }

    /// How many judgements follow a failing one, so that the majority decides: an even number up to 10; 2 by default.
    pub fn judge_confirm(mut self, judgements: u32) -> Self {
        self.binding.judge_confirm(judgements);
        self
    }

    /// The target matrix, for a suite whose files have none.
    pub fn targets<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.targets.extend(names.into_iter().map(Into::into));
        self
    }

    /// Environment variables without which the cases are skipped.
    pub fn require_env<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.require_env.extend(names.into_iter().map(Into::into));
        self
    }

    /// Programs without which the cases are skipped.
    pub fn require_commands<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.require_commands.extend(names.into_iter().map(Into::into));
        self
    }

    /// Name of the generated module, and of the file. By default the last component of the entry path.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Marks the tests `#[ignore = "reason"]`.
    pub fn ignore(mut self, reason: impl Into<String>) -> Self {
        self.ignore = Some(reason.into());
        self
    }

    /// Whether a task's `workspace/` and `fixture_*` keys are its fixtures; they are by default.
    pub fn fixtures(mut self, on: bool) -> Self {
        self.fixtures = on;
        self
    }

    /// Whether the files that cases need travel in the test program, up to 32 MiB; they do by default.
    pub fn embed(mut self, on: bool) -> Self {
        self.embed = on;
        self
    }

    /// Warnings fail the build.
    pub fn deny_warnings(mut self) -> Self {
        self.deny_warnings = true;
        self
    }

    /// Leaves out warnings with these names.
    pub fn allow<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.allow.extend(names.into_iter().map(Into::into));
        self
    }

    /// Writes `$OUT_DIR/evalsuite/NAME.rs`, NAME being the module's name, and tracks the suite. Problems of the suite are
    /// shown by cargo and end the build script.
    pub fn write(self) {
        let mut instructions = Instructions::default();
        match Package::of_build_script() {
            Ok(package) => self.run(&package, &mut instructions),
            Err(error) => instructions.error(&error),
        }
        instructions.print();
    }

    fn run(self, package: &Package, instructions: &mut Instructions) {
        let directory = self.directory(package);
        if let Some(directory) = &directory {
            instructions.append(Tracker::new(directory).only_changes().instructions(package));
        }
        instructions.rerun_if_env_changed(DENY_WARNINGS);
        let (expansion, code) = self.code(package);
        let directory = directory.map(|directory| package.root.join(directory));
        let elsewhere = |file: &&PathBuf| directory.as_ref().is_none_or(|directory| !file.starts_with(directory));
        for file in expansion.files.iter().filter(elsewhere).filter_map(|file| file.to_str()) {
            instructions.rerun_if_changed(file);
        }
        for warning in &expansion.warnings {
            instructions.warning(warning);
        }
        for error in &expansion.errors {
            instructions.error(error);
        }
        let path = package.out_dir.join("evalsuite").join(format!("{}.rs", expansion.module));
        if let Err(error) = write_if_changed(&path, &code) {
            instructions.error(&format!("cannot write {}: {error}", path.display()));
        }
    }

    /// The directory of the suite, if that is not the whole package or missing: then files are tracked one by one.
    fn directory(&self, package: &Package) -> Option<PathBuf> {
        let entry = Path::new(&self.entry);
        let directory = if package.root.join(entry).is_dir() { entry } else { entry.parent()? };
        let whole = package.root.join(directory);
        (whole.is_dir() && !package.root.starts_with(whole)).then(|| directory.to_path_buf())
    }

    fn code(self, package: &Package) -> (Expansion, String) {
        let mut problems: Vec<String> = self.allow.iter().filter_map(|name| allow::problem(name)).collect();
        let registered = self.binding.names();
        problems.extend(registration_problems(&registered).into_iter().map(|(_, problem)| problem));
        let denied = warnings_are_denied().unwrap_or_else(|error| {
            problems.push(error);
            false
        });
        let mut request = Request::new(self.entry, &package.root);
        request.targets = self.targets;
        request.fixtures = self.fixtures;
        let mut options = Options::new(request);
        options.name = self.name;
        options.bound = self.binding.has_tests();
        options.commands = self.binding.has_commands().then(|| self.binding.targets().map(ToOwned::to_owned).collect());
        options.graders = options.bound.then_some(registered);
        options.judges = Some(self.binding.judges());
        options.ignore = self.ignore;
        options.requires.env = self.require_env;
        options.requires.commands = self.require_commands;
        options.allow = self.allow;
        options.embed = self.embed;
        options.deny_warnings = self.deny_warnings || denied;
        let mut expansion = expand(&options);
        let archive = format!("evalsuite/{}.embedded", expansion.module);
        expansion.files.extend(expansion.embedded.included());
        match std::mem::take(&mut expansion.embedded).into_archive(&package.out_dir, &archive) {
            Ok(embedded) => expansion.embedded = embedded,
            Err(error) => expansion.errors.push(format!("the files that cases need cannot be embedded: {error}")),
        }
        expansion.errors.splice(0..0, problems);
        expansion.errors = limited(std::mem::take(&mut expansion.errors), "error", &options.request.entry);
        let code = format!("{HEADER}{}", source(&options, &mut expansion, &self.binding));
        (expansion, code)
    }
}

const HEADER: &str = "// Written by evalsuite_build::generate in a build script; changes are lost.\n\n";

/// Leaves a file with the same content alone, so that nothing is compiled again for it.
fn write_if_changed(path: &Path, content: &str) -> std::io::Result<()> {
    if fs::read_to_string(path).is_ok_and(|old| old == content) {
        return Ok(());
    }
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(path, content)
}

#[cfg(test)]
mod tests;
