//! Counts of instructions, by callgrind.

use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::prepared_package::{PreparedPackage, test_command};

/// Loading all cases, as the test of the suite itself does it.
pub(super) fn of_loading(program: &Path, package: &PreparedPackage) -> Result<u64> {
    let PreparedPackage { package, .. } = package;
    let suite = &package.cases.suites()[0];
    count(program, package, &format!("{suite}::suite_check"))
}

/// One test with an agent that does nothing. It belongs to a run that another test has begun.
pub(super) fn of_one_trial(program: &Path, package: &PreparedPackage) -> Result<u64> {
    let PreparedPackage { package, .. } = package;
    let name = |case| package.cases.test_path(case).name();
    let first = test_command(program, package).env("NEXTEST_RUN_ID", "held").args(["--exact", &name(0)]).output();
    if !first.context("the first test cannot be started")?.status.success() {
        bail!("the first test of the run does not pass");
    }
    count(program, package, &name(package.cases.middle()))
}

fn count(program: &Path, package: &crate::package::Package, test: &str) -> Result<u64> {
    let of_program = test_command(program, package);
    let mut command = std::process::Command::new("valgrind");
    command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]).arg(program).args(["--exact", test]);
    command.current_dir(&package.root).env("NEXTEST_RUN_ID", "held");
    for (name, value) in of_program.get_envs() {
        if let Some(value) = value {
            command.env(name, value);
        }
    }
    let output = command.output().context("valgrind cannot be started (apt-get install valgrind)")?;
    let text = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        bail!("`{test}` does not pass under callgrind: {text}{}", String::from_utf8_lossy(&output.stdout));
    }
    collected(&text).with_context(|| format!("callgrind does not say what it counted: {text}"))
}

fn collected(text: &str) -> Option<u64> {
    text.lines().find_map(|line| line.split_once("Collected : ")?.1.trim().parse().ok())
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_count_is_in_the_last_lines_of_callgrind() {
        let text = "==7== Events    : Ir\n==7== Collected : 651393424\n==7== \n==7== I   refs:      651,393,424\n";
        assert_eq!(super::collected(text), Some(651_393_424));
    }
}
