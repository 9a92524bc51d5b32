//! `cargo evalsuite expand`.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use evalsuite_build::Generator;
use evalsuite_codegen::expansion::Context;
use evalsuite_schema::diagnostics::render;
use evalsuite_schema::json::{Value, json};
use schemars::JsonSchema;
use serde::Serialize;

use crate::arguments::OutputFormat;
use crate::locate::suite_search;
use crate::platform::exit_status::{CommandStatus, Result};
use crate::platform::output::{print_json, say, stdout};

/// Print the Rust code that a suite expands to
///
/// Exit status: 0 on success, 1 if the suite has errors, 2 if the path does not exist.
#[derive(Debug, Args)]
pub(crate) struct Expand {
    /// Directory or file of the suite
    pub(crate) path: PathBuf,
    /// Agent as in the macro: a path, or `none`
    #[arg(long)]
    pub(crate) agent: Option<String>,
    /// Grader as in the macro: a path, or `name => path`; may be repeated
    #[arg(long = "grader", value_name = "PATH")]
    pub(crate) graders: Vec<String>,
    /// Name of the generated module
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// Output format: the code, or a JSON object with the code
    #[arg(long, value_enum, default_value_t = OutputFormat::Human)]
    pub(crate) format: OutputFormat,
}

/// The code that a suite expands to.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ExpandedSuite {
    /// Name and version of this format.
    #[schemars(extend("const" = "evalsuite.expand/1"))]
    schema: &'static str,
    /// Path of the suite, from the directory of its package.
    suite: String,
    /// The code; `null` if the suite has errors.
    code: Option<String>,
    /// What is wrong with the suite and with what it is bound to, as `check --format json` prints it; of a problem that is not in a file,
    /// only the message.
    #[schemars(with = "Vec<serde_json::Value>")]
    problems: Vec<Value>,
}

pub(crate) fn run(command: &Expand) -> Result<CommandStatus> {
    let mut context = Context::new(suite_search::request(&suite_search::existing(&command.path)?)?);
    // Without `--grader` the graders of the suite are not known, so none is missing. Judges cannot be listed.
    context.all_graders_listed = !command.graders.is_empty();
    context.all_judges_listed = false;
    let (expansion, code) = generator(command, &context.request.entry).expand(&context);
    if command.format == OutputFormat::Json {
        let problems = expansion.problems().iter();
        let problems = problems.map(|it| match it.as_diagnostic() {
            Some(diagnostic) => render::json(diagnostic),
            None => json!({"message": it.text()}),
        });
        let expanded = ExpandedSuite {
            schema: "evalsuite.expand/1",
            suite: context.request.entry.clone(),
            code: (!expansion.has_errors()).then_some(code),
            problems: problems.collect(),
        };
        print_json(&mut stdout(), &expanded)?;
        return Ok(CommandStatus::good_if(!expansion.has_errors()));
    }
    for problem in expansion.problems() {
        let shown = problem.as_diagnostic().map(|found| render::text(found, render::Style::Colored));
        say!("{}\n", shown.unwrap_or_else(|| problem.text()));
    }
    if expansion.has_errors() {
        return Ok(CommandStatus::Problems);
    }
    stdout().write_all(code.as_bytes())?;
    Ok(CommandStatus::Good)
}

fn generator(command: &Expand, entry: &str) -> Generator {
    let mut generator = evalsuite_build::generate(entry);
    generator = match command.agent.as_deref() {
        Some("none") => generator.no_agent(),
        Some(path) => generator.agent(path),
        None => generator,
    };
    for grader in &command.graders {
        generator = match grader.split_once("=>") {
            Some((name, path)) => generator.grader(name.trim().trim_matches('"'), path.trim()),
            None => generator.graders([grader]),
        };
    }
    match &command.name {
        Some(name) => generator.name(name),
        None => generator,
    }
}
