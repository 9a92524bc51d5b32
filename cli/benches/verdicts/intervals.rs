//! How often the intervals of a comparison contain the truth.

use fastrand::Rng;

use super::agent::Trials;
use super::command::diff;
use super::run_files::{Case, write_run};
use super::tables::{share, simulate};

/// A population of cases, from which those of a suite are drawn.
struct Population {
    name: &'static str,
    /// The rates of a case before and after the change.
    case: fn(&mut Rng) -> [f64; 2],
    /// Cases of a cluster, which have the same rates.
    cluster: usize,
}

const POPULATIONS: [Population; 9] = [
    Population { name: "any rate, better by 0.1 ± 0.2", case: any_rate, cluster: 1 },
    Population { name: "0.85 and 0.3, better by 0.1 ± 0.2", case: easy_and_hard, cluster: 1 },
    Population { name: "1 % lose everything, others always pass", case: |random| rare(random, 0.01, 1.0), cluster: 1 },
    Population { name: "2 % lose everything, others always pass", case: |random| rare(random, 0.02, 1.0), cluster: 1 },
    Population { name: "4 % lose everything, others always pass", case: |random| rare(random, 0.04, 1.0), cluster: 1 },
    Population { name: "10 % lose everything, others always pass", case: |random| rare(random, 0.1, 1.0), cluster: 1 },
    Population { name: "4 % lose everything, others 0.95", case: |random| rare(random, 0.04, 0.95), cluster: 1 },
    Population { name: "any rate, better by 0.1 ± 0.2, clusters of 4", case: any_rate, cluster: 4 },
    Population { name: "10 % lose everything, clusters of 4", case: |random| rare(random, 0.1, 1.0), cluster: 4 },
];

fn better(rate: f64, random: &mut Rng) -> [f64; 2] {
    let change = 0.1 + 0.2 * (random.f64() - random.f64());
    [rate, (rate + change).clamp(0.0, 1.0)]
}

fn any_rate(random: &mut Rng) -> [f64; 2] {
    let rate = 0.1 + 0.8 * random.f64();
    better(rate, random)
}

fn easy_and_hard(random: &mut Rng) -> [f64; 2] {
    let rate = if random.bool() { 0.85 } else { 0.3 };
    better(rate, random)
}

fn rare(random: &mut Rng, share: f64, rate: f64) -> [f64; 2] {
    [rate, if random.f64() < share { 0.0 } else { rate }]
}

pub(crate) fn print(simulations: usize) {
    println!("| cases | of them | trials | in the interval | mean width |\n| --- | --- | --- | ---: | ---: |");
    for Population { name, case, cluster } in &POPULATIONS {
        let truth = mean_change(*case);
        for (count, trials) in [(20, 1), (20, 5), (40, 3), (100, 1), (100, 5)] {
            let found = simulate(simulations, |random| interval(*case, count, *cluster, Trials::All(trials), random));
            let covered = share(&found, |(lower, upper)| lower - 1e-9 <= truth && truth <= upper + 1e-9);
            let width = found.iter().map(|(lower, upper)| upper - lower).sum::<f64>() / found.len() as f64;
            println!("| {name} | {} | {trials} | {covered:.1} % | {width:.3} |", count * cluster);
        }
    }
}

fn interval(
    case: fn(&mut Rng) -> [f64; 2],
    clusters: usize,
    size: usize,
    trials: Trials,
    random: &mut Rng,
) -> (f64, f64) {
    let output = tempfile::tempdir().expect("a temporary directory");
    let rates: Vec<[f64; 2]> = (0..clusters).map(|_| case(random)).collect();
    for (side, id) in ["base", "run"].into_iter().enumerate() {
        let of = |index: usize, random: &mut Rng| {
            let mut case = Case::new(trials.draw(rates[index / size][side], random));
            case.group = (size > 1).then_some([index / size, 0]);
            case
        };
        let cases: Vec<Case> = (0..clusters * size).map(|index| of(index, random)).collect();
        write_run(output.path(), id, trials, &cases);
    }
    let said = diff(output.path(), if size > 1 { &["--cluster-by", "group"] } else { &[] });
    let end = |index: usize| said.suite["interval"][index].as_f64().expect("there is an interval");
    (end(0), end(1))
}

/// How often the interval contains the mean change, of the first population.
pub(crate) fn covered(simulations: usize) -> f64 {
    let Population { case, .. } = &POPULATIONS[0];
    let truth = mean_change(*case);
    let found = simulate(simulations, |random| interval(*case, 40, 1, Trials::All(3), random));
    share(&found, |(lower, upper)| lower - 1e-9 <= truth && truth <= upper + 1e-9)
}

/// The mean change of all cases of a population.
fn mean_change(case: fn(&mut Rng) -> [f64; 2]) -> f64 {
    let mut random = Rng::with_seed(1);
    let changes = (0..1_000_000).map(|_| case(&mut random));
    changes.map(|[before, after]| after - before).sum::<f64>() / 1e6
}
