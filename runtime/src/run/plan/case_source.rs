//! A case and its suite, decoded, with the directories they are in.

use std::sync::Arc;

use evalsuite_records::record::Versions;
use evalsuite_schema::{Case, Suite};

use crate::grade::scoring::{CaseStandard, case_rule};
use crate::model::evals::Evals;
use crate::model::suite::{EvalCase, EvalSuite};
use crate::model::suite_location::SuiteLocation;
use crate::record::embedded_files;
use crate::record::run_directory::RunDirectory;
use crate::run::case_error::{CaseError, decode_case, decode_suite};
use crate::run::selection::selected_targets;
use crate::run::settings::Settings;

/// What the files of a suite say about a case.
pub(crate) struct CaseSource {
    pub(crate) suite: &'static EvalSuite,
    pub(crate) entry: &'static EvalCase,
    pub(crate) data: Arc<Suite>,
    pub(crate) case: Case,
    pub(crate) places: SuiteLocation,
}

impl CaseSource {
    pub(super) fn decode(
        evals: &Evals,
        entry: &'static EvalCase,
        settings: &Settings,
        run: &RunDirectory,
    ) -> Result<Self, CaseError> {
        let suite = evals.suite();
        let data = decode_suite(suite)?;
        let case = decode_case(entry)?;
        if let Some(selected) = &settings.targets {
            selected_targets::check(selected, evals, &data)?;
        }
        let places = embedded_files::suite_location(suite, run, &case.dir)
            .map_err(|error| CaseError::Unusable(error.to_string()))?;
        Ok(Self { suite, entry, data, case, places })
    }

    /// What the trials of the case are measured by; `threshold` is that of the run, if it has one.
    pub(super) fn standard(&self, threshold: Option<f64>) -> CaseStandard {
        CaseStandard {
            rule: case_rule(self.data.kind, self.case.trials.strategy),
            threshold: threshold.or(self.case.threshold).unwrap_or_else(|| self.data.layout.default_threshold()),
            tolerated_errors: self.case.trials.errors,
        }
    }

    /// Path of the case's test, without the crate.
    pub(crate) fn test_name(&self) -> String {
        self.suite.test_path(self.entry)
    }

    /// The tags of the case.
    pub(crate) fn tags(&self) -> Vec<String> {
        self.entry.tags.iter().map(|tag| (*tag).to_owned()).collect()
    }

    pub(crate) fn versions(&self) -> Versions {
        let mut versions = Versions::default();
        versions.evalsuite = env!("CARGO_PKG_VERSION").to_owned();
        versions.package = format!("{} {}", self.suite.package, self.suite.package_version);
        versions.os = std::env::consts::OS.to_owned();
        versions.arch = std::env::consts::ARCH.to_owned();
        versions
    }
}
