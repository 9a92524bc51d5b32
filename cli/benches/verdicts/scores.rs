//! Scores between 0 and 1, and suites whose two runs do not have the same trials: cases that are missing in one of them, errors in one, more
//! trials in one, clusters.

use fastrand::Rng;

use super::agent::Trials;
use super::command::{diff, gate_status};
use super::lift::set_arm;
use super::run_files::{Case, SuiteFiles, write_record, write_run};
use super::tables::{share, simulate};

/// How cases are scored. A case has a level, and each of its trials a score.
struct Scores {
    name: &'static str,
    level: fn(&mut Rng) -> f64,
    score: fn(f64, &mut Rng) -> f64,
}

const SCORES: [Scores; 6] = [
    Scores { name: "0 or 1", level: Rng::f64, score: |level, random| one_with(level, random) },
    Scores { name: "a judge's, in tenths", level: |random| 0.3 + 0.7 * random.f64(), score: tenths },
    Scores { name: "three assertions", level: Rng::f64, score: thirds },
    Scores { name: "0.9 to 1, seldom 0", level: |random| 0.9 + 0.1 * random.f64(), score: seldom_zero },
    Scores { name: "0, seldom 1", level: |random| 0.1 * random.f64(), score: |level, random| one_with(level, random) },
    Scores { name: "no two equal", level: Rng::f64, score: |level, random| 0.5 * level + 0.5 * random.f64() },
];

/// Scores from this one on pass.
const THRESHOLD: f64 = 0.8;

fn one_with(chance: f64, random: &mut Rng) -> f64 {
    f64::from(u8::from(random.f64() < chance))
}

/// Around the level, by a sum of three uniform numbers.
fn tenths(level: f64, random: &mut Rng) -> f64 {
    let noise = (0..3).map(|_| random.f64() - 0.5).sum::<f64>() * 0.3;
    ((level + noise).clamp(0.0, 1.0) * 10.0).round() / 10.0
}

fn thirds(level: f64, random: &mut Rng) -> f64 {
    (0..3).map(|_| one_with(level, random)).sum::<f64>() / 3.0
}

fn seldom_zero(level: f64, random: &mut Rng) -> f64 {
    if random.f64() < 0.05 { 0.0 } else { level }
}

/// How two runs differ in more than their scores.
#[derive(Clone, Copy, Default)]
struct Unequal {
    /// Cases of a cluster, most of which come out alike.
    cluster: usize,
    /// Share of the cases that the run does not have.
    missing: f64,
    /// Share of the trials of the run that end in an error.
    errors: f64,
}

/// Cases, trials of each in base and run, and what else differs.
const DESIGNS: [(&str, usize, [usize; 2], Unequal); 7] = [
    ("nothing", 20, [1, 1], Unequal { cluster: 1, missing: 0.0, errors: 0.0 }),
    ("nothing", 40, [3, 3], Unequal { cluster: 1, missing: 0.0, errors: 0.0 }),
    ("more trials in the base", 30, [5, 1], Unequal { cluster: 1, missing: 0.0, errors: 0.0 }),
    ("more trials in the run", 30, [1, 3], Unequal { cluster: 1, missing: 0.0, errors: 0.0 }),
    ("5 % of the cases missing in the run", 40, [2, 2], Unequal { cluster: 1, missing: 0.05, errors: 0.0 }),
    ("2 % of the run's trials in error", 40, [2, 2], Unequal { cluster: 1, missing: 0.0, errors: 0.02 }),
    ("clusters of 4, most alike", 60, [2, 2], Unequal { cluster: 4, missing: 0.0, errors: 0.0 }),
];

/// How the level of a case changes.
type Change = fn(f64, &mut Rng) -> f64;

const CHANGES: [(&str, Change); 2] = [("nothing", |level, _| level), ("some cases", changed)];

/// A fifth of the cases lose half of their level, the others gain or lose a little.
fn changed(level: f64, random: &mut Rng) -> f64 {
    if random.f64() < 0.2 { 0.5 * level } else { (level + 0.1 * (random.f64() - 0.5)).clamp(0.0, 1.0) }
}

/// What the command says about two runs: its verdict, and the ends of its interval.
type Found = (String, [f64; 2]);

