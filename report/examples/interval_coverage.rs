//! Measures how often the intervals of comparisons contain the truth: `interval_coverage [SIMULATIONS]`.
//!
//! Cases are drawn from a population in which the change of the agent differs from case to case, then trials of both runs. An interval at
//! 95 % should contain the mean change of the population in 95 of 100 simulations, however few cases there are. The exit status is 1 if
//! a share is more than 1.5 points away from that.

use std::process::ExitCode;

use evalsuite_report::{paired_interval, wilson_interval};
use fastrand::Rng;

const NOMINAL: f64 = 0.95;
const TOLERANCE: f64 = 0.015;

/// A population of cases.
struct Population {
    name: &'static str,
    /// Whether scores are 0 or 1.
    is_binary: bool,
    /// Whether cases are either easy or hard; else any difficulty is as likely.
    is_bimodal: bool,
    /// Mean change of the agent.
    effect: f64,
    /// Cases that have the same difficulty and change.
    cluster: usize,
}

const POPULATIONS: [Population; 4] = [
    Population { name: "pass or fail", is_binary: true, is_bimodal: false, effect: 0.1, cluster: 1 },
    Population { name: "easy and hard", is_binary: true, is_bimodal: true, effect: 0.1, cluster: 1 },
    Population { name: "scores", is_binary: false, is_bimodal: false, effect: 0.05, cluster: 1 },
    Population { name: "clusters of 4", is_binary: true, is_bimodal: false, effect: 0.1, cluster: 4 },
];

impl Population {
    /// Chances, or true scores, of a case in both runs.
    fn case(&self, random: &mut Rng) -> [f64; 2] {
        let before = match self.is_bimodal {
            true if random.bool() => 0.85,
            true => 0.3,
            false => 0.1 + 0.8 * random.f64(),
        };
        let change = self.effect + 0.2 * (random.f64() - random.f64());
        [before, (before + change).clamp(0.0, 1.0)]
    }

    fn trial(&self, truth: f64, random: &mut Rng) -> f64 {
        if self.is_binary { f64::from(u8::from(random.f64() < truth)) } else { truth + 0.3 * (random.f64() - 0.5) }
    }

    /// Mean change in the population.
    fn truth(&self, random: &mut Rng) -> f64 {
        let changes = (0..1_000_000).map(|_| {
            let [before, after] = self.case(random);
            after - before
        });
        changes.sum::<f64>() / 1e6
    }

    /// Share of intervals that contain the truth.
    fn coverage(&self, clusters: usize, trials: u32, simulations: u32, random: &mut Rng) -> f64 {
        let truth = self.truth(random);
        let mut hits = 0;
        for _ in 0..simulations {
            let (mut differences, mut numbers) = (Vec::new(), Vec::new());
            for cluster in 0..clusters {
                let case = self.case(random);
                for _ in 0..self.cluster {
                    let [before, after] = case
                        .map(|truth| (0..trials).map(|_| self.trial(truth, random)).sum::<f64>() / f64::from(trials));
                    differences.push(after - before);
                    numbers.push(cluster);
                }
            }
            let (lower, upper) = paired_interval(&differences, &numbers).expect("several clusters");
            hits += u32::from(lower - 1e-12 <= truth && truth <= upper + 1e-12);
        }
        f64::from(hits) / f64::from(simulations)
    }
}

/// Share of Wilson's intervals that contain the rate, on average over rates from 0.05 to 0.95.
fn wilson_coverage(cases: u32, simulations: u32, random: &mut Rng) -> f64 {
    let mut hits = 0;
    for _ in 0..simulations {
        let rate = 0.05 + 0.9 * random.f64();
        let passed = (0..cases).filter(|_| random.f64() < rate).count();
        let (lower, upper) = wilson_interval(u32::try_from(passed).expect("few cases"), cases).expect("cases");
        hits += u32::from(lower <= rate && rate <= upper);
    }
    f64::from(hits) / f64::from(simulations)
}

fn main() -> ExitCode {
    let simulations = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(2_000);
    let mut random = Rng::with_seed(1);
    let mut is_nominal = true;
    let mut show = |name: &str, cases: usize, trials: u32, coverage: f64| {
        let is_off = (coverage - NOMINAL).abs() > TOLERANCE;
        is_nominal &= !is_off;
        let mark = if is_off { "  more than 1.5 points off" } else { "" };
        println!("{name:<16} {cases:>4} cases  {trials} trials  {:>5.1} %{mark}", 100.0 * coverage);
    };
    for population in &POPULATIONS {
        for trials in [1, 3, 5] {
            for clusters in [20, 40, 100] {
                let coverage = population.coverage(clusters, trials, simulations, &mut random);
                show(population.name, clusters * population.cluster, trials, coverage);
            }
        }
    }
    for cases in [20, 40, 100] {
        show("rate (Wilson)", cases as usize, 1, wilson_coverage(cases, 10 * simulations, &mut random));
    }
    if is_nominal { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
