//! How often judges are said to have drifted.

use std::path::Path;

use evalsuite_records::record::{CalibrationRecord, CalibrationStatistics, SampleRecord};
use fastrand::Rng;

use super::agent::Trials;
use super::command::health;
use super::run_files::{Case, SuiteFiles, write, write_record};
use super::tables::{share, simulate};

/// How often judges judge a sample as a person does.
#[derive(Debug, Clone, Copy)]
enum Accuracy {
    /// All samples alike.
    All(f64),
    /// Four of five samples always, the others half of the time.
    SureOrNot,
}

const ACCURACIES: [(&str, Accuracy); 3] =
    [("0.9", Accuracy::All(0.9)), ("0.75", Accuracy::All(0.75)), ("1, of every fifth sample 0.5", Accuracy::SureOrNot)];

pub(crate) fn print(simulations: usize) {
    println!("| judges | agreement with people | samples | any drifted | κ of any fell by 0.1 |");
    println!("| --- | --- | --- | ---: | ---: |");
    for (change, by) in [("have not changed", 0.0), ("agree in 0.1 less", 0.1), ("agree in 0.25 less", 0.25)] {
        for (name, accuracy) in ACCURACIES {
            for (samples, judges) in [(30, 1), (30, 5), (100, 1), (100, 5), (300, 1)] {
                let found = simulate(simulations, |random| drifted(accuracy, by, samples, judges, random));
                let (test, fall) = (share(&found, |(test, _)| *test), share(&found, |(_, fall)| *fall));
                println!("| {judges} {change} | {name} | {samples} | {test:.1} % | {fall:.1} % |");
            }
        }
    }
}

/// Whether the command says that any of the judges drifted, and whether κ of any fell by 0.1.
fn drifted(accuracy: Accuracy, by: f64, samples: usize, judges: usize, random: &mut Rng) -> (bool, bool) {
    let output = tempfile::tempdir().expect("a temporary directory");
    for (id, by) in [("base", 0.0), ("run", by)] {
        for judge in 0..judges {
            calibrate(output.path(), id, judge, |index| accuracy.of(index) - by, samples, random);
        }
        let suites: Vec<String> = (0..judges).map(|judge| format!("simulated-{judge}")).collect();
        write_record(output.path(), id, None, &suites.iter().map(String::as_str).collect::<Vec<_>>());
    }
    let said = health(output.path());
    let judges = said["judges"].as_array().expect("judges");
    let fell = judges.iter().any(|judge| {
        let kappa = |index: usize| judge["kappa"][index].as_f64().expect("κ");
        kappa(0) - kappa(1) >= 0.1 - 1e-9
    });
    (judges.iter().any(|judge| judge["is_drifting"] == true), fell)
}

impl Accuracy {
    fn of(self, index: usize) -> f64 {
        match self {
            Self::All(accuracy) => accuracy,
            Self::SureOrNot if index.is_multiple_of(5) => 0.5,
            Self::SureOrNot => 1.0,
        }
    }
}

/// Writes a suite of this judge in a run, with its calibration. People let every other sample pass.
fn calibrate(output: &Path, id: &str, judge: usize, accuracy: impl Fn(usize) -> f64, samples: usize, random: &mut Rng) {
    let name = format!("simulated-{judge}");
    let files = SuiteFiles { output, id, name: &name, package: "" };
    files.write(Trials::All(1), &[Case::new(vec![true])], |_| ());
    let suite = files.directory();
    let mut record = CalibrationRecord::new();
    (record.run_id, record.suite) = (id.to_owned(), name);
    record.judges = vec![format!("judge-{judge}")];
    (record.prompt_sha256, record.threshold) = ("0".repeat(64), 0.5);
    let sample = |index: usize| {
        let person = index.is_multiple_of(2);
        let agrees = random.f64() < accuracy(index);
        let mut sample = SampleRecord::default();
        sample.id = format!("sample-{index:03}");
        (sample.human_score, sample.judge_score) = (number(person), Some(number(person == agrees)));
        sample
    };
    record.samples = (0..samples).map(sample).collect();
    let mut statistics = CalibrationStatistics::default();
    statistics.kappa = kappa(&record.samples);
    record.statistics = Some(statistics);
    write(&suite.join("calibration.json"), &record);
}

fn number(passes: bool) -> f64 {
    f64::from(u8::from(passes))
}

/// Cohen's κ where people let half of the samples pass.
fn kappa(samples: &[SampleRecord]) -> f64 {
    let agreeing = samples.iter().filter(|sample| sample.judge_score == Some(sample.human_score)).count();
    2.0 * agreeing as f64 / samples.len() as f64 - 1.0
}

/// How often a judge has drifted where none has changed.
pub(crate) fn unchanged_drift(simulations: usize) -> f64 {
    let found = simulate(simulations, |random| drifted(Accuracy::All(0.9), 0.0, 100, 5, random));
    share(&found, |(test, _)| *test)
}
