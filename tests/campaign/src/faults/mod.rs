//! System calls that fail. A shim of C, which is compiled when it is needed, stands before the C library in a test process.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use std::{fs, io};

use fastrand::Rng;

use crate::consistency::{Records, check_whole_run};
use crate::findings::Findings;
use crate::kills::wait;
use crate::victim::{CASES, Package};

/// Kinds of calls and the errors with which they fail: the number of `errno`, which Linux has on all machines, and its name.
const FAULTS: &[(&str, &[(i32, &str)])] = &[
    ("open", &[(28, "ENOSPC"), (4, "EINTR"), (24, "EMFILE"), (5, "EIO"), (13, "EACCES")]),
    ("write", &[(28, "ENOSPC"), (4, "EINTR"), (5, "EIO")]),
    ("read", &[(4, "EINTR"), (5, "EIO")]),
    ("fsync", &[(28, "ENOSPC"), (4, "EINTR"), (5, "EIO")]),
    ("flock", &[(4, "EINTR"), (37, "ENOLCK")]),
    ("rename", &[(28, "ENOSPC"), (5, "EIO")]),
    ("mkdir", &[(28, "ENOSPC"), (5, "EIO")]),
    ("unlink", &[(5, "EIO"), (1, "EPERM")]),
];
const INTERRUPTED: i32 = 4;
/// Longest time of a test process.
const PATIENCE: Duration = Duration::from_secs(120);

/// Lets at least `faults` calls fail, each in a run of its own, and returns how many did.
pub(crate) fn run(program: &Path, faults: usize, seed: u64, findings: &mut Findings) -> io::Result<usize> {
    let directory = tempfile::tempdir()?;
    let shim = compile(directory.path())?;
    let mut rng = Rng::with_seed(seed);
    let mut counts = Vec::new();
    for (kind, _) in FAULTS {
        counts.push(count(program, &shim, kind)?);
    }
    let every: Vec<(usize, i32, &str)> = (FAULTS.iter().enumerate())
        .flat_map(|(kind, (_, errors))| errors.iter().map(move |(number, name)| (kind, *number, *name)))
        .collect();
    for fault in 0..faults {
        let (kind, number, name) = every[fault % every.len()];
        let fault = Fault { kind: FAULTS[kind].0, call: rng.u32(1..=counts[kind].max(1)), error: number };
        let (package, problems) = one(program, &shim, fault)?;
        let what = format!("faults {}:{name}:{}", fault.kind, fault.call);
        findings.report(&what, &problems, package.path());
    }
    Ok(faults)
}

/// A call that fails.
#[derive(Debug, Clone, Copy)]
struct Fault<'a> {
    kind: &'a str,
    /// Among the calls of its kind, from 1.
    call: u32,
    error: i32,
}

/// Runs a test with a fault, then all tests without one.
fn one(program: &Path, shim: &Path, fault: Fault<'_>) -> io::Result<(Package, Vec<String>)> {
    let package = Package::new()?;
    let run = package.run("faults");
    let mut problems = Vec::new();
    // The last case of a chain runs those that it depends on.
    let mut test = with_fault(package.test(program, 3, "faults", "record"), shim, &package, fault).spawn()?;
    let passed = wait(&mut test, PATIENCE)?;
    let status = test.wait()?;
    if status.code().is_none_or(|code| code != 0 && code != 101) {
        problems.push(format!("the test process ended with {status}"));
    }
    if fault.error == INTERRUPTED && !passed {
        problems.push("a call that was interrupted is not repeated".to_owned());
    }
    let records = Records::read(&run, &Records::default());
    problems.extend(records.problems.iter().cloned());
    let mut of_run = Vec::new();
    // The first test of a case reports what was found out when it ran for another case.
    for _ in 0..2 {
        for index in 0..CASES.len() {
            wait(&mut package.test(program, index, "faults", "record").spawn()?, PATIENCE)?;
        }
        of_run = Records::read(&run, &records).problems;
        of_run.extend(check_whole_run(&run));
        if of_run.is_empty() {
            break;
        }
    }
    problems.extend(of_run);
    Ok((package, problems))
}

fn with_fault(mut test: Command, shim: &Path, package: &Package, fault: Fault<'_>) -> Command {
    test.env("LD_PRELOAD", shim).env("FAULT_BELOW", package.path()).env("EVALSUITE_DURABLE", "1");
    test.env("FAULT_KIND", fault.kind).env("FAULT_CALL", fault.call.to_string());
    test.env("FAULT_ERROR", fault.error.to_string());
    test
}

/// How many calls of a kind a test makes.
fn count(program: &Path, shim: &Path, kind: &str) -> io::Result<u32> {
    let package = Package::new()?;
    let file = package.path().join("count");
    let fault = Fault { kind, call: 0, error: 0 };
    let mut test = with_fault(package.test(program, 3, "faults", "record"), shim, &package, fault);
    if !wait(&mut test.env("FAULT_COUNT", &file).spawn()?, PATIENCE)? {
        return Err(io::Error::other("the test does not pass without a fault"));
    }
    fs::read_to_string(file)?.parse().map_err(io::Error::other)
}

fn compile(directory: &Path) -> io::Result<PathBuf> {
    let shim = directory.join("shim.so");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/faults/shim.c");
    let status = Command::new("cc").args(["-shared", "-fPIC", "-O1", "-o"]).arg(&shim).arg(source).arg("-ldl").status();
    match status {
        Ok(status) if status.success() => Ok(shim),
        Ok(status) => Err(io::Error::other(format!("`cc` cannot compile the shim: {status}"))),
        Err(error) => Err(io::Error::new(error.kind(), format!("faults need a C compiler: `cc`: {error}"))),
    }
}
