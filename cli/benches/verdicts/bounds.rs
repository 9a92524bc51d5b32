//! How often bounds are on the wrong side of the truth: those of the scores of a case, as they decide it, and gates on rates.

use evalsuite::__private::end_case;
use evalsuite::record::Status;
use evalsuite::schema::{Strategy, SuiteKind};
use evalsuite_records::trial_statistics::{binomial_at_least, bounded_interval, guaranteed_interval};
use evalsuite_report::wilson_interval;
use fastrand::Rng;

use super::agent::Trials;
use super::command::gate;
use super::run_files::{Case, write_run};
use super::tables::{share, simulate};

/// Scores of trials, and their mean.
struct Population {
    name: &'static str,
    draw: fn(&mut Rng) -> f64,
    mean: f64,
}

const POPULATIONS: [Population; 9] = [
    Population { name: "0 or 1, 0.8", draw: |random| zero_or(1.0, 0.8, random), mean: 0.8 },
    Population { name: "0 or 1, 0.95", draw: |random| zero_or(1.0, 0.95, random), mean: 0.95 },
    Population { name: "0, 0.5 or 1", draw: |random| [0.0, 0.5, 1.0, 1.0, 1.0][random.usize(..5)], mean: 0.7 },
    Population { name: "uniform", draw: Rng::f64, mean: 0.5 },
    Population { name: "near 1", draw: |random| 1.0 - random.f64().powi(9), mean: 0.9 },
    Population { name: "around 0.8", draw: |random| 0.7 + 0.2 * random.f64(), mean: 0.8 },
    Population { name: "0.9, seldom 0", draw: |random| zero_or(0.9, 0.9, random), mean: 0.81 },
    Population { name: "0.6, seldom 1", draw: |random| 0.6 + zero_or(0.4, 0.1, random), mean: 0.64 },
    Population { name: "1, seldom 0.5", draw: |random| 1.0 - zero_or(0.5, 0.2, random), mean: 0.9 },
];

fn zero_or(value: f64, chance: f64, random: &mut Rng) -> f64 {
    if random.f64() < chance { value } else { 0.0 }
}

pub(crate) fn print(simulations: usize) {
    cases(simulations);
    gates();
    rates(simulations);
}

/// A case with `strategy: confidence_interval`, whose threshold is just above its mean score: how often it passes.
fn cases(simulations: usize) {
    println!("| scores | mean | trials | passes | upper end below the mean | lower end | upper end |");
    println!("| --- | ---: | ---: | ---: | ---: | ---: | ---: |");
    for Population { name, draw, mean } in &POPULATIONS {
        for trials in [1, 3, 5, 10, 20] {
            let found = simulate(simulations * 10, |random| {
                let (outcome, scores) = outcome(*draw, *mean, trials, random);
                (outcome, guaranteed_interval(&scores).expect("there are scores"))
            });
            let passes = share(&found, |(outcome, _)| *outcome == Status::Passed);
            let below = share(&found, |(_, (_, upper))| *upper < mean - 1e-9);
            let ends = [0, 1].map(|end| {
                let of = |(_, (lower, upper)): &(Status, (f64, f64))| [*lower, *upper][end];
                found.iter().map(of).sum::<f64>() / found.len() as f64
            });
            println!("| {name} | {mean} | {trials} | {passes:.1} % | {below:.1} % | {:.2} | {:.2} |", ends[0], ends[1]);
        }
    }
}

/// True rates of passing, of all cases.
const RATES: [f64; 7] = [0.8, 0.85, 0.88, 0.9, 0.92, 0.95, 0.98];

