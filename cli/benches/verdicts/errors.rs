//! Runs in which trials end in an error.

use fastrand::Rng;

use super::agent::{Rates, Trials};
use super::command::{Said, diff};
use super::run_files::{Case, write_run};
use super::tables::{print_verdicts, share, simulate};

/// Which trials end in an error.
#[derive(Debug, Clone, Copy)]
enum Hit {
    /// Any, in both runs.
    Any,
    /// In the run, those that would have failed first.
    Failing,
}

const CHANGES: [(&str, f64); 2] = [("unchanged", 0.0), ("every case by 0.1", 0.1)];

const RATES: [(&str, Rates); 3] =
    [("uniform", Rates::Uniform), ("all 0.9", Rates::All(0.9)), ("always 1", Rates::All(1.0))];

pub(crate) fn print(simulations: usize) {
    println!(
        "| agent | rates | cases | trials | in error | regressed | improved | unchanged | undecided | same verdict as without errors |"
    );
    println!("| --- | --- | --- | --- | --- | ---: | ---: | ---: | ---: | ---: |");
    for (change, by) in CHANGES {
        for (name, rates) in RATES {
            for (count, trials) in [(100, 3), (100, 1)] {
                for (label, errors, hit) in [
                    ("1 %", 0.01, Hit::Any),
                    ("3 %", 0.03, Hit::Any),
                    ("5 %", 0.05, Hit::Any),
                    ("1 %, failing ones", 0.01, Hit::Failing),
                    ("5 %, failing ones", 0.05, Hit::Failing),
                ] {
                    let design = (rates, by, count, trials, errors, hit);
                    let pairs = simulate(simulations, |random| compare(design, random));
                    let same = share(&pairs, |[said, complete]| (said.status == 1) == (complete.status == 1));
                    let said: Vec<Said> = pairs.into_iter().map(|[said, _]| said).collect();
                    print_verdicts(&format!("{change} | {name} | {count} | {trials} | {label}"), &said, Some(same));
                }
            }
        }
    }
}

/// What the command says, and what it says if no trial ends in an error.
fn compare(
    (rates, by, count, trials, errors, hit): (Rates, f64, usize, usize, f64, Hit),
    random: &mut Rng,
) -> [Said; 2] {
    let output = tempfile::tempdir().expect("a temporary directory");
    let rates = rates.draw(count, random);
    let worse: Vec<f64> = rates.iter().map(|rate| f64::max(rate - by, 0.0)).collect();
    let all = Trials::All(trials);
    let complete = [&rates, &worse].map(|rates| rates.iter().map(|rate| Case::new(all.draw(*rate, random))).collect());
    let write = |runs: &[Vec<Case>; 2]| {
        write_run(output.path(), "base", all, &runs[0]);
        write_run(output.path(), "run", all, &runs[1]);
        diff(output.path(), &[])
    };
    let without = write(&complete);
    let mut with = complete;
    match hit {
        Hit::Any => {
            for case in with.iter_mut().flatten() {
                let before = case.trials.len();
                case.trials.retain(|_| random.f64() >= errors);
                case.errors = before - case.trials.len();
            }
        }
        Hit::Failing => {
            let mut left = (errors * (count * trials) as f64).round() as usize;
            for case in &mut with[1] {
                let before = case.trials.len();
                case.trials.retain(|passes| {
                    let is_hit = !passes && left > 0;
                    left -= usize::from(is_hit);
                    !is_hit
                });
                case.errors = before - case.trials.len();
            }
        }
    }
    [write(&with), without]
}

/// How often the verdict is that without errors.
pub(crate) fn same_verdict(simulations: usize) -> f64 {
    let design = (Rates::All(0.9), 0.1, 100, 3, 0.01, Hit::Any);
    let pairs = simulate(simulations, |random| compare(design, random));
    share(&pairs, |[said, complete]| said.status == complete.status)
}