pub(crate) fn print(simulations: usize) {
    println!(
        "| scores | what differs between the runs | cases | trials | changed | regressed | improved | undecided | interval above the mean | below it | width |"
    );
    println!("| --- | --- | ---: | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |");
    for scores in &SCORES {
        for (name, change) in CHANGES {
            let truth = mean_change(scores, change);
            for (differs, cases, trials, unequal) in DESIGNS {
                let found: Vec<Found> =
                    simulate(simulations, |random| compare(scores, change, cases, trials, unequal, random));
                let is = |verdict: &str| share(&found, |(said, _)| said == verdict);
                let above = share(&found, |(_, [lower, _])| *lower > truth + 1e-9);
                let below = share(&found, |(_, [_, upper])| *upper < truth - 1e-9);
                let width = found.iter().map(|(_, [lower, upper])| upper - lower).sum::<f64>() / found.len() as f64;
                let [base, run] = trials;
                println!(
                    "| {} | {differs} | {cases} | {base}, {run} | {name} | {:.1} % | {:.1} % | {:.1} % | {above:.1} % | {below:.1} % | {width:.3} |",
                    scores.name,
                    is("regressed"),
                    is("improved"),
                    is("undecided"),
                );
            }
        }
    }
    lifts(simulations);
}

fn compare(
    scores: &Scores,
    change: Change,
    cases: usize,
    trials: [usize; 2],
    unequal: Unequal,
    random: &mut Rng,
) -> Found {
    let output = tempfile::tempdir().expect("a temporary directory");
    let Unequal { cluster, missing, errors } = unequal;
    let levels: Vec<[f64; 2]> = levels(scores, change, cases / cluster, random);
    for (side, id) in ["base", "run"].into_iter().enumerate() {
        let mut drawn: Vec<Case> = Vec::new();
        for level in &levels {
            let draw =
                |random: &mut Rng| (0..trials[side]).map(|_| (scores.score)(level[side], random)).collect::<Vec<f64>>();
            let first = draw(random);
            for member in 0..cluster {
                let is_alike = member == 0 || random.f64() < 0.7;
                drawn.push(Case::scored(if is_alike { first.clone() } else { draw(random) }, THRESHOLD));
            }
        }
        for (index, case) in drawn.iter_mut().enumerate() {
            case.group = (cluster > 1).then_some([index / cluster, 0]);
            if side == 1 {
                case.is_missing = random.f64() < missing;
                let before = case.trials.len();
                case.scores.retain(|_| random.f64() >= errors);
                case.trials = case.scores.iter().map(|score| *score >= THRESHOLD).collect();
                case.errors = before - case.trials.len();
            }
        }
        write_run(output.path(), id, Trials::All(trials[side]), &drawn);
    }
    let said = diff(output.path(), if cluster > 1 { &["--cluster-by", "group"] } else { &[] });
    let end = |index: usize| said.suite["interval"][index].as_f64().expect("there is an interval");
    (said.verdict.clone(), [end(0), end(1)])
}

fn levels(scores: &Scores, change: Change, cases: usize, random: &mut Rng) -> Vec<[f64; 2]> {
    let levels = (0..cases).map(|_| {
        let level = (scores.level)(random);
        [level, change(level, random)]
    });
    levels.collect()
}

/// The mean change of all such cases.
fn mean_change(scores: &Scores, change: Change) -> f64 {
    let mut random = Rng::with_seed(1);
    let changes = levels(scores, change, 1_000_000, &mut random).into_iter().map(|[before, after]| {
        // The same noise in both makes the mean more precise.
        let seed = random.u64(..);
        let [before, after] = [before, after].map(|level| (scores.score)(level, &mut Rng::with_seed(seed)));
        after - before
    });
    changes.sum::<f64>() / 1e6
}

/// The gates on a lift, for a skill that has no effect on the mean.
fn lifts(simulations: usize) {
    println!("\n| scores | gate | cases | trials without, with the skill | met |\n| --- | --- | ---: | --- | ---: |");
    for scores in &SCORES {
        for (gate, [without, with]) in [("lift(score) > 0", [3, 3]), ("lift(score) > 0", [1, 3]), ("lift > 0", [1, 3])]
        {
            let met = simulate(simulations, |random| lift(scores, gate, 20, [without, with], random) == 0);
            println!("| {} | {gate} | 20 | {without}, {with} | {:.1} % |", scores.name, share(&met, |met| *met));
        }
    }
}

/// The exit status of the command for a run with two arms that are the same agent.
fn lift(scores: &Scores, gate: &str, cases: usize, trials: [usize; 2], random: &mut Rng) -> i32 {
    let output = tempfile::tempdir().expect("a temporary directory");
    let levels = levels(scores, |level, _| level, cases, random);
    let mut all = Vec::new();
    // The arm with the skill is the first one.
    for count in [trials[1], trials[0]] {
        for [level, _] in &levels {
            let drawn = (0..count).map(|_| (scores.score)(*level, random)).collect();
            all.push(Case { group: Some([0, 0]), ..Case::scored(drawn, THRESHOLD) });
        }
    }
    SuiteFiles { output: output.path(), id: "run", name: "simulated", package: "" }.write(
        Trials::All(trials[1]),
        &all,
        |record| set_arm(record, cases),
    );
    write_record(output.path(), "run", None, &["simulated"]);
    gate_status(output.path(), gate)
}
