//! Probes in the tests `suite_check`: for `cargo evalsuite probe`, which reads their replies, and for `EVALSUITE_PROBE`.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use evalsuite_records::probe_file::{read_probe, write_probe};
use evalsuite_records::record::{ProbeRecord, ProbedCase, SuiteId};
use evalsuite_schema::diagnostics::Diagnostic;
use evalsuite_schema::json::{FromJsonOverDefault, ToJson};

use crate::entry::run_error::{RunError, RunErrorKind, fail, setup_error};
use crate::entry::suite_description::write_about;
use crate::model::evals::Evals;
use crate::model::suite::EvalCase;
use crate::model::suite_location::{SuiteLocation, package_directory};
use crate::platform::notice;
use crate::platform::redaction::{all_secrets, without_secrets};
use crate::record::run_directory::OutputDirectory;
use crate::record::run_record::package_in_workspace;
use crate::run::case_report::CaseError;
use crate::run::made_up::bounded_grading::{AllowedGraders, JudgeCalls, JudgeSpending};
use crate::run::made_up::suite::MadeUpSuite;
use crate::run::probe::suite_probe::SuiteProbe;
use crate::run::settings::{ProbeFindings, Settings};

/// Environment variable with a [`ProbeRequest`] as JSON.
///
/// While it is set, each test `suite_check` probes its suite, stores the result and writes a [`ProbeReply`]. It does not check the suite.
pub const PROBE_REQUEST: &str = "EVALSUITE_PROBE_REQUEST";

/// Name of the file in the directory of replies that gets `+N` for N cases to be probed, and a `.` for each that was, one per line.
pub const PROBE_PROGRESS: &str = "progress";

/// What `cargo evalsuite probe` asks of test programs.
#[derive(Debug, Clone, Default, PartialEq, Eq, ToJson, FromJsonOverDefault)]
pub struct ProbeRequest {
    /// Where replies are written.
    pub directory: PathBuf,
    /// Names or directories of suites; empty: all.
    pub suites: Vec<String>,
    /// Ids of cases; empty: all.
    pub cases: Vec<String>,
    /// Tags; a case needs one of them. Empty: all cases.
    pub tags: Vec<String>,
    /// Whether judges are asked.
    pub judges: bool,
}

/// The reply of a test program about one suite.
#[derive(Debug, Clone, Default, PartialEq, ToJson, FromJsonOverDefault)]
pub struct ProbeReply {
    /// The suite.
    pub suite: SuiteId,
    /// The result of the chosen cases; `None` if the suite was not asked for, has no chosen case, or could not be probed.
    pub record: Option<ProbeRecord>,
    /// Why the suite could not be probed.
    pub error: Option<String>,
    /// Problems of hooks and files.
    pub problems: Vec<String>,
    /// Number of calls of judges.
    pub judge_calls: u32,
    /// What they cost in US dollars; `None` if the cost of no call is known.
    pub judge_cost_usd: Option<f64>,
    /// Number of calls of judges that did not report what they cost.
    pub judge_calls_of_unknown_cost: u32,
    /// Ids of all its cases.
    pub cases: Vec<String>,
    /// Tags of all its cases.
    pub tags: Vec<String>,
}

impl ProbeReply {
    /// Whether a text of the user names the suite, or its directory.
    pub fn is_named(&self, text: &str) -> bool {
        let suite = &self.suite;
        let path = text.strip_prefix("./").unwrap_or(text).trim_end_matches('/');
        let in_workspace = Path::new(&suite.package_directory).join(&suite.path);
        suite.is_called(text) || path == suite.path || Path::new(path) == in_workspace
    }
}

/// If there is a request, probes the suite if it asks for that, stores the result, and replies. Returns whether there is one: then the test
/// does nothing else.
pub(crate) fn reply_if_asked(evals: &Evals) -> Result<bool, RunError> {
    let Some(text) = std::env::var(PROBE_REQUEST).ok().filter(|text| !text.is_empty()) else { return Ok(false) };
    let request: ProbeRequest = evalsuite_schema::json::from_str(&text)
        .map_err(|error| RunError::setting(format!("{PROBE_REQUEST} is not valid")).with_source(error))?;
    let suite = evals.suite();
    let mut reply = ProbeReply { suite: suite.id(), ..ProbeReply::default() };
    reply.suite.package_directory = package_in_workspace(suite);
    reply.cases = suite.cases.iter().map(|case| case.id.to_owned()).collect();
    reply.tags = suite.cases.iter().flat_map(|case| case.tags).map(|tag| (*tag).to_owned()).collect();
    let is_chosen = |case: &EvalCase| {
        (request.cases.is_empty() || request.cases.iter().any(|id| id == case.id))
            && (request.tags.is_empty() || request.tags.iter().any(|tag| case.tags.contains(&tag.as_str())))
    };
    let is_asked_for = request.suites.is_empty() || request.suites.iter().any(|text| reply.is_named(text));
    let count = suite.cases.iter().filter(|case| is_chosen(case)).count();
    if is_asked_for && count > 0 {
        let progress = request.directory.join(PROBE_PROGRESS);
        append(&progress, &format!("+{count}\n")).map_err(|error| {
            RunError::records(format!("{} cannot be written", progress.display())).with_source(error)
        })?;
        // Progress that is not shown is no problem of the suite.
        let on_case = || drop(append(&progress, ".\n"));
        let asked = request.judges.then(|| JudgeSpending::new(&request.directory.join("spending")));
        match probe(evals, asked, &is_chosen, &on_case) {
            Ok((record, problems, calls)) => {
                reply.problems = problems;
                reply.judge_calls = calls.count;
                reply.judge_cost_usd = calls.cost_usd();
                reply.judge_calls_of_unknown_cost = calls.of_unknown_cost;
                store(&record, evals)
                    .map_err(|error| RunError::records("the probe cannot be stored").with_source(error))?;
                reply.record = Some(record);
            }
            Err(error) => reply.error = Some(error.to_string()),
        }
    }
    write_about(suite, &request.directory, &reply, &all_secrets())?;
    Ok(true)
}

