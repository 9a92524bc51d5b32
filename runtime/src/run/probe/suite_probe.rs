//! The probe of a suite: its cases, some at the same time, and the findings about them.

use std::path::Path;

use evalsuite_records::package_file::{LARGEST_BASELINE, read_package_file};
use evalsuite_records::record::{ProbeRecord, ProbedCase};
use evalsuite_schema::digest::{CaseDigests, sha256_of_data};
use evalsuite_schema::json::json;
use evalsuite_schema::{Argument, Case, Command, Grader, GraderConfig};

use crate::model::suite::EvalCase;
use crate::platform::digest::{case_key, sha256};
use crate::platform::threads::map_on_threads;
use crate::run::case_report::{CaseError, decode_case, decode_suite};
use crate::run::made_up::suite::MadeUpSuite;
use crate::run::probe::case_probe::{graders_by_path, probe_case};
use crate::run::probe::empty_probes::SuiteTools;
use crate::run::probe::findings;
use crate::run::probe::findings::{last_runs, recorded_verdicts};

/// Version of the probes: results of another version are not used again.
const VERSION: u32 = 2;

/// What is probed, and how.
pub(crate) struct SuiteProbe<'a> {
    pub(crate) suite: &'a MadeUpSuite,
    /// The cases that are probed.
    pub(crate) chosen: &'a (dyn Fn(&EvalCase) -> bool + Sync),
    /// Results that are used again for cases that have not changed.
    pub(crate) stored: Option<&'a ProbeRecord>,
    /// Directory of recorded runs.
    pub(crate) output: Option<&'a Path>,
    /// Called for each case.
    pub(crate) on_case: &'a (dyn Fn() + Sync),
}

/// A chosen case.
struct ChosenCase {
    entry: &'static EvalCase,
    case: Case,
}

impl SuiteProbe<'_> {
    /// Probes the chosen cases.
    pub(crate) fn run(&self) -> Result<ProbeRecord, CaseError> {
        let suite = self.suite.evals.suite();
        let mut tools = SuiteTools::default();
        let mut chosen = Vec::new();
        for entry in suite.cases {
            let case = decode_case(entry)?;
            tools.add(&case);
            if (self.chosen)(entry) {
                chosen.push(ChosenCase { entry, case });
            }
        }
        let data = decode_suite(suite)?;
        let (threshold, names) = (self.suite.settings.threshold, sha256_of_data(&tools.names()));
        let of_suite = json!([VERSION, env!("CARGO_PKG_VERSION"), data.layout, threshold, names]);
        let mut probed = map_on_threads(&chosen, None, |chosen| {
            let digest = self.digest(chosen, &of_suite.to_string());
            let mut probed = self.stored(chosen, digest.as_ref()).unwrap_or_else(|| self.probe(chosen, &tools));
            probed.digest = digest;
            probed.case_digest = case_digest(chosen);
            probed.target = chosen.entry.target.map(str::to_owned);
            probed.test_name = suite.test_path(chosen.entry);
            probed.findings =
                if probed.error.is_some() { Vec::new() } else { findings::of_case(&chosen.case, &probed) };
            (self.on_case)();
            probed
        });
        let cases: Vec<&Case> = chosen.iter().map(|chosen| &chosen.case).collect();
        let runs = self.output.map(last_runs).unwrap_or_default();
        let recorded = |index: usize| {
            let ChosenCase { entry, case } = &chosen[index];
            let target = entry.target.or(case.target.as_deref()).unwrap_or("default");
            let key = case_key(suite.name, target, entry.id);
            recorded_verdicts(&runs, &suite.key(), &key, &suite.test_path(entry))
        };
        findings::add_grader_findings(&cases, &mut probed, &recorded);
        let mut record = ProbeRecord::new();
        (record.suite, record.cases) = (suite.id(), probed);
        record.sum_up();
        Ok(record)
    }

    fn probe(&self, chosen: &ChosenCase, tools: &SuiteTools) -> ProbedCase {
        let probed = self.suite.case(chosen.entry).and_then(|mut grading| {
            let examples = if chosen.case.has_examples() { grading.grade_examples()? } else { Vec::new() };
            Ok(probe_case(&grading, tools, &examples))
        });
        probed.unwrap_or_else(|error| {
            let mut probed = ProbedCase::default();
            probed.case_id.clone_from(&chosen.case.id);
            probed.location.clone_from(&chosen.case.location);
            probed.error = Some(error.to_string());
            probed
        })
    }

    /// The stored results of a case that has not changed, at the places where its graders are now.
    fn stored(&self, chosen: &ChosenCase, digest: Option<&String>) -> Option<ProbedCase> {
        let is_it = |stored: &&ProbedCase| {
            stored.case_id == chosen.entry.id
                && stored.target.as_deref() == chosen.entry.target
                && stored.digest.as_ref() == digest
        };
        digest?;
        let stored = self.stored?.cases.iter().find(is_it)?;
        let asks_more = self.suite.allowed.judges && !stored.not_run.is_empty();
        if asks_more || stored.error.is_some() {
            return None;
        }
        let mut probed = stored.clone();
        probed.location.clone_from(&chosen.case.location);
        let graders = graders_by_path(&chosen.case);
        for grader in &mut probed.graders {
            let location = graders.get(&grader.path).map_or(&chosen.case.location, |known| &known.location);
            grader.location.clone_from(location);
        }
        Some(probed)
    }

    /// SHA-256 of all that the results of a case depend on; `None` if a grader is in Rust, or the case has variables: neither code nor
    /// values are known here.
    fn digest(&self, chosen: &ChosenCase, of_suite: &str) -> Option<String> {
        let ChosenCase { entry, case } = chosen;
        let graders: Vec<&Grader> = case.all_graders().flat_map(Grader::with_members).collect();
        let is_rust = |grader: &&Grader| matches!(grader.config, GraderConfig::User { .. });
        if entry.may_have_variables() || graders.iter().any(is_rust) {
            return None;
        }
        let of_case = match case.has_examples() {
            // The digest of a case is that of its trials, and leaves them out.
            true => sha256_of_data(case),
            false => case_digest(chosen),
        };
        let root = self.suite.evals.suite().package_root();
        let arguments = graders.iter().flat_map(|grader| match grader.config.settings().command() {
            Some(Command::Argv(words)) => words.as_slice(),
            _ => &[],
        });
        let digest_of_file = |argument: &Argument| match argument {
            Argument::Path(path) => Some(read_package_file(&root.join(&path.path), LARGEST_BASELINE).ok().map(sha256)),
            Argument::Text(_) => None,
        };
        let files: Vec<Option<String>> = arguments.filter_map(digest_of_file).collect();
        Some(sha256(format!("{of_suite}\0{of_case}\0{}", json!(files))))
    }
}

/// The digest of the case in the records of its trials.
fn case_digest(chosen: &ChosenCase) -> String {
    chosen.entry.json.digests().unwrap_or_else(|| CaseDigests::of(&chosen.case)).case
}
