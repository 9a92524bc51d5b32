//! `run.json` and `suite.json`: a run and its suites.
//!
//! The first test of a suite writes them and a marker file. All other tests only check the marker, so their cost does
//! not depend on the size of suite and run. The first test of the run also asks git for the state of the repository,
//! while its case runs.
//!
//! The environment of a run: repository, build server and settings.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use evalsuite_records::probe_file::read_probe;
use evalsuite_records::record::{
    CiRun, GitState, ProbeRates, RunRecord, SuiteDiagnostic, SuiteRecord, SuiteRun, SuiteTest,
};
use evalsuite_schema::Suite;
use evalsuite_schema::discovery::workspace_around;
use evalsuite_schema::sorting::map;

use crate::model::suite::{EvalCase, EvalSuite};
use crate::model::suite_location::{SuiteLocation, TRACKED_DIRECTORY_PREFIX, package_directory, program};
use crate::platform::clock::timestamp;
use crate::platform::digest::sha256;
use crate::platform::file_lock::FileLock;
use crate::platform::files::{read_json, replace_file, write_json};
use crate::platform::process::Echo;
use crate::platform::redaction::Redactor;
use crate::platform::url::without_credentials;
use crate::platform::{environment, notice, process};
use crate::record::run_directory::RunDirectory;
use crate::record::run_directory::layout::SUITE_RECORD;

/// A suite and its run.
pub(crate) struct SuiteOfRun<'a> {
    pub(crate) suite: &'static EvalSuite,
    pub(crate) data: &'a Suite,
    pub(crate) location: &'a SuiteLocation,
    pub(crate) run: &'a RunDirectory,
    pub(crate) redactor: &'a Redactor,
    pub(crate) echo: Echo,
}

/// Adds a suite to the records of its run, and makes a new run the newest one. The answer is a question to git in a new run.
pub(crate) fn register(suite: &SuiteOfRun<'_>) -> io::Result<Option<GitQuery>> {
    static REGISTERED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
    let mark = suite.mark();
    let mut registered = REGISTERED.lock().unwrap_or_else(PoisonError::into_inner);
    if registered.contains(&mark) {
        return Ok(None);
    }
    let git = if mark.exists() { None } else { suite.add_to_records(&mark)? };
    registered.insert(mark);
    Ok(git)
}

/// Changes the entry of a registered suite, given by its directory, in `run.json`.
pub(crate) fn update(
    run: &RunDirectory,
    suite: &str,
    redactor: &Redactor,
    change: impl FnOnce(&mut SuiteRun),
) -> io::Result<()> {
    update_run(run, redactor, |record| {
        if let Some(entry) = record.suites.iter_mut().find(|entry| entry.directory == suite) {
            change(entry);
        }
    })
}

fn update_run(run: &RunDirectory, redactor: &Redactor, change: impl FnOnce(&mut RunRecord)) -> io::Result<()> {
    let _lock = lock(run)?;
    let path = run.record_file();
    let mut record: RunRecord = read_json(&path)?.ok_or_else(|| {
        io::Error::new(io::ErrorKind::NotFound, format!("{} does not exist any more", path.display()))
    })?;
    change(&mut record);
    write_json(&path, &record, redactor)
}

fn lock(run: &RunDirectory) -> io::Result<FileLock> {
    FileLock::acquire(&run.locks().join("run.lock"))
}

/// Git is asked for the state of the repository, which is added to `run.json`. Dropping this waits for that.
#[must_use = "dropping it waits for git"]
pub(crate) struct GitQuery(Option<JoinHandle<io::Result<()>>>);

impl GitQuery {
    fn start(suite: &SuiteOfRun<'_>) -> Self {
        let (run, redactor, echo) = (suite.run.clone(), suite.redactor.clone(), suite.echo);
        let package = suite.location.package_root.clone();
        let ask = move || match git(&package, echo) {
            Some(state) => update_run(&run, &redactor, |record| record.git = Some(state)),
            None => Ok(()),
        };
        Self(Builder::new().spawn(ask).map_err(|error| report(&error)).ok())
    }
}

impl Drop for GitQuery {
    fn drop(&mut self) {
        // The panic hook has reported a panic.
        if let Some(Ok(Err(error))) = self.0.take().map(JoinHandle::join) {
            report(&error);
        }
    }
}

fn report(error: &io::Error) {
    notice::say(&format!("the state of the repository is not recorded: {error}"));
}