/// The findings of a probe that fail the test; `EVALSUITE_PROBE=warn` prints them instead.
pub(crate) fn findings_of_probe(evals: &Evals) -> Vec<String> {
    let settings = Settings::from_environment().unwrap_or_else(|error| fail(setup_error(&error.into())));
    if settings.probe == ProbeFindings::Off {
        return Vec::new();
    }
    let (findings, problems) = findings(evals).unwrap_or_else(|error| fail(setup_error(&error)));
    let findings: Vec<String> = findings.iter().map(ToString::to_string).collect();
    problems.iter().for_each(|problem| notice::say(problem));
    if settings.probe == ProbeFindings::Deny {
        return findings;
    }
    findings.iter().for_each(|finding| notice::say(finding));
    Vec::new()
}

/// The findings about a whole suite, and problems of hooks and files.
fn findings(evals: &Evals) -> Result<(Vec<Diagnostic>, Vec<String>), RunError> {
    let (record, problems, _) = probe(evals, None, &|_| true, &|| ())?;
    Ok((record.cases.into_iter().flat_map(|case| case.findings).collect(), problems))
}

pub(crate) fn made_up_suite(
    evals: Evals,
    settings: &Settings,
    allowed: AllowedGraders,
) -> Result<MadeUpSuite, RunError> {
    MadeUpSuite::new(evals, settings, allowed)
        .map_err(|error| RunError::records("the temporary directory of the probe cannot be made").with_source(error))
}

pub(crate) fn not_probed(error: CaseError) -> RunError {
    RunError::new(RunErrorKind::Suite, "the suite cannot be probed").with_source(error)
}

/// Probes the chosen cases; returns the results, problems of hooks and files, and calls of judges. `asked`: what judges have cost, if they are
/// asked.
fn probe(
    evals: &Evals,
    asked: Option<JudgeSpending>,
    chosen: &(dyn Fn(&EvalCase) -> bool + Sync),
    on_case: &(dyn Fn() + Sync),
) -> Result<(ProbeRecord, Vec<String>, JudgeCalls), RunError> {
    let settings = Settings::from_environment()?;
    let suite = evals.suite();
    let location = SuiteLocation::of(suite);
    let output = OutputDirectory::of_workspace(&location.package_root, settings.output.as_deref())
        .map_err(|error| RunError::setting("EVALSUITE_OUTPUT is not a valid path").with_source(error))?;
    let (stored, mut problems) = match read_probe(&package_directory(suite), &suite.id()) {
        Ok(stored) => (stored, Vec::new()),
        Err(error) => (None, vec![error.to_string()]),
    };
    let allowed = AllowedGraders { judges: asked.is_some(), commands: true };
    let mut made_up = made_up_suite(evals.clone(), settings, allowed)?;
    if let Some(asked) = asked {
        made_up.judge_spending = asked;
    }
    let probe = SuiteProbe { suite: &made_up, chosen, stored: stored.as_ref(), output: Some(output.path()), on_case };
    let record = probe.run().map_err(not_probed)?;
    let calls = made_up.judge_spending.calls();
    problems.extend(made_up.end());
    Ok((record, problems, calls))
}

/// Stores the results with those of other cases, some of which another probe may have stored since this one began.
fn store(record: &ProbeRecord, evals: &Evals) -> io::Result<()> {
    let root = package_directory(evals.suite());
    let _lock = OutputDirectory::lock_packages(&root)?;
    // A file that cannot be read was reported when the probe began, and is replaced.
    let stored = read_probe(&root, &record.suite).ok().flatten();
    let merged = stored.map(|stored| merged(&stored, record, evals));
    write_probe(&root, merged.as_ref().unwrap_or(record), Some(&|text| without_secrets(text)))
}

/// The stored results with the new ones in their place, in the order of the suite.
fn merged(stored: &ProbeRecord, new: &ProbeRecord, evals: &Evals) -> ProbeRecord {
    let mut record = new.clone();
    record.cases.clear();
    for entry in evals.suite().cases {
        let is_it = |case: &&ProbedCase| case.case_id == entry.id && case.target.as_deref() == entry.target;
        let newest = new.cases.iter().find(is_it).or_else(|| stored.cases.iter().find(is_it));
        record.cases.extend(newest.cloned());
    }
    record.sum_up();
    record
}

fn append(path: &Path, text: &str) -> io::Result<()> {
    OpenOptions::new().create(true).append(true).open(path)?.write_all(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_suite_is_named_by_its_name_or_its_directory() {
        let mut suite = SuiteId::new("shop");
        (suite.package, suite.package_directory, suite.path) =
            ("agent".into(), "agents/shop".into(), "suites/shop".into());
        let reply = ProbeReply { suite, ..ProbeReply::default() };
        for text in ["shop", "agent/shop", "suites/shop", "./suites/shop/", "agents/shop/suites/shop"] {
            assert!(reply.is_named(text), "{text}");
        }
        assert!(!reply.is_named("other") && !reply.is_named("suites"));
    }
}
