//! Reports the steps of a case to the listeners of the run, and to the file of `EVALSUITE_PROGRESS`.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Once;

use evalsuite_records::record::{CaseRecord, GraderRecord};

use crate::model::progress::{ProgressEvent, ProgressStep};
use crate::platform::{json, notice};
use crate::run::plan::Plan;

impl Plan<'_> {
    /// Reports a step of the case.
    pub(crate) fn report_progress(&self, step: impl FnOnce() -> ProgressStep) {
        let file = self.settings.progress_file.as_deref();
        if self.settings.progress.is_empty() && file.is_none() {
            return;
        }
        let event = ProgressEvent {
            suite: self.suite.name.to_owned(),
            package: self.suite.package.to_owned(),
            module: self.suite.module_path.to_owned(),
            test_name: self.identity.test_name.clone(),
            case_id: self.entry.id.to_owned(),
            target: self.identity.target.clone(),
            trials: self.planned,
            step: step(),
        };
        self.settings.progress.report(&event);
        if let Some(file) = file
            && let Err(error) = append(file, &event)
        {
            static REPORTED: Once = Once::new();
            let path = file.display();
            REPORTED.call_once(|| notice::say(&format!("EVALSUITE_PROGRESS: {path} cannot be written: {error}")));
        }
    }

    /// Reports that a grader of a trial has ended.
    pub(crate) fn report_grader(&self, trial: u32, grader: &GraderRecord) {
        self.report_progress(|| ProgressStep::GraderFinished {
            trial,
            grader: self.redactor.apply(&grader.name).into_owned(),
            verdict: grader.verdict,
            value: grader.value,
        });
    }

    /// Reports that the case has ended.
    pub(crate) fn report_case_end(&self, record: &CaseRecord, cost_usd: Option<f64>) {
        self.report_progress(|| ProgressStep::CaseFinished {
            outcome: record.outcome,
            score: record.score,
            cost_usd,
            reason: record.reason.as_ref().map(|reason| self.redactor.apply(&reason.message).into_owned()),
        });
    }
}

/// Appends a line in one write: lines of several processes do not mix.
fn append(path: &Path, event: &ProgressEvent) -> io::Result<()> {
    let line = json::compact(event, None)? + "\n";
    File::options().create(true).append(true).open(path)?.write_all(line.as_bytes())
}
