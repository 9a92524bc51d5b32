//! `generate()`: the code of the macro as a file.

use std::fmt;
use std::path::{Path, PathBuf};

use evalsuite_codegen::binding::{Agent, Binding, Judge, NamedExpr, Problem};
use evalsuite_codegen::cargo_environment::{DENY_WARNINGS, warnings_are_denied};
use evalsuite_codegen::expansion::{Context, Expansion, expand};
use evalsuite_codegen::replaced_file::write_if_changed;
use evalsuite_codegen::skill_bindings;
use evalsuite_loader::Request;
use proc_macro2::{Ident, Span};
use syn::{Expr, LitInt, LitStr};

use crate::cargo_instructions::{Instructions, Package};
use crate::tracking::track;

/// Code for a suite that a build script writes; see [`generate`](crate::generate()). The methods are the arguments of
/// `include_eval_suite!`; a method called again for a single value replaces it.
#[derive(Clone)]
#[must_use = "nothing is written before `write`"]
pub struct Generator {
    binding: Binding,
    problems: Vec<Problem>,
}

impl Generator {
    /// The suite at `entry`, a path relative to the package's root.
    pub fn new(entry: impl Into<String>) -> Self {
        Self { binding: Binding::new(literal(entry)), problems: Vec::new() }
    }

    /// Path of evalsuite, in the scope of the `include!`, where it is not `::evalsuite`: `my_facade::evalsuite` in a package that has it
    /// from a crate which re-exports it. The argument `crate` of the macro.
    pub fn crate_path(mut self, path: impl Into<String>) -> Self {
        let path = path.into();
        match syn::parse_str::<syn::Path>(&path) {
            Ok(parsed) => self.binding.crate_path = Some(parsed),
            Err(error) => self.report(format!("`{path}` is not the path of a crate: {error}")),
        }
        self
    }

    /// The agent: a path or another expression, in the scope of the `include!`. By default, the function
    /// with the name of the suite's `agent_name`, else `agent`.
    pub fn agent(self, expression: impl Into<String>) -> Self {
        self.with_expression(expression, |binding, agent| binding.agent = Agent::Expression(Box::new(agent)))
    }

    /// The agents are commands of a targets file, as with `agent = "cli"` of the macro.
    pub fn cli_agents(self) -> Self {
        self.with(|binding| binding.agent = Agent::Commands { acp: false })
    }

    /// The agents are those of a targets file that speak the Agent Client Protocol, and commands, as with `agent = "acp"` of the macro.
    pub fn acp_agents(self) -> Self {
        self.with(|binding| binding.agent = Agent::Commands { acp: true })
    }

    /// No agent: only `SUITE`, no tests.
    pub fn no_agent(self) -> Self {
        self.with(|binding| binding.agent = Agent::None)
    }

    /// The agent of one target of the matrix.
    pub fn target_agent(self, target: impl Into<String>, expression: impl Into<String>) -> Self {
        self.with_named(target, expression, |binding| &mut binding.agents)
    }

    /// Graders by path, each under the name of its last segment.
    pub fn graders<P: Into<String>>(mut self, paths: impl IntoIterator<Item = P>) -> Self {
        for path in paths {
            let path = path.into();
            match syn::parse_str(&path).map(NamedExpr::from_path) {
                Ok(Some(grader)) => self.binding.graders.push(grader),
                Ok(None) => {
                    self.report(format!("`{path}` is not the path of a grader; name it with `.grader(\"name\", …)`"))
                }
                Err(error) => self.report(not_an_expression(&path, &error)),
            }
        }
        self
    }

    /// A grader under another name.
    pub fn grader(self, name: impl Into<String>, expression: impl Into<String>) -> Self {
        self.with_named(name, expression, |binding| &mut binding.graders)
    }

    /// The judge of graders that name none: a path or another expression.
    pub fn judge(self, expression: impl Into<String>) -> Self {
        self.with_expression(expression, |binding, judge| binding.judge = Some(Judge::Expression(Box::new(judge))))
    }

    /// A named judge. A grader selects it with `target`.
    pub fn named_judge(self, name: impl Into<String>, expression: impl Into<String>) -> Self {
        self.with_named(name, expression, |binding| &mut binding.judges)
    }

    /// Simulated users by path, each under the name of its last segment. They need the feature `users` of evalsuite.
    pub fn users<P: Into<String>>(mut self, paths: impl IntoIterator<Item = P>) -> Self {
        for path in paths {
            let path = path.into();
            match syn::parse_str(&path).map(NamedExpr::from_path) {
                Ok(Some(user)) => self.binding.users.push(user),
                Ok(None) => {
                    self.report(format!("`{path}` is not the path of a user; name it with `.user(\"name\", …)`"))
                }
                Err(error) => self.report(not_an_expression(&path, &error)),
            }
        }
        self
    }