impl SuiteOfRun<'_> {
    /// The mark of one inclusion of the suite: one or several test programs can include it several times.
    fn mark(&self) -> PathBuf {
        let place = format!("{}\0{}\0{}", self.suite.key(), program(), self.suite.module_path);
        self.run.locks().join(format!("suite-{}", &sha256(place)[..16]))
    }

    fn add_to_records(&self, mark: &Path) -> io::Result<Option<GitQuery>> {
        let _lock = lock(self.run)?;
        if mark.exists() {
            return Ok(None);
        }
        let path = self.run.record_file();
        let known = read_json(&path)?;
        let is_new = known.is_none();
        if is_new {
            self.run.mark_latest()?;
        }
        let mut record = known.unwrap_or_else(|| self.new_run());
        let tests = u32::try_from(self.suite.cases.len()).unwrap_or(u32::MAX);
        let directory = self.suite.key();
        match record.suites.iter_mut().find(|entry| entry.directory == directory) {
            Some(entry) => entry.tests = entry.tests.saturating_add(tests),
            None => {
                let mut entry = SuiteRun::new(self.suite.name, self.suite.package, tests);
                entry.directory = directory;
                record.suites.push(entry);
            }
        }
        self.add_tests()?;
        write_json(&path, &record, self.redactor)?;
        replace_file(mark, b"")?;
        Ok(is_new.then(|| GitQuery::start(self)))
    }

    fn new_run(&self) -> RunRecord {
        let mut record = RunRecord::new();
        record.run_id = self.run.run_id.clone();
        record.started_at = timestamp();
        record.package = self.suite.package.to_owned();
        record.package_version = self.suite.package_version.to_owned();
        record.ci = ci(|name| std::env::var(name).ok().filter(|value| !value.is_empty()));
        let of_file = environment::of_file().into_iter().map(|(name, value)| (name.into(), value.into()));
        record.env = settings(of_file.chain(std::env::vars_os()).collect());
        record
    }

    /// What is known from a probe of the cases as they are now. A file that cannot be read is an error of the command that wrote it.
    fn probe_rates(&self) -> Option<ProbeRates> {
        let mut probe = read_probe(&package_directory(self.suite), &self.suite.id()).ok()??;
        let digest = |case: &EvalCase| case.json.digests().map(|digests| digests.case);
        // A case that was read again has no digest yet.
        probe.retain_current(&map(self.suite.cases.iter().map(|case| ((case.id, case.target), digest(case)))));
        ProbeRates::of(&probe)
    }

    fn add_tests(&self) -> io::Result<()> {
        let path = self.run.suite(&self.suite.key()).join(SUITE_RECORD);
        let mut record = read_json(&path)?.unwrap_or_else(|| {
            let mut record = SuiteRecord::new();
            record.name = self.suite.name.to_owned();
            record.package = self.suite.package.to_owned();
            record.package_directory = package_in_workspace(self.suite);
            record.path = self.suite.path_in_package().into_owned();
            record.kind = self.data.kind;
            record.layout = self.data.layout;
            record.digest = self.data.digest.clone();
            record.gates.clone_from(&self.data.gates);
            record.probe = self.probe_rates();
            record
        });
        for (name, message) in self.suite.diagnostics {
            let diagnostic = SuiteDiagnostic::new(*name, *message);
            if !record.diagnostics.contains(&diagnostic) {
                record.diagnostics.push(diagnostic);
            }
        }
        let program = program();
        record.tests.extend(self.suite.cases.iter().map(|case| {
            let mut test = SuiteTest::new(program.as_str(), self.suite.test_path(case), case.id);
            test.target = case.target.map(str::to_owned);
            test.module = self.suite.module_path.to_owned();
            test
        }));
        write_json(&path, &record, self.redactor)
    }
}

/// Directory of the suite's package relative to the workspace around it, with `/` separators; `.` for the workspace itself.
pub(crate) fn package_in_workspace(suite: &EvalSuite) -> String {
    let package = package_directory(suite);
    let workspace = workspace_around(&package);
    let below = package.strip_prefix(&workspace).unwrap_or(Path::new("")).components();
    let parts: Vec<_> = below.map(|part| part.as_os_str().to_string_lossy()).collect();
    if parts.is_empty() { ".".to_owned() } else { parts.join("/") }
}

/// Time limit of git; after it, the record has no state of the repository.
const GIT_LIMIT: Duration = Duration::from_secs(10);

/// Parts of the names of variables whose values are secret.
const SECRET: [&str; 5] = ["KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIAL"];

/// State of the repository around a directory; `None` outside of one, and without git.
pub(crate) fn git(directory: &Path, echo: Echo) -> Option<GitState> {
    let mut command = Command::new("git");
    command.args(["--no-optional-locks", "status", "--porcelain=v2", "--branch"]);
    command.current_dir(directory).stdin(Stdio::null()).env("GIT_TERMINAL_PROMPT", "0");
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("GIT_")) {
        command.env_remove(name);
    }
    let finished = process::run_watched(command, Vec::new(), GIT_LIMIT, echo, None, None).ok()?;
    (finished.status.success() && !finished.timed_out).then(|| state(&finished.stdout.text())).flatten()
}

fn state(status: &str) -> Option<GitState> {
    let commit = status.lines().find_map(|line| line.strip_prefix("# branch.oid "))?;
    let is_commit = commit.chars().all(|character| character.is_ascii_hexdigit());
    let dirty = status.lines().any(|line| !line.starts_with('#'));
    is_commit.then(|| GitState::new(commit, dirty))
}

