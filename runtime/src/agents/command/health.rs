//! Whether a target is there, asked once per run before its first trial.

use std::{path::Path, time::Duration};

use evalsuite_schema::Probe;

use crate::{
    agents::command::{Ready, http},
    model::{
        command::{CommandEnvironment, shell},
        suite_location::SuiteLocation,
    },
    platform::{
        cancel::Cancel,
        digest::{file_key, sha256},
        excerpt::last_chars,
        isolated_call::{Ended, call_within},
        process::{self, echo::Echo},
        redaction::Redactor,
    },
    record::coordination::run_once,
};

/// Limit of a check where none is written.
const LIMIT: Duration = Duration::from_secs(30);
/// Characters of a command's standard error that an error shows.
const STDERR_SHOWN: usize = 2000;

impl Ready<'_> {
    /// Asks whether the target is there, unless another trial of this run has. `locks` is where the run keeps what was
    /// done once.
    ///
    /// # Errors
    ///
    /// Why it is not.
    pub(crate) fn check_health(
        &self,
        locks: &Path,
        places: &SuiteLocation,
        environment: &CommandEnvironment,
        redactor: &Redactor,
    ) -> Result<(), String> {
        let Some(check) = &self.healthcheck else { return Ok(()) };
        let limit = match check.timeout_seconds.map(Duration::try_from_secs_f64) {
            None => LIMIT,
            Some(Ok(limit)) => limit,
            Some(Err(error)) => return Err(format!("`healthcheck.timeout_seconds` is out of range: {error}")),
        };
        // Packages that share a run may have targets of the same name.
        let which = format!("{}\0{}\0{check:?}", self.agent.file.display(), self.agent.name);
        let name = format!("health-{}-{}", file_key(&self.agent.name), &sha256(which)[..8]);
        run_once(locks, &name, redactor, || match &check.probe {
            Probe::Url(url) => ask_url(url, limit, environment.echo).map_err(|problem| format!("{url}: {problem}")),
            Probe::Command { command, cwd } => {
                let cwd = cwd.as_ref().map_or_else(|| self.agent.directory(places), |cwd| places.resolve(cwd));
                self.ask_command(command, &cwd, environment, limit)
            }
        })
        .map_err(|error| format!("the result of the health check cannot be kept: {error}"))?
        .map_err(|problem| format!("the health check of target `{}` failed: {problem}", self.agent.name))
    }

    fn ask_command(
        &self,
        line: &str,
        cwd: &Path,
        environment: &CommandEnvironment,
        limit: Duration,
    ) -> Result<(), String> {
        let mut command = shell(line);
        self.equip(&mut command, environment);
        command.current_dir(cwd);
        run(command, limit, environment.echo).map_err(|problem| format!("`{line}`: {problem}"))
    }
}

fn run(command: std::process::Command, limit: Duration, echo: Echo) -> Result<(), String> {
    let finished = process::run(command, Vec::new(), limit, echo).map_err(|error| format!("cannot be run: {error}"))?;
    if finished.timed_out {
        return Err(format!("did not end within {} s", limit.as_secs_f64()));
    }
    if finished.status.success() {
        return Ok(());
    }
    let stderr = finished.stderr.text();
    Err(match stderr.trim() {
        "" => finished.status.to_string(),
        stderr => format!("{}\nstderr: {}", finished.status, last_chars(stderr, STDERR_SHOWN)),
    })
}

fn ask_url(url: &str, limit: Duration, echo: Echo) -> Result<(), String> {
    if url.get(..8).is_some_and(|scheme| scheme.eq_ignore_ascii_case("https://")) {
        return ask_with_curl(url, limit, echo);
    }
    // On a thread of its own, for looking up a host's name cannot be given a limit.
    let asked = url.to_owned();
    let ended = call_within(limit, &Cancel::default(), false, || (), move || http::status_of(&asked, limit));
    match ended {
        Ok(Ended::Returned(Ok(200..=299))) => Ok(()),
        Ok(Ended::Returned(Ok(status))) => Err(format!("it answers with status {status}")),
        Ok(Ended::Returned(Err(problem)) | Ended::Panicked(problem)) => Err(problem),
        Ok(Ended::TimedOut) => Err(format!("no answer within {} s", limit.as_secs_f64())),
        Err(error) => Err(format!("a thread cannot be started: {error}")),
    }
}

/// TLS would be the largest dependency of all; curl has it.
fn ask_with_curl(url: &str, limit: Duration, echo: Echo) -> Result<(), String> {
    let mut command = std::process::Command::new("curl");
    command.args(["--fail", "--silent", "--show-error", "--output"]);
    command.arg(if cfg!(windows) { "NUL" } else { "/dev/null" }).arg("--").arg(url);
    run(command, limit, echo).map_err(|problem| match problem.starts_with("cannot be run") {
        true => {
            format!("checks of `https://` need the program curl: {problem}\nhelp: or write `command` in place of `url`")
        }
        false => problem,
    })
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;

    use evalsuite_schema::{CliTarget, HealthCheck, Location};

    use super::*;
    use crate::agents::command::CliAgent;

    fn check(probe: Probe, root: &Path, times: usize) -> Vec<Result<(), String>> {
        let target = CliTarget {
            command: "true".into(),
            cwd: None,
            timeout_seconds: None,
            files_format: "{path}".into(),
            healthcheck: Some(HealthCheck { probe, timeout_seconds: Some(20.0) }),
            env: vec![("PLACE".into(), "${{ HERE }}".into())],
            keep_temp_files: false,
            verbose: false,
        };
        let location = Location::new("targets.yaml", 1, 1);
        let agent = CliAgent { name: "mini".into(), file: root.join("targets.yaml"), location, target };
        let here = root.display().to_string();
        let ready = agent.ready(&|name: &str| (name == "HERE").then(|| here.clone())).unwrap();
        let places = SuiteLocation { package_root: root.to_owned(), suite_dir: root.to_owned() };
        let check =
            || ready.check_health(&root.join("locks"), &places, &CommandEnvironment::default(), &Redactor::default());
        (0..times).map(|_| check()).collect()
    }

    fn command(command: &str) -> Probe {
        Probe::Command { command: command.into(), cwd: None }
    }

    #[test]
    fn a_command_is_asked_once_with_the_environment_of_its_target() {
        let root = tempfile::tempdir().unwrap();
        let results = check(command("echo here >> asked; test \"$PLACE\" = \"$PWD\""), root.path(), 3);
        assert_eq!(results, [Ok(()), Ok(()), Ok(())]);
        assert_eq!(fs::read_to_string(root.path().join("asked")).unwrap(), "here\n");
    }

    #[test]
    fn a_target_that_is_not_there_is_an_error_for_everyone() {
        let root = tempfile::tempdir().unwrap();
        let results = check(command("echo here >> asked; echo not up >&2; exit 3"), root.path(), 2);
        assert_eq!(results[0], results[1]);
        let error = results[0].as_ref().unwrap_err();
        assert!(error.starts_with("the health check of target `mini` failed: `echo here"), "{error}");
        assert!(error.contains("exit status: 3") && error.ends_with("stderr: not up"), "{error}");
        assert_eq!(fs::read_to_string(root.path().join("asked")).unwrap(), "here\n");
    }

    #[test]
    fn a_url_has_to_answer_with_success() {
        let root = tempfile::tempdir().unwrap();
        let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let error = check(Probe::Url(format!("http://{closed}/health")), root.path(), 1).remove(0).unwrap_err();
        assert!(error.contains(&format!("http://{closed}/health: ")), "{error}");
    }
}