    /// A simulated user under another name.
    pub fn user(self, name: impl Into<String>, expression: impl Into<String>) -> Self {
        self.with_named(name, expression, |binding| &mut binding.users)
    }

    /// The judges of graders that name none, by their names: those of [`named_judge`](Self::named_judge), or commands of a targets
    /// file. With several, the majority decides.
    pub fn default_judges<N: Into<String>>(self, names: impl IntoIterator<Item = N>) -> Self {
        self.with(|binding| binding.judge = Some(Judge::Named(literals(names).collect())))
    }

    /// How many judgements follow a failing one, so that the majority decides: an even number up to 10; 2 by default.
    pub fn judge_confirm(self, judgements: u32) -> Self {
        let judgements = LitInt::new(&judgements.to_string(), Span::call_site());
        self.with(|binding| binding.judge_confirm = Some(judgements))
    }

    /// The tokio runtime of async agents, graders and judges: an expression for the `Handle` of a multi-thread runtime.
    pub fn runtime(self, expression: impl Into<String>) -> Self {
        self.with_expression(expression, |binding, runtime| binding.runtime = Some(runtime))
    }

    /// The target matrix, for a suite whose files have none.
    pub fn targets<N: Into<String>>(self, names: impl IntoIterator<Item = N>) -> Self {
        self.with(|binding| binding.targets.extend(literals(names)))
    }

    /// Environment variables without which the cases are skipped.
    pub fn require_env<N: Into<String>>(self, names: impl IntoIterator<Item = N>) -> Self {
        self.with(|binding| binding.require_env.extend(literals(names)))
    }

    /// Environment variables with base URLs of services that the agent calls, besides `OPENAI_BASE_URL` and `ANTHROPIC_BASE_URL`:
    /// `cargo evalsuite run --record` records these calls.
    pub fn record<N: Into<String>>(self, names: impl IntoIterator<Item = N>) -> Self {
        self.with(|binding| binding.record.extend(literals(names)))
    }

    /// JSON pointers to parts of request bodies that `cargo evalsuite run --replay` does not compare. `*` is every key or index.
    pub fn record_ignore<P: Into<String>>(self, pointers: impl IntoIterator<Item = P>) -> Self {
        self.with(|binding| binding.record_ignore.extend(literals(pointers)))
    }

    /// Programs without which the cases are skipped.
    pub fn require_commands<N: Into<String>>(self, names: impl IntoIterator<Item = N>) -> Self {
        self.with(|binding| binding.require_commands.extend(literals(names)))
    }

