//! The environment of a run: repository, build server and settings.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use evalsuite_records::record::{CiRun, GitState};

use evalsuite_schema::sorting::map;

use crate::model::suite_location::TRACKED_DIRECTORY_PREFIX;
use crate::platform::process;
use crate::platform::process::echo::Echo;
use crate::platform::url::without_credentials;

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
