//! One line for every verdict that a user can see: what it claims, and what a few simulations of it measure. The README shows the table,
//! and a test compares it with what the command says today; the other tables have more simulations and more designs.

use fastrand::Rng;

use super::agent::{Rates, Trials};
use super::command::Said;
use super::tables::{cases, compare, share};
use super::{alike, bounds, errors, histories, intervals, judges, lift, reruns, sequential};

/// Simulations of each claim that a test has time for.
pub(crate) const FEW: usize = 4;
/// Simulations of each claim that are shown beside them.
const MANY: usize = 40;

/// A statement about agents whose rates of passing are known.
struct Claim {
    claims: &'static str,
    of: &'static str,
    /// The table that has more of it.
    table: &'static str,
    measure: fn(usize) -> f64,
}

const CLAIMS: &[Claim] = &[
    Claim {
        claims: "`diff`: an unchanged agent is *regressed* in at most 4.5 %",
        of: "any rates, 50 cases, 3 trials",
        table: "unchanged",
        measure: |simulations| regressed(&unchanged(simulations, Rates::Uniform, Trials::All(3))),
    },
    Claim {
        claims: "the same, where trials stop early",
        of: "all 0.5, 50 cases, until one of 5 passes",
        table: "early",
        measure: |simulations| regressed(&unchanged(simulations, Rates::All(0.5), Trials::UntilPass(5))),
    },
    Claim {
        claims: "the same, where all trials of a case in a run are equal",
        of: "any rates, 20 cases, 3 trials",
        table: "alike",
        measure: alike::of_equal_trials,
    },
    Claim {
        claims: "`diff`: a loss of 0.1 is *regressed* in most runs",
        of: "all 0.9, 100 cases, 3 trials",
        table: "power",
        measure: |simulations| regressed(&worse(simulations, Rates::All(0.9), 100, |rate| f64::max(rate - 0.1, 0.0))),
    },
    Claim {
        claims: "`diff`: one of thirty stable cases that breaks is found",
        of: "all 1, 30 cases, 3 trials",
        table: "power",
        measure: one_broke,
    },
    Claim {
        claims: "`diff`: errors in 1 % of trials leave the verdict",
        of: "all 0.9, worse by 0.1, 100 cases, 3 trials",
        table: "errors",
        measure: errors::same_verdict,
    },
    Claim {
        claims: "`diff`: the interval contains the mean change in 95 %",
        of: "any rate, better by 0.1 ± 0.2, 40 cases, 3 trials",
        table: "intervals",
        measure: intervals::covered,
    },
    Claim {
        claims: "four runs of one unchanged commit: the last is *regressed* in at most 4.5 %",
        of: "all 0.9, 30 cases, 3 trials",
        table: "reruns",
        measure: reruns::last_of_unchanged,
    },
    Claim {
        claims: "a baseline of thirty accepted runs: at most 5 % of them are red or *regressed*",
        of: "all 0.9, 30 cases, 3 trials",
        table: "histories",
        measure: histories::red_or_regressed,
    },
    Claim {
        claims: "a case that has always passed and breaks fails its test",
        of: "all 0.9, 30 cases, 2 trials",
        table: "broken",
        measure: histories::found_broken,
    },
    Claim {
        claims: "`run --until-decided`: a loss as large as the margin is *within* it in at most 5 %",
        of: "0.9 to 0.8, 30 cases of 10 trials, margin 10 %",
        table: "sequential",
        measure: sequential::within_though_worse,
    },
    Claim {
        claims: "`strategy: confidence_interval`: a case below its threshold passes in at most 2.5 %",
        of: "0 or 1, 0.95, 3 trials",
        table: "bounds",
        measure: bounds::passes_below_threshold,
    },
    Claim {
        claims: "`lift > 0`: a skill without an effect meets it in at most 2.5 %",
        of: "any rate, 20 cases, 3 trials",
        table: "lift",
        measure: |simulations| lift::met(simulations)[0],
    },
    Claim {
        claims: "`lift > 0`: a skill that adds 0.4 meets it in most runs",
        of: "any rate, 20 cases, 3 trials",
        table: "lift",
        measure: |simulations| lift::met(simulations)[1],
    },
    Claim {
        claims: "`health`: an unchanged judge has *drifted* in at most 5 %",
        of: "agreement 0.9, 100 samples, 5 judges",
        table: "judges",
        measure: judges::unchanged_drift,
    },
];

/// Claims, made-up agents and tables, with what so many simulations measure.
pub(crate) fn measured(simulations: usize) -> Vec<(String, String)> {
    let row = |claim: &Claim| {
        let Claim { claims, of, table, measure } = claim;
        (format!("| {claims} | {of} | `{table}` |"), format!("{:.1} %", measure(simulations)))
    };
    CLAIMS.iter().map(row).collect()
}

/// The table of the documents.
pub(crate) fn table() -> String {
    let mut text = format!("| claim | made-up agents | table | measured | first {FEW} |\n|---|---|---|---:|---:|\n");
    for ((claim, many), (_, few)) in measured(MANY).into_iter().zip(measured(FEW)) {
        text.push_str(&format!("{claim} {many} | {few} |\n"));
    }
    text
}

pub(crate) fn print(_: usize) {
    print!("{}", table());
}

fn regressed(said: &[Said]) -> f64 {
    share(said, |said| said.is("regressed"))
}

fn unchanged(simulations: usize, rates: Rates, trials: Trials) -> Vec<Said> {
    compare(simulations, [trials; 2], &[], |random| {
        let rates = rates.draw(50, random);
        [cases(&rates, trials, random), cases(&rates, trials, random)]
    })
}

fn worse(simulations: usize, rates: Rates, count: usize, change: fn(f64) -> f64) -> Vec<Said> {
    let trials = Trials::All(3);
    compare(simulations, [trials; 2], &[], |random| {
        let rates = rates.draw(count, random);
        let worse: Vec<f64> = rates.iter().map(|rate| change(*rate)).collect();
        [cases(&rates, trials, random), cases(&worse, trials, random)]
    })
}

fn one_broke(simulations: usize) -> f64 {
    let trials = Trials::All(3);
    let said = compare(simulations, [trials; 2], &[], |random: &mut Rng| {
        let mut rates = vec![1.0; 30];
        let base = cases(&rates, trials, random);
        rates[0] = 0.0;
        [base, cases(&rates, trials, random)]
    });
    regressed(&said)
}