/// How often a gate is met: what the command says about each number of passed cases, by the binomial probability of that number.
fn gates() {
    println!("\n| gate | cases | {} |", RATES.map(|rate| format!("{rate:.2}")).join(" | "));
    println!("| --- | ---: |{}", " ---: |".repeat(RATES.len()));
    for limit in ["pass_rate >= 90%", "lower(pass_rate) >= 90%", "lower(pass_rate) >= 80%"] {
        for cases in [10, 20, 50, 100, 200] {
            let is_met = |passed: usize| {
                let output = tempfile::tempdir().expect("a temporary directory");
                let cases: Vec<Case> = (0..cases).map(|case| Case::new(vec![case < passed])).collect();
                write_run(output.path(), "run", Trials::All(1), &cases);
                gate(output.path(), limit)
            };
            // It is met from some number on.
            let least = (0..=cases).rev().take_while(|passed| is_met(*passed)).last();
            let met = |rate: f64| least.map_or(0.0, |least| 100.0 * at_least(least, cases, rate));
            let met = RATES.map(|rate| format!("{:.1} %", met(rate))).join(" | ");
            println!("| {limit} | {cases} | {met} |");
        }
    }
}

fn at_least(passed: usize, trials: usize, rate: f64) -> f64 {
    binomial_at_least(passed as u32, trials as u32, rate)
}

/// The intervals of rates (Wilson's) and of the scores of suites.
fn rates(simulations: usize) {
    println!(
        "\n| interval | cases | contains the truth, least and mean over rates of 0.01 to 0.99 | lower end above it, most |"
    );
    println!("| --- | ---: | ---: | ---: |");
    for cases in [5, 10, 20, 50, 100, 200] {
        let mut shares = Vec::new();
        let mut above = 0.0_f64;
        for rate in (1..100).map(|percent| f64::from(percent) / 100.0) {
            let (mut inside, mut lower_above) = (0.0, 0.0);
            for passed in 0..=cases {
                let (lower, upper) = wilson_interval(passed as u32, cases as u32).expect("there are cases");
                let probability = at_least(passed, cases, rate)
                    - if passed < cases { at_least(passed + 1, cases, rate) } else { 0.0 };
                inside += if lower <= rate && rate <= upper { probability } else { 0.0 };
                lower_above += if lower > rate { probability } else { 0.0 };
            }
            shares.push(100.0 * inside);
            above = above.max(100.0 * lower_above);
        }
        let least = shares.iter().copied().fold(100.0, f64::min);
        let mean = shares.iter().sum::<f64>() / shares.len() as f64;
        println!("| pass rate | {cases} | {least:.1} %, {mean:.1} % | {above:.1} % |");
    }
    println!("\n| score of a suite, cases | cases | contains the mean | mean width |\n| --- | ---: | ---: | ---: |");
    for Population { name, draw, mean } in &POPULATIONS {
        for cases in [2, 5, 20, 100] {
            let found = simulate(simulations * 5, |random| {
                let scores: Vec<f64> = (0..cases).map(|_| draw(random)).collect();
                bounded_interval(&scores, None, [0.0, 1.0]).expect("there are scores")
            });
            let covered = share(&found, |(lower, upper)| lower - 1e-9 <= *mean && *mean <= upper + 1e-9);
            let width = found.iter().map(|(lower, upper)| upper - lower).sum::<f64>() / found.len() as f64;
            println!("| {name} | {cases} | {covered:.1} % | {width:.2} |");
        }
    }
}

/// How often a case passes whose threshold is just above its mean score.
pub(crate) fn passes_below_threshold(simulations: usize) -> f64 {
    let Population { draw, mean, .. } = &POPULATIONS[1];
    let outcomes = simulate(simulations * 10, |random| outcome(*draw, *mean, 3, random).0);
    share(&outcomes, |outcome| *outcome == Status::Passed)
}

/// How a case ends whose threshold is just above its mean score, and the scores of its trials.
fn outcome(draw: fn(&mut Rng) -> f64, mean: f64, trials: usize, random: &mut Rng) -> (Status, Vec<f64>) {
    let scores: Vec<f64> = (0..trials).map(|_| draw(random)).collect();
    let threshold = mean + 1e-6;
    let ended = |score: &f64| (if *score >= threshold { Status::Passed } else { Status::Failed }, Some(*score));
    let points: Vec<(Status, Option<f64>)> = scores.iter().map(ended).collect();
    let strategy = (SuiteKind::Capability, Some(Strategy::ConfidenceInterval));
    (end_case(strategy, threshold, 0, &points).0, scores)
}
