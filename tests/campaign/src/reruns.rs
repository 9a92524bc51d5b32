//! Test processes that run again and again with one run id, all cases at once.

use std::io;
use std::path::Path;

use fastrand::Rng;

use crate::consistency::{Records, check_whole_run};
use crate::findings::Findings;
use crate::kills::{PATIENCE, start_all, wait};
use crate::victim::{CASES, Package};

/// Starts at least so many processes. Returns how many.
pub(crate) fn run(program: &Path, reruns: usize, seed: u64, findings: &mut Findings) -> io::Result<usize> {
    let (mut rng, package, id) = (Rng::with_seed(seed), Package::new()?, "reruns");
    let run = package.run(id);
    let mut started = 0;
    while started < reruns {
        let mut problems = Vec::new();
        for (index, mut test) in start_all(program, &package, id, "live", &mut rng)? {
            started += 1;
            if !wait(&mut test, PATIENCE)? {
                problems.push(format!("case {} did not pass when it ran again", CASES[index].0));
            }
        }
        problems.extend(Records::read(&run, &Records::default()).problems);
        problems.extend(check_whole_run(&run));
        findings.report(&format!("reruns {seed}, after {started} processes"), &problems, package.path());
    }
    Ok(started)
}
