//! A case in view of the accepted results of its suite: what they say about it, and the trials that repeat it.

mod confirming;
pub(crate) mod text;

use std::io;
use std::path::PathBuf;

use evalsuite_records::baseline::{Chance, baseline_file, result_of};
use evalsuite_records::record::{CaseRecord, Mode, Reason, ReasonCode, Stage, Status};
use evalsuite_schema::SuiteKind;

use self::confirming::add_failing_case;
pub(crate) use self::confirming::confirm;
use crate::model::suite_location::package_directory;
use crate::run::plan::Plan;

/// The file with the baseline of the case's suite, which need not exist.
fn file(plan: &Plan<'_>) -> PathBuf {
    baseline_file(&package_directory(plan.suite), &plan.suite.id())
}

/// Adds what the baseline says about the case; an error if the baseline is invalid. It counts in suites of kind `capability` only.
pub(crate) fn judge(plan: &Plan<'_>, record: &mut CaseRecord) {
    // The test of a reference arm does not fail.
    if plan.data.kind != SuiteKind::Capability || record.outcome == Status::Error || record.reference_arm {
        return;
    }
    match result_of(&file(plan), record, || chance(plan, record)) {
        Ok(result) => record.baseline = result,
        Err(error) => {
            record.outcome = Status::Error;
            record.reason = Some(Reason::new(Stage::Setup, ReasonCode::InvalidSetting, error.to_string()));
        }
    }
}

/// Whether a case that fails, and has passed in the baseline, may have failed by chance. The other cases of the suite learn of it.
fn chance(plan: &Plan<'_>, record: &CaseRecord) -> io::Result<Chance> {
    if plan.settings.mode != Mode::Live {
        return Ok(Chance::None);
    }
    if record.outcome != Status::Failed {
        return Ok(Chance::WithFailures(0));
    }
    add_failing_case(&plan.run.locks(), &plan.suite.key(), &record.case_key).map(Chance::WithFailures)
}
