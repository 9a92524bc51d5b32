//! Saves a case while `cargo evalsuite watch` runs.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{ChildStdout, Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};

use crate::environment::Environment;
use crate::package::Package;

/// Saved edits per round.
const EDITS: usize = 5;

/// Seconds from the save of a case to its verdict.
pub(super) fn measure(program: &Path, package: &Package, environment: &Environment, rounds: usize) -> Result<Vec<f64>> {
    let mut watch = environment
        .cargo
        .configured(Command::new(program), package)
        .args(["evalsuite", "watch", "--format", "short"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .context("cannot start watch")?;
    let mut output = BufReader::new(watch.stdout.take().context("a pipe")?);
    let measured = edit(&mut output, package, rounds);
    watch.kill().context("cannot end watch")?;
    watch.wait()?;
    measured
}

fn edit(output: &mut BufReader<ChildStdout>, package: &Package, rounds: usize) -> Result<Vec<f64>> {
    // Once the tests are built.
    next_block(output)?;
    let mut seconds = Vec::new();
    for revision in 1..=rounds * EDITS {
        let start = Instant::now();
        package.edit_case(revision)?;
        let block = next_block(output)?;
        seconds.push(start.elapsed().as_secs_f64());
        ensure!(block.contains("1 passed, 0 FAILED"), "the edited case does not pass:\n{block}");
    }
    Ok(seconds)
}

/// The lines up to the next end of a block.
fn next_block(output: &mut BufReader<ChildStdout>) -> Result<String> {
    let mut block = String::new();
    loop {
        let mut line = String::new();
        if output.read_line(&mut line)? == 0 {
            bail!("watch has ended:\n{block}");
        }
        if line.trim_end() == "evalsuite: end" {
            return Ok(block);
        }
        block.push_str(&line);
    }
}
