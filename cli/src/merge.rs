//! `cargo evalsuite merge`: one run out of the parts of it that several machines have run.

mod plan;
mod record;
mod tree;

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::command_line::Merge;
use crate::runs;

use plan::Plan;

pub(crate) fn run(command: &Merge) -> io::Result<ExitCode> {
    let mut parts: Vec<PathBuf> = Vec::new();
    for path in &command.runs {
        match runs::at(path)? {
            Some(run) => parts.push(run.canonicalize()?),
            None => return Ok(runs::unknown(&format!("{} is no run, and holds none", path.display()))),
        }
    }
    let plan = match Plan::new(&parts)? {
        Ok(plan) => plan,
        Err(problems) => {
            for problem in problems {
                anstream::eprintln!("error: {problem}");
            }
            return Ok(ExitCode::FAILURE);
        }
    };
    for warning in &plan.warnings {
        anstream::eprintln!("warning: {warning}");
    }
    let root = match &command.into {
        Some(into) => std::path::absolute(into)?,
        None => runs::output_root()?,
    };
    let target = root.join("runs").join(&plan.run.run_id);
    if target.exists() {
        anstream::eprintln!(
            "error: {} is already there\n  = help: choose another directory with `--into`",
            target.display()
        );
        return Ok(ExitCode::FAILURE);
    }
    // Under another name until everything is there.
    let unfinished = root.join("runs").join(format!(".{}.{}", plan.run.run_id, std::process::id()));
    let written = write(&plan, &unfinished).and_then(|()| fs::rename(&unfinished, &target));
    if let Err(error) = written {
        // The first error is the one to report.
        let _ = fs::remove_dir_all(&unfinished);
        return Err(error);
    }
    fs::write(root.join("latest"), &plan.run.run_id)?;
    let (cases, parts) = (plan.cases, parts.len());
    writeln!(anstream::stdout().lock(), "cases: {cases}, parts: {parts}, run: {}", target.display())?;
    Ok(ExitCode::SUCCESS)
}

fn write(plan: &Plan, run: &Path) -> io::Result<()> {
    fs::create_dir_all(run)?;
    for (place, from) in &plan.places {
        let to = run.join(place);
        if let Some(directory) = to.parent() {
            fs::create_dir_all(directory)?;
        }
        tree::copy(from, &to)
            .map_err(|error| io::Error::new(error.kind(), format!("cannot copy {}: {error}", from.display())))?;
    }
    for (place, suite) in &plan.suites {
        write_json(&run.join(place), suite)?;
    }
    if !plan.spend.is_empty() {
        fs::write(run.join("spend.jsonl"), &plan.spend)?;
    }
    write_json(&run.join("run.json"), &plan.run)
}

fn write_json(path: &Path, value: &impl serde::Serialize) -> io::Result<()> {
    if let Some(directory) = path.parent() {
        fs::create_dir_all(directory)?;
    }
    let mut bytes = serde_json::to_vec_pretty(value)?;
    bytes.push(b'\n');
    fs::write(path, bytes)
}
