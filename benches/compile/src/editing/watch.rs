//! Saves files while `cargo evalsuite watch` runs.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};

use crate::environment::Environment;
use crate::package::Package;

/// Changes of each kind in a round.
const CHANGES: usize = 5;

/// What is timed, in the order in which [`Times`] has them.
const KINDS: [&str; 5] = [
    "watch: a case is edited",
    "watch: a case is new",
    "watch: a case is deleted",
    "watch: a source is edited",
    "cargo test: a source is edited",
];

/// Seconds of each kind of [`KINDS`].
type Times = [Vec<f64>; KINDS.len()];

/// Seconds from the save of a file to the verdicts: of the case, or of all cases after the edit of a source. For comparison, those of
/// `cargo test`, in turn with `watch`.
pub(super) fn measure(
    program: &Path,
    package: &Package,
    environment: &Environment,
    rounds: usize,
) -> Result<Vec<(&'static str, Vec<f64>)>> {
    let mut times = Times::default();
    for round in 0..rounds {
        let mut watch = Watch::start(program, package, environment)?;
        let changed = change(&mut watch, package, round, &mut times);
        watch.stop()?;
        changed?;
        let start = Instant::now();
        package.edit_source(2 * round + 2)?;
        let mut cargo = environment.cargo.configured(Command::new("cargo"), package);
        let output =
            cargo.args(["test", "--tests", "--features", "evalsuite/reload"]).output().context("cannot start cargo")?;
        times[4].push(start.elapsed().as_secs_f64());
        ensure!(output.status.success(), "the tests fail:\n{}", String::from_utf8_lossy(&output.stdout));
    }
    Ok(KINDS.into_iter().zip(times).collect())
}

fn change(watch: &mut Watch, package: &Package, round: usize, times: &mut Times) -> Result<()> {
    let mut timed = |kind: usize, verdict: &str, change: &mut dyn FnMut() -> Result<()>| {
        let start = Instant::now();
        change()?;
        let block = watch.next_block()?;
        times[kind].push(start.elapsed().as_secs_f64());
        ensure!(block.contains(verdict), "{}: no `{verdict}` in\n{block}", KINDS[kind]);
        Ok(())
    };
    for number in 0..CHANGES {
        timed(0, "1 passed, 0 FAILED", &mut || package.edit_case(round * CHANGES + number + 1))?;
    }
    for number in 0..CHANGES {
        timed(1, "2 passed, 0 FAILED", &mut || package.add_case(number))?;
        timed(2, "1 passed, 0 FAILED", &mut || package.remove_case(number))?;
    }
    timed(3, ", 0 FAILED", &mut || package.edit_source(2 * round + 1))
}

/// `watch` as a program, which has built the tests.
struct Watch {
    child: Child,
    output: BufReader<ChildStdout>,
}

impl Watch {
    fn start(program: &Path, package: &Package, environment: &Environment) -> Result<Self> {
        let mut child = environment
            .cargo
            .configured(Command::new(program), package)
            .args(["evalsuite", "watch", "--format", "short"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot start watch")?;
        let output = BufReader::new(child.stdout.take().context("a pipe")?);
        let mut watch = Self { child, output };
        watch.next_block()?;
        Ok(watch)
    }

    /// The lines up to the next end of a block.
    fn next_block(&mut self) -> Result<String> {
        let mut block = String::new();
        loop {
            let mut line = String::new();
            if self.output.read_line(&mut line)? == 0 {
                bail!("watch has ended:\n{block}");
            }
            if line.trim_end() == "evalsuite: end" {
                return Ok(block);
            }
            block.push_str(&line);
        }
    }

    fn stop(mut self) -> Result<()> {
        self.child.kill().context("cannot end watch")?;
        self.child.wait()?;
        Ok(())
    }
}
