//! Runs in which the trials of a case resemble each other.

use fastrand::Rng;

use super::agent::{Rates, Trials};
use super::command::{Said, diff, newest};
use super::run_files::{Case, SuiteFiles, write_record, write_run, write_run_of};
use super::tables::{share, simulate};

/// What the trials of a case within one run have in common.
#[derive(Debug, Clone, Copy)]
enum Alike {
    /// With this probability, all of them end as the first one does.
    Equal(f64),
    /// The logit of the rate of each case moves in each run, by a normal number with this standard deviation.
    CaseEffect(f64),
    /// The logits of the rates of all cases are lower in the run by this much.
    DayEffect(f64),
}

const DESIGNS: [(&str, Alike); 7] = [
    ("independent", Alike::Equal(0.0)),
    ("two of ten cases equal", Alike::Equal(0.2)),
    ("half of the cases equal", Alike::Equal(0.5)),
    ("eight of ten cases equal", Alike::Equal(0.8)),
    ("all cases equal", Alike::Equal(1.0)),
    ("an effect of case and run, 1 logit", Alike::CaseEffect(1.0)),
    ("an effect of the day, 0.2 logits", Alike::DayEffect(0.2)),
];

const RATES: [(&str, Rates); 4] = [
    ("uniform", Rates::Uniform),
    ("all 0.5", Rates::All(0.5)),
    ("all 0.9", Rates::All(0.9)),
    ("stable, 20 % at 0.5", Rates::StableBut(0.2, 0.5)),
];

pub(crate) fn print(simulations: usize) {
    println!(
        "| trials of a case in a run | rates | cases | trials | regressed | improved | case is the unit | `--unit trial` | `--unit case` | `correlated: true` |"
    );
    println!("| --- | --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |");
    for (label, alike) in DESIGNS {
        for (name, rates) in RATES {
            for (count, trials) in [(20, 3), (30, 10), (100, 5)] {
                let said = simulate(simulations, |random| compare(alike, rates, count, trials, random));
                let of = |index: usize, verdict: &str| share(&said, |said| said[index].is(verdict));
                let by_case = share(&said, |said| said[0].suite["unit"] == "case");
                println!(
                    "| {label} | {name} | {count} | {trials} | {:.1} % | {:.1} % | {by_case:.1} % | {:.1} % | {:.1} % | {:.1} % |",
                    of(0, "regressed"),
                    of(0, "improved"),
                    of(1, "regressed"),
                    of(2, "regressed"),
                    of(3, "regressed")
                );
            }
        }
    }
}

/// What the command says of itself, with each of the units, and of a suite that declares it.
fn compare(alike: Alike, rates: Rates, count: usize, trials: usize, random: &mut Rng) -> [Said; 4] {
    let [output, declared] = [(); 2].map(|()| tempfile::tempdir().expect("a temporary directory"));
    let rates = rates.draw(count, random);
    for (side, id) in ["base", "run"].into_iter().enumerate() {
        let cases: Vec<Case> = rates.iter().map(|rate| alike.draw(*rate, side, trials, random)).collect();
        write_run(output.path(), id, Trials::All(trials), &cases);
        let files = SuiteFiles { output: declared.path(), id, name: "simulated", package: "" };
        files.write(Trials::All(trials), &cases, |record| record.correlated = true);
        write_record(declared.path(), id, None, &["simulated"]);
    }
    let [found, by_trial, by_case] =
        [&[][..], &["--unit", "trial"], &["--unit", "case"]].map(|arguments| diff(output.path(), arguments));
    [found, by_trial, by_case, diff(declared.path(), &[])]
}

impl Alike {
    fn draw(self, rate: f64, side: usize, trials: usize, random: &mut Rng) -> Case {
        let rate = match self {
            Self::Equal(share) if random.f64() < share => return Case::new(vec![random.f64() < rate; trials]),
            Self::Equal(_) => rate,
            Self::CaseEffect(deviation) => moved(rate, deviation * normal(random)),
            Self::DayEffect(effect) => moved(rate, -effect * side as f64),
        };
        Case::new(Trials::All(trials).draw(rate, random))
    }
}

/// A rate whose logit moves.
fn moved(rate: f64, by: f64) -> f64 {
    let odds = rate / (1.0 - rate) * by.exp();
    if odds.is_finite() { odds / (1.0 + odds) } else { rate }
}

fn normal(random: &mut Rng) -> f64 {
    (-2.0 * (1.0 - random.f64()).ln()).sqrt() * (std::f64::consts::TAU * random.f64()).cos()
}

/// Runs of several days, each of which moves the logits of all rates by a normal number.
pub(crate) fn print_days(simulations: usize) {
    println!(
        "| deviation of days, logits | what changed | rates | cases | trials | runs of the base | of the agent | regressed | run is the unit |"
    );
    println!("| ---: | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |");
    for (deviation, loss) in [(0.0, 0.0), (0.2, 0.0), (0.5, 0.0), (0.0, 0.1), (0.2, 0.2)] {
        for (name, rates) in [("uniform", Rates::Uniform), ("all 0.9", Rates::All(0.9))] {
            for runs in [[1, 1], [3, 1], [5, 1], [5, 3]] {
                let (count, trials) = (50, 3);
                let said =
                    simulate(simulations, |random| on_days(deviation, loss, rates, (count, trials), runs, random));
                let regressed = share(&said, |said| said.verdict == "regressed");
                let by_run = share(&said, |said| said.suite["unit"] == "run");
                let changed = if loss > 0.0 { format!("every case by {loss}") } else { "nothing".to_owned() };
                let [base, agent] = runs;
                println!(
                    "| {deviation} | {changed} | {name} | {count} | {trials} | {base} | {agent} | {regressed:.1} % | {by_run:.1} % |"
                );
            }
        }
    }
}

/// What the command says of the newest of so many runs of a commit, and so many of another one before it.
fn on_days(
    deviation: f64,
    loss: f64,
    rates: Rates,
    (count, trials): (usize, usize),
    runs: [usize; 2],
    random: &mut Rng,
) -> Said {
    let output = tempfile::tempdir().expect("a temporary directory");
    let rates = rates.draw(count, random);
    for (side, commit) in ["0000000000", "1111111111"].into_iter().enumerate() {
        for run in 0..runs[side] {
            let effect = deviation * normal(random);
            let rate = |rate: &f64| moved(f64::max(rate - loss * side as f64, 0.0), effect);
            let cases: Vec<Case> =
                rates.iter().map(|it| Case::new(Trials::All(trials).draw(rate(it), random))).collect();
            write_run_of(output.path(), &format!("{side}-{run}"), Some(commit), Trials::All(trials), &cases);
        }
    }
    newest(output.path())
}

/// How often an unchanged agent is *regressed* whose trials of a case are all equal within a run.
pub(crate) fn of_equal_trials(simulations: usize) -> f64 {
    let said = simulate(simulations, |random| compare(Alike::Equal(1.0), Rates::Uniform, 20, 3, random));
    share(&said, |said| said[0].is("regressed"))
}
