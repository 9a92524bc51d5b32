//! `cargo evalsuite merge`: one run from parts that ran on several machines.

mod merge_plan;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::{fs, io};

use clap::Args;
use evalsuite_records::run_directory::{CHOSEN, LEDGER, OutputDirectory, RUN_RECORD, SUMMARY};
use evalsuite_records::summary::summarize_run;
use evalsuite_schema::diagnostics::counted;
use schemars::JsonSchema;
use serde::Serialize;

use self::merge_plan::MergePlan;
use crate::arguments::OutputFormat;
use crate::locate::{stored_runs, suite_search};
use crate::platform::exit_status::{CliError, CommandStatus, ErrorContext, Result};
use crate::platform::output::{Progress, print_json, say, stdout};

/// Merge the parts of a run from several machines
///
/// The parts must have the same run id (set `EVALSUITE_RUN_ID`), the same commit and the same suite files. Parts whose
/// `EVALSUITE_AGENT_DIGEST` differs are named in a warning. Exit status: 0 on success, 1 if the parts contradict each other, 2 if a part is
/// missing or still running, or the merged run already exists. Nothing is written unless the merge succeeds.
#[derive(Debug, Args)]
pub(crate) struct Merge {
    /// Parts: run directories, or output directories, whose newest run is used
    #[arg(required = true)]
    pub(crate) runs: Vec<PathBuf>,
    /// Output directory for the merged run [default: the output directory of the workspace]
    #[arg(long, value_name = "DIR")]
    pub(crate) into: Option<PathBuf>,
    /// Output format
    #[arg(long, value_enum, default_value_t = OutputFormat::Human)]
    pub(crate) format: OutputFormat,
}

/// A run that `merge` made of its parts.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(crate) struct MergedRun {
    /// Name and version of this format.
    #[schemars(extend("const" = "evalsuite.merge/1"))]
    schema: &'static str,
    /// Directories of the parts.
    parts: Vec<String>,
    /// Id of the run; `null` if the parts contradict each other.
    run_id: Option<String>,
    /// Directory of the run; `null` if the parts contradict each other.
    path: Option<String>,
    /// Number of cases with a record.
    cases: usize,
    /// What is wrong with parts that were merged nevertheless.
    warnings: Vec<String>,
    /// How the parts contradict each other; then nothing was written.
    problems: Vec<String>,
}

pub(crate) fn run(command: &Merge) -> Result<CommandStatus> {
    let mut parts: Vec<PathBuf> = Vec::new();
    for path in &command.runs {
        match stored_runs::run_or_newest(&suite_search::existing(path)?)? {
            Some(run) if run.is_in_use()? => {
                return Err(CliError::new(format!("tests of run {} are still running", run.path().display())));
            }
            Some(run) => parts.push(run.path().canonicalize()?),
            None => return Err(CliError::new(format!("`{}` is not a run and contains none", path.display()))),
        }
    }
    let mut merged = MergedRun {
        schema: "evalsuite.merge/1",
        parts: parts.iter().map(|part| part.display().to_string()).collect(),
        ..MergedRun::default()
    };
    let progress = Progress::start("reading parts");
    let plan = match MergePlan::new(&parts)? {
        Ok(plan) => plan,
        Err(problems) => {
            drop(progress);
            if command.format == OutputFormat::Json {
                merged.problems.clone_from(&problems);
                print_json(&mut stdout(), &merged)?;
            }
            return Err(CliError::of_all(CommandStatus::Problems, problems));
        }
    };
    let output = OutputDirectory::new(match &command.into {
        Some(into) => std::path::absolute(into)?,
        None => stored_runs::output_path()?,
    });
    let target = output.run_directory(&plan.run.run_id);
    if target.exists() {
        return Err(CliError::with_help(
            format!("{} already exists", target.display()),
            "choose another directory with `--into`",
        ));
    }
    let unfinished = output.remove_unfinished();
    output.make_run(&plan.run.run_id, |run| write(&plan, run, &progress))?;
    output.set_latest(Some(&plan.run.run_id))?;
    drop(progress);
    for left in unfinished {
        say!("warning: cannot remove {left}");
    }
    for warning in &plan.warnings {
        say!("warning: {warning}");
    }
    let mut out = stdout();
    match command.format {
        OutputFormat::Human => {
            let (cases, parts) = (counted(plan.cases, "case"), counted(parts.len(), "part"));
            writeln!(out, "merged {cases} from {parts}: {}", target.display())?;
        }
        OutputFormat::Json => {
            merged.run_id = Some(plan.run.run_id);
            merged.path = Some(target.display().to_string());
            merged.cases = plan.cases;
            merged.warnings = plan.warnings;
            print_json(&mut out, &merged)?;
        }
    }
    Ok(CommandStatus::Good)
}

fn write(plan: &MergePlan, run: &Path, progress: &Progress) -> Result<()> {
    fs::create_dir_all(run).at(run)?;
    progress.set_steps("copying", plan.copies.len());
    for (path, from) in &plan.copies {
        progress.step();
        let to = run.join(path);
        if let Some(directory) = to.parent() {
            fs::create_dir_all(directory)?;
        }
        merge_plan::copy_tree(from, &to)
            .map_err(|error| io::Error::new(error.kind(), format!("cannot copy {}: {error}", from.display())))?;
    }
    for (path, suite) in &plan.suites {
        write_json(&run.join(path), suite)?;
    }
    if !plan.ledger.is_empty() {
        let ledger = run.join(LEDGER);
        fs::write(&ledger, &plan.ledger).at(&ledger)?;
    }
    if let Some(chosen) = &plan.chosen {
        write_json(&run.join(CHOSEN), chosen)?;
    }
    write_json(&run.join(RUN_RECORD), &plan.run)?;
    // Hooks that are pending do not change what came out.
    write_json(&run.join(SUMMARY), &summarize_run(run)?)
}

fn write_json(path: &Path, value: &impl serde::Serialize) -> Result<()> {
    if let Some(directory) = path.parent() {
        fs::create_dir_all(directory).at(directory)?;
    }
    let mut bytes = serde_json::to_vec_pretty(value)?;
    bytes.push(b'\n');
    fs::write(path, bytes).at(path)
}
