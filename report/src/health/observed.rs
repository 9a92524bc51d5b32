//! What the runs of the window say, without the runs.

use std::collections::{BTreeMap, BTreeSet};

use evalsuite_records::record::{CalibrationRecord, CaseRecord, GraderRecord, GraderState, Status, SuiteId};
use evalsuite_schema::SuiteKind;

use super::cases::{CaseRuns, Judge, Seen, adjusted};
use super::{Health, HealthOptions, UndecidedGrader};
use crate::run_data::{RunData, SuiteData};

/// The runs of the window, which are added one by one, the newest first.
#[derive(Debug, Default)]
pub(super) struct Observed(BTreeMap<String, Suite>);

#[derive(Debug, Default)]
struct Suite {
    id: SuiteId,
    kind: SuiteKind,
    /// The ids of its cases in the newest run.
    known: BTreeSet<String>,
    /// By target.
    targets: BTreeMap<String, CaseRuns>,
    /// By name.
    graders: BTreeMap<String, Decisions>,
    /// By name.
    judges: BTreeMap<String, Judge>,
}

#[derive(Debug, Default)]
struct Decisions {
    decided: usize,
    undecided: usize,
    errors: usize,
}

impl Observed {
    /// The suites so far, with their names.
    pub(super) fn suite_names(&self) -> Vec<(SuiteId, String)> {
        self.0.iter().map(|(name, suite)| (suite.id.clone(), name.clone())).collect()
    }

    pub(super) fn add(&mut self, run: &RunData) {
        let commit = run.record.as_ref().and_then(|record| record.git.as_ref()).filter(|git| !git.dirty);
        let commit = commit.map(|git| git.commit.as_str());
        for data in &run.suites {
            self.0.entry(data.name.clone()).or_default().add(data, &run.run_id, commit);
        }
    }

    /// Adds what the runs say.
    pub(super) fn add_findings(self, options: &HealthOptions, health: &mut Health) {
        let mut judges = Vec::new();
        for (name, suite) in self.0 {
            for (target, cases) in suite.targets {
                health.suites.extend(cases.findings(&name, &target, suite.kind, options));
            }
            for (grader, Decisions { decided, undecided, errors }) in suite.graders {
                if decided == 0 {
                    let grader = UndecidedGrader { suite: name.clone(), grader, undecided, errors };
                    health.undecided_graders.push(grader);
                }
            }
            judges.extend(suite.judges.into_iter().map(|(judge, asked)| asked.finding(&name, judge)));
        }
        health.judges.extend(adjusted(judges));
    }
}

impl Suite {
    fn add(&mut self, data: &SuiteData, run: &str, commit: Option<&str>) {
        if self.known.is_empty() {
            self.id.clone_from(&data.id);
            let tests = data.record.iter().flat_map(|record| &record.tests).map(|test| test.case_id.clone());
            self.known = tests.chain(data.cases.iter().map(|case| case.record.case_id.clone())).collect();
            self.kind = data.record.as_ref().map_or(SuiteKind::default(), |record| record.kind);
        }
        let mut models: BTreeMap<&str, &str> = BTreeMap::new();
        for case in &data.cases {
            // It is not in the suite any more, or the run that it is of counts.
            if !self.known.contains(&case.record.case_id) || case.record.reused_run.is_some() {
                continue;
            }
            self.add_case(&case.record, run, commit);
            for grader in case.trials.iter().flat_map(|trial| &trial.record.graders) {
                self.add_grader(grader, None, run, &mut models);
            }
        }
        for (judge, model) in models {
            self.judges.entry(judge.to_owned()).or_default().add_model(model);
        }
        if let Some(calibration) = &data.calibration {
            self.add_calibration(calibration);
        }
    }

    fn add_case(&mut self, record: &CaseRecord, run: &str, commit: Option<&str>) {
        if record.outcome == Status::Skipped {
            return;
        }
        let seen = Seen {
            passed: record.passed,
            trials: record.completed,
            definition: [record.input_digest.clone(), record.grader_digest.clone()],
            run: run.to_owned(),
            commit: commit.map(str::to_owned),
        };
        self.targets.entry(record.target.clone()).or_default().add(&record.case_id, seen);
    }

    fn add_grader<'g>(
        &mut self,
        grader: &'g GraderRecord,
        outer: Option<&str>,
        run: &str,
        models: &mut BTreeMap<&'g str, &'g str>,
    ) {
        let name = outer.map_or_else(|| grader.name.clone(), |outer| format!("{outer}/{}", grader.name));
        for member in &grader.members {
            self.add_grader(member, Some(&name), run, models);
        }
        let Decisions { decided, undecided, errors } = self.graders.entry(name).or_default();
        *match grader.state {
            GraderState::Decided => decided,
            GraderState::Undecided => undecided,
            GraderState::Error => errors,
        } += 1;
        let Some(judge) = &grader.judge else { return };
        models.extend(judge.model.as_deref().map(|model| (judge.name.as_str(), model)));
        let asked = self.judges.entry(judge.name.clone()).or_default();
        if let Some(value) = grader.value {
            asked.add_value(&judge.prompt_sha256, run, value);
        }
    }

    fn add_calibration(&mut self, calibration: &CalibrationRecord) {
        for judge in &calibration.judges {
            self.judges.entry(judge.clone()).or_default().add_calibration(calibration);
        }
    }
}
