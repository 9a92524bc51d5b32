//! Test processes that are killed at random moments, while others of their run go on.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::{Duration, Instant, SystemTime};
use std::{io, thread};

use fastrand::Rng;

use crate::consistency::{Records, check_whole_run, files};
use crate::findings::Findings;
use crate::victim::{CASES, Package, TRIALS};

/// Waves of processes that are killed in each run.
const WAVES: usize = 3;
/// Longest life of a process that is killed. Most need less for all that they do.
const LIFE: Duration = Duration::from_millis(if cfg!(debug_assertions) { 250 } else { 60 });
/// Longest time of a process that is not killed.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

/// Kills at least `kills` processes. Returns how many, and in how many runs.
pub(crate) fn run(program: &Path, kills: usize, seed: u64, findings: &mut Findings) -> io::Result<(usize, usize)> {
    let mut rng = Rng::with_seed(seed);
    let (mut killed, mut runs) = (0, 0);
    while killed < kills {
        let package = Package::new()?;
        let id = format!("kills-{runs}");
        let run = package.run(&id);
        let mut records = Records::default();
        // Some runs are left alone: whether a case ran once can be seen there only.
        let waves = if runs % 5 == 4 { 0 } else { WAVES };
        for wave in 0..waves {
            killed += self::wave(program, &package, &id, &mut rng)?;
            records = Records::read(&run, &records);
            findings.report(&format!("kills {seed}, run {runs}, wave {wave}"), &records.problems, &run);
        }
        let mut problems = Vec::new();
        for (index, mut test) in start_all(program, &package, &id, "record", &mut rng)? {
            if !wait(&mut test, PATIENCE)? {
                problems.push(format!("case {} did not pass after the kills", CASES[index].0));
            }
        }
        problems.extend(Records::read(&run, &records).problems);
        problems.extend(check_whole_run(&run));
        problems.extend(check_calls(&package, &id, waves == 0));
        problems.extend(check_replay(program, &package)?);
        findings.report(&format!("kills {seed}, run {runs}"), &problems, package.path());
        runs += 1;
    }
    Ok((killed, runs))
}

/// Runs all tests at once, and kills most of them; returns how many were killed before they ended.
fn wave(program: &Path, package: &Package, id: &str, rng: &mut Rng) -> io::Result<usize> {
    let mut tests: Vec<(Duration, Child)> = Vec::new();
    for (_, test) in start_all(program, package, id, "record", rng)? {
        let life = LIFE.mul_f64(rng.f64());
        tests.push((if rng.u8(0..4) == 0 { PATIENCE } else { life }, test));
    }
    tests.sort_by_key(|(life, _)| *life);
    let (began, mut killed) = (Instant::now(), 0);
    for (life, mut test) in tests {
        if life == PATIENCE {
            wait(&mut test, PATIENCE)?;
            continue;
        }
        thread::sleep(life.saturating_sub(began.elapsed()));
        killed += usize::from(test.try_wait()?.is_none());
        test.kill()?;
        test.wait()?;
    }
    Ok(killed)
}

/// The processes of all tests of a run, in any order.
pub(crate) fn start_all(
    program: &Path,
    package: &Package,
    id: &str,
    mode: &str,
    rng: &mut Rng,
) -> io::Result<Vec<(usize, Child)>> {
    let mut order: Vec<usize> = (0..CASES.len()).collect();
    rng.shuffle(&mut order);
    order.into_iter().map(|index| Ok((index, package.test(program, index, id, mode).spawn()?))).collect()
}

/// Whether the process passed within the limit.
pub(crate) fn wait(test: &mut Child, limit: Duration) -> io::Result<bool> {
    let end = Instant::now() + limit;
    while Instant::now() < end {
        if let Some(status) = test.try_wait()? {
            return Ok(status.success());
        }
        thread::sleep(Duration::from_millis(1));
    }
    test.kill()?;
    test.wait()?;
    Ok(false)
}

/// A case of a run that nothing interrupts runs once, also as a dependency of others.
fn check_calls(package: &Package, id: &str, is_undisturbed: bool) -> Vec<String> {
    let mut calls = package.calls(id);
    calls.sort();
    let trials = |(case, _): &(&str, &[&str])| (0..TRIALS).map(|trial| format!("{case} {trial}")).collect::<Vec<_>>();
    let expected: Vec<String> = CASES.iter().flat_map(trials).collect();
    let is_right = if is_undisturbed { calls == expected } else { expected.iter().all(|call| calls.contains(call)) };
    if is_right { Vec::new() } else { vec![format!("the agent's calls are {calls:?}")] }
}

/// What the run recorded replays, and the next run removes what killed processes left beside it.
fn check_replay(program: &Path, package: &Package) -> io::Result<Vec<String>> {
    let mut problems = Vec::new();
    let places = [package.path().join("cassettes"), package.output()];
    let left = |place: &PathBuf| {
        files(place).into_iter().filter(|path| path.extension().is_some_and(|extension| extension == "tmp"))
    };
    for path in places.iter().flat_map(left) {
        // A process that is younger could still be writing it.
        File::options().write(true).open(path)?.set_modified(SystemTime::now() - Duration::from_secs(3_600))?;
    }
    for index in 0..CASES.len() {
        wait(&mut package.test(program, index, "next", "record").spawn()?, PATIENCE)?;
    }
    for (index, (case, ..)) in CASES.iter().enumerate() {
        if !wait(&mut package.test(program, index, "replay", "replay").spawn()?, PATIENCE)? {
            problems.push(format!("the recording of case {case} does not replay"));
        }
    }
    problems.extend(places.iter().flat_map(left).map(|path| format!("{} is left", path.display())));
    Ok(problems)
}