/// The build server's run, from its environment variables.
pub(crate) fn ci(variable: impl Fn(&str) -> Option<String>) -> Option<CiRun> {
    let run = |provider: &str, url: Option<String>| Some(CiRun::new(provider, url));
    if variable("GITHUB_ACTIONS").is_some() {
        let url = (|| {
            let (server, repository) = (variable("GITHUB_SERVER_URL")?, variable("GITHUB_REPOSITORY")?);
            Some(format!("{server}/{repository}/actions/runs/{}", variable("GITHUB_RUN_ID")?))
        })();
        return run("github", url);
    }
    if variable("TF_BUILD").is_some() {
        let url = (|| {
            let (server, project) = (variable("SYSTEM_TEAMFOUNDATIONCOLLECTIONURI")?, variable("SYSTEM_TEAMPROJECT")?);
            Some(format!("{server}{project}/_build/results?buildId={}", variable("BUILD_BUILDID")?))
        })();
        return run("azure", url);
    }
    let others = [
        ("GITLAB_CI", "gitlab", "CI_JOB_URL"),
        ("BUILDKITE", "buildkite", "BUILDKITE_BUILD_URL"),
        ("CIRCLECI", "circleci", "CIRCLE_BUILD_URL"),
        ("JENKINS_URL", "jenkins", "BUILD_URL"),
    ];
    if let Some((_, provider, url)) = others.into_iter().find(|(mark, ..)| variable(mark).is_some()) {
        return run(provider, variable(url));
    }
    variable("CI").filter(|value| value != "false" && value != "0").and_then(|_| run("unknown", None))
}

/// The `EVALSUITE_*` variables, without the values of secrets.
pub(crate) fn settings(variables: Vec<(OsString, OsString)>) -> BTreeMap<String, Option<String>> {
    let settings = variables
        .into_iter()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.to_string_lossy().into_owned())))
        .filter(|(name, value)| {
            name.starts_with("EVALSUITE_") && !name.starts_with(TRACKED_DIRECTORY_PREFIX) && !value.is_empty()
        })
        .map(|(name, value)| {
            let is_secret = SECRET.iter().any(|part| name.contains(part));
            (name, (!is_secret).then(|| shown(&value)))
        });
    map(settings)
}

/// A URL can hold a password or a key.
fn shown(value: &str) -> String {
    if value.contains("://") { without_credentials(value) } else { value.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_of_a_repository_is_its_commit_and_whether_it_has_changes() {
        let clean = "# branch.oid 0123abcd\n# branch.head main\n";
        assert_eq!(state(clean), Some(GitState::new("0123abcd", false)));
        assert!(state(&format!("{clean}? new.txt\n")).unwrap().dirty);
        assert_eq!(state("# branch.oid (initial)\n"), None);
        assert_eq!(git(tempfile::tempdir().unwrap().path(), Echo::Off), None);
    }

    #[test]
    fn build_servers_are_recognized_by_their_variables() {
        let ask = |set: &[(&str, &str)]| {
            ci(|name| set.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned()))
        };
        let github = [
            ("CI", "true"),
            ("GITHUB_ACTIONS", "true"),
            ("GITHUB_SERVER_URL", "https://github.com"),
            ("GITHUB_REPOSITORY", "a/b"),
            ("GITHUB_RUN_ID", "7"),
        ];
        let run = ask(&github).unwrap();
        assert_eq!(
            (run.provider.as_str(), run.url.as_deref()),
            ("github", Some("https://github.com/a/b/actions/runs/7"))
        );
        let run = ask(&[("CI", "true"), ("GITLAB_CI", "true"), ("CI_JOB_URL", "https://x/1")]).unwrap();
        assert_eq!((run.provider.as_str(), run.url.as_deref()), ("gitlab", Some("https://x/1")));
        assert_eq!(ask(&[("CI", "true")]).unwrap().provider, "unknown");
        assert_eq!(ask(&[("CI", "false")]), None);
        assert_eq!(ask(&[]), None);
    }

    #[test]
    fn settings_are_shown_without_secrets() {
        let variables = [
            ("EVALSUITE_TRIALS", "3"),
            ("EVALSUITE_JUDGE_API_KEY", "sk-1"),
            ("EVALSUITE_JUDGE_URL", "https://me:pass@host/v1?a=b@c"),
            ("EVALSUITE_KEEP", ""),
            ("EVALSUITE_TRACKED_0", "/p/suites"),
            ("OTHER", "x"),
        ];
        let shown = settings(variables.map(|(name, value)| (name.into(), value.into())).to_vec());
        let shown: Vec<(&str, Option<&str>)> =
            shown.iter().map(|(name, value)| (name.as_str(), value.as_deref())).collect();
        assert_eq!(
            shown,
            [
                ("EVALSUITE_JUDGE_API_KEY", None),
                ("EVALSUITE_JUDGE_URL", Some("https://***@host/v1?a=***")),
                ("EVALSUITE_TRIALS", Some("3")),
            ]
        );
    }
}
