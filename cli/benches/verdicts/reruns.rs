//! Runs of one commit, again and again: what the comparison says about the first run, and about each rerun.

use fastrand::Rng;

use super::agent::{Rates, Trials};
use super::command::newest;
use super::run_files::{Case, write_run_of};
use super::tables::{cases, share, simulate};

/// How often the same commit runs.
const RUNS: usize = 4;
const CASES: usize = 30;

pub(crate) fn print(simulations: usize) {
    println!("| what changed | rates of the other cases | trials | 1 run | 2 runs | 3 runs | 4 runs | any of them |");
    println!("| --- | --- | ---: |{}", " ---: |".repeat(RUNS + 1));
    let nothing: Change = |_| {};
    let one_case: Change = |rates| rates[0] = 0.0;
    let all_cases: Change = |rates| rates.iter_mut().for_each(|rate| *rate = f64::max(*rate - 0.1, 0.0));
    for (label, change) in [("nothing", nothing), ("one case of 30 broke", one_case), ("every case by 0.1", all_cases)]
    {
        for (name, rates) in [("all 0.9", Rates::All(0.9)), ("stable, 20 % at 0.5", Rates::StableBut(0.2, 0.5))] {
            let trials = 3;
            let found = simulate(simulations, |random| verdicts(rates, change, trials, random));
            let red = |run: usize| format!("{:.1} %", share(&found, |verdicts| verdicts[run]));
            let any = share(&found, |verdicts| verdicts.contains(&true));
            let each = (0..RUNS).map(red).collect::<Vec<_>>().join(" | ");
            println!("| {label} | {name} | {trials} | {each} | {any:.1} % |");
        }
    }
}

type Change = fn(&mut [f64]);

/// Whether the comparison of the newest run is *regressed*, after each run.
fn verdicts(rates: Rates, change: Change, trials: usize, random: &mut Rng) -> [bool; RUNS] {
    let output = tempfile::tempdir().expect("a temporary directory");
    let mut rates = rates.draw(CASES, random);
    // What breaks has passed before.
    rates[0] = 1.0;
    let all = Trials::All(trials);
    let base: Vec<Case> = cases(&rates, all, random);
    write_run_of(output.path(), "0-base", Some("0000000000"), all, &base);
    change(&mut rates);
    std::array::from_fn(|run| {
        let drawn = cases(&rates, all, random);
        write_run_of(output.path(), &format!("{}-run", run + 1), Some("1111111111"), all, &drawn);
        newest(output.path()).verdict == "regressed"
    })
}

/// How often the last of the runs of a commit that has not changed is *regressed*.
pub(crate) fn last_of_unchanged(simulations: usize) -> f64 {
    let found = simulate(simulations, |random| verdicts(Rates::All(0.9), |_| {}, 3, random));
    share(&found, |verdicts| verdicts[RUNS - 1])
}