    /// Name of the generated module, and of the file. By default the last component of the entry path.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        let name = name.into();
        match syn::parse_str::<Ident>(&name) {
            Ok(name) => self.binding.name = Some(name),
            Err(_) => self.report(format!("`{name}` is not a valid module name")),
        }
        self
    }

    /// Marks the tests `#[ignore = "reason"]`.
    pub fn ignore(self, reason: impl Into<String>) -> Self {
        self.with(|binding| binding.ignore = Some(literal(reason)))
    }

    /// Whether a task's `workspace/` and `fixture_*` keys are its fixtures; they are by default.
    pub fn fixtures(self, on: bool) -> Self {
        self.with(|binding| binding.fixtures = on)
    }

    /// Whether the files that cases need are embedded in the test program, up to 32 MiB; they are by default.
    pub fn embed(self, on: bool) -> Self {
        self.with(|binding| binding.embed = on)
    }

    /// Makes warnings fail the build.
    pub fn deny_warnings(self) -> Self {
        self.with(|binding| binding.deny_warnings = true)
    }

    /// Hides warnings with these names.
    pub fn allow<N: Into<String>>(self, names: impl IntoIterator<Item = N>) -> Self {
        self.with(|binding| binding.allow.extend(literals(names)))
    }

    /// Writes `$OUT_DIR/evalsuite/NAME.rs`, NAME being the module's name, and tracks the suite. Of a directory with several skills, it
    /// writes a file for each. Problems of the suite are shown by cargo, and errors end the build script.
    ///
    /// A suite that does not exist is a warning of the build, as in [`track`](crate::track); the written code is a compile error.
    pub fn write(self) {
        Instructions::run(|package, instructions| self.run(package, instructions));
    }

    /// The code, formatted, with what it was made from.
    #[doc(hidden)]
    pub fn expand(self, context: &Context) -> (Expansion, String) {
        let expansion = expand(self.binding, context, self.problems);
        let code = formatted(&expansion);
        (expansion, code)
    }

    /// What `include_eval_suite!` would read from its arguments, and what is wrong with it.
    #[doc(hidden)]
    pub fn into_binding(self) -> (Binding, Vec<Problem>) {
        (self.binding, self.problems)
    }

    fn run(mut self, package: &Package, instructions: &mut Instructions) {
        let directory = self.directory(package);
        let exists = package.root.join(self.binding.entry.value()).exists();
        if let Some(directory) = &directory {
            track(directory, package, instructions);
        }
        // Without an instruction cargo runs the script again when the suite appears.
        if exists {
            instructions.rerun_if_env_changed(DENY_WARNINGS);
        }
        let mut context = Context::new(Request::new(self.binding.entry.value(), &package.root));
        match warnings_are_denied() {
            Ok(denied) => context.deny_warnings = denied,
            Err(error) => self.report(error),
        }
        let directory = directory.map(|directory| package.root.join(directory));
        let entry = package.root.join(self.binding.entry.value());
        let bindings = match skill_bindings::of_each_skill(self.binding, &entry) {
            Ok(bindings) => bindings,
            Err(problem) => return instructions.error(&problem.text()),
        };
        for binding in bindings {
            context.request.entry = binding.entry.value();
            let expansion = expand(binding, &context, self.problems.clone());
            write_suite(expansion, exists, directory.as_deref(), package, instructions);
        }
    }

    /// The directory of the suite, unless it is the whole package or missing: then files are tracked one by one.
    fn directory(&self, package: &Package) -> Option<PathBuf> {
        let entry = self.binding.entry.value();
        let entry = Path::new(&entry);
        let directory = if package.root.join(entry).is_dir() { entry } else { entry.parent()? };
        let whole = package.root.join(directory);
        (whole.is_dir() && !package.root.starts_with(whole)).then(|| directory.to_path_buf())
    }

    fn with(mut self, change: impl FnOnce(&mut Binding)) -> Self {
        change(&mut self.binding);
        self
    }

    /// With a Rust expression. What is none is reported.
    fn with_expression(mut self, text: impl Into<String>, change: impl FnOnce(&mut Binding, Expr)) -> Self {
        let text = text.into();
        match syn::parse_str(&text) {
            Ok(expression) => change(&mut self.binding, expression),
            Err(error) => self.report(not_an_expression(&text, &error)),
        }
        self
    }

    /// With a Rust expression in one of the lists of a binding, under a name.
    fn with_named(
        self,
        name: impl Into<String>,
        expression: impl Into<String>,
        list: impl FnOnce(&mut Binding) -> &mut Vec<NamedExpr>,
    ) -> Self {
        let name = literal(name);
        self.with_expression(expression, |binding, value| list(binding).push(NamedExpr { name, value }))
    }

    fn report(&mut self, message: String) {
        self.problems.push(Problem::argument(Span::call_site(), message));
    }
}

/// Writes the code of a suite, and tracks its files that are not below `tracked`.
fn write_suite(
    mut expansion: Expansion,
    exists: bool,
    tracked: Option<&Path>,
    package: &Package,
    instructions: &mut Instructions,
) {
    expansion.archive(&package.out_dir);
    let elsewhere = |file: &&PathBuf| tracked.is_none_or(|tracked| !file.starts_with(tracked));
    for file in expansion.files.iter().filter(elsewhere).filter_map(|file| file.to_str()) {
        instructions.rerun_if_changed(file);
    }
    for problem in expansion.problems() {
        match problem.is_error() {
            true if exists => instructions.error(&problem.text()),
            _ => instructions.warning(&problem.text()),
        }
    }
    let path = package.out_dir.join("evalsuite").join(format!("{}.rs", expansion.module));
    let code = format!("{HEADER}{}", formatted(&expansion));
    if let Err(error) = write_if_changed(&path, code.as_bytes(), || None) {
        instructions.error(&format!("cannot write {}: {error}", path.display()));
    }
}

impl fmt::Debug for Generator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Generator").field("entry", &self.binding.entry.value()).finish_non_exhaustive()
    }
}

fn not_an_expression(text: &str, error: &syn::Error) -> String {
    format!("`{text}` is not a Rust expression: {error}")
}

fn literal(text: impl Into<String>) -> LitStr {
    LitStr::new(&text.into(), Span::call_site())
}

fn literals<N: Into<String>>(names: impl IntoIterator<Item = N>) -> impl Iterator<Item = LitStr> {
    names.into_iter().map(literal)
}

const HEADER: &str = "// Written by evalsuite_build::generate in a build script; changes are lost.\n\n";

fn formatted(expansion: &Expansion) -> String {
    let tokens = expansion.tokens();
    match syn::parse2(tokens.clone()) {
        Ok(file) => prettyplease::unparse(&file),
        // Unformatted: rustc then says what is wrong with it.
        Err(_) => tokens.to_string(),
    }
}

#[cfg(test)]
mod tests;
