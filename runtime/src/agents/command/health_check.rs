//! The health check of a target, made once per run before its first trial.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use evalsuite_schema::Probe;

use crate::agents::command::command_call::with_stderr;
use crate::agents::command::http_status::status_of;
use crate::agents::command::resolved_command::ResolvedCommand;
use crate::model::command::{CommandEnvironment, shell};
use crate::model::suite_location::SuiteLocation;
use crate::platform::digest::{file_key, sha256};
use crate::platform::process::echo::Echo;
use crate::platform::process::{self, Finished};
use crate::platform::redaction::Redactor;
use crate::record::coordination::run_once;

/// Limit of a check, by default.
const LIMIT: Duration = Duration::from_secs(30);

impl ResolvedCommand<'_> {
    /// Checks the health of the target, unless another trial of this run has. `locks` is where the run records what is done
    /// once.
    pub(crate) fn check_health(
        &self,
        locks: &Path,
        places: &SuiteLocation,
        environment: &CommandEnvironment,
        redactor: &Redactor,
    ) -> Result<(), String> {
        let Some(check) = &self.target.healthcheck else { return Ok(()) };
        let limit = match check.timeout_seconds.map(Duration::try_from_secs_f64) {
            None => LIMIT,
            Some(Ok(limit)) => limit,
            Some(Err(error)) => return Err(format!("`healthcheck.timeout_seconds` is out of range: {error}")),
        };
        // Packages that share a run may have targets of the same name.
        let which = format!("{}\0{}\0{check:?}", self.agent.file.display(), self.agent.name);
        let name = format!("health-{}-{}", file_key(&self.agent.name), &sha256(&*redactor.apply(&which))[..8]);
        let failed = |problem: String| format!("the health check of target `{}` failed: {problem}", self.agent.name);
        run_once(locks, &name, redactor, || match &check.probe {
            Probe::Url(url) => {
                probe_url(url, limit, environment.echo).map_err(|error| failed(format!("{url}: {error}")))
            }
            Probe::Command { command: line, cwd } => {
                let cwd = cwd.as_ref().map(|cwd| places.resolve(cwd)).or_else(|| self.own_directory(places));
                let mut command = shell(line);
                self.set_environment(&mut command, environment);
                command.current_dir(cwd.as_ref().unwrap_or(&places.suite_dir));
                let ended = run(command, limit, environment.echo, "cannot be run", "");
                ended.map(drop).map_err(|error| failed(format!("`{line}`: {error}")))
            }
        })
        .map_err(|error| format!("the result of the health check cannot be recorded: {error}"))?
    }
}

/// Runs a program that has to succeed. The texts are in the error of one that cannot be started.
fn run(command: Command, limit: Duration, echo: Echo, not_started: &str, help: &str) -> Result<Finished, String> {
    let finished =
        process::run(command, Vec::new(), limit, echo).map_err(|error| format!("{not_started}: {error}{help}"))?;
    if finished.timed_out {
        return Err(format!("did not end within {} s", limit.as_secs_f64()));
    }
    match finished.status.success() {
        true => Ok(finished),
        false => Err(with_stderr(&finished.status.to_string(), &finished)),
    }
}

fn probe_url(url: &str, limit: Duration, echo: Echo) -> Result<(), String> {
    let is_https = url.get(..8).is_some_and(|scheme| scheme.eq_ignore_ascii_case("https://"));
    let status = if is_https { status_with_curl(url, limit, echo)? } else { status_of(url, limit)?.to_string() };
    healthy_status(&status)
}

fn healthy_status(status: &str) -> Result<(), String> {
    match status.parse() {
        Ok(200..=299_u16) => Ok(()),
        _ => Err(format!("it answers with status {status}")),
    }
}

/// The status of a URL, asked with curl. The HTTP client with TLS is compiled with the feature `judge` only, where rustls adds
/// the most of all dependencies; a check does not depend on the feature.
fn status_with_curl(url: &str, limit: Duration, echo: Echo) -> Result<String, String> {
    let mut command = Command::new("curl");
    command.args(["--silent", "--show-error", "--write-out", "%{http_code}", "--output"]);
    command.arg(if cfg!(windows) { "NUL" } else { "/dev/null" }).arg("--").arg(url);
    let no_curl = "checks of `https://` need the program curl, which cannot be run";
    let finished = run(command, limit, echo, no_curl, "\nhelp: or write `command` in place of `url`")?;
    Ok(finished.stdout.text().trim().to_owned())
}

#[cfg(all(test, unix))]
mod tests {
    use std::io::{BufRead, BufReader, Write};
    use std::net::TcpListener;
    use std::{fs, thread};

    use evalsuite_schema::{CliTarget, HealthCheck, Location, Sealing};

    use super::*;
    use crate::agents::command::cli_agent::CliAgent;

    fn check(probe: Probe, root: &Path, times: usize) -> Vec<Result<(), String>> {
        check_with(probe, root, times, &Redactor::default())
    }

    fn check_with(probe: Probe, root: &Path, times: usize, redactor: &Redactor) -> Vec<Result<(), String>> {
        let target = CliTarget {
            command: "true".into(),
            cwd: None,
            in_suite_directory: false,
            timeout_seconds: None,
            files_format: "{path}".into(),
            healthcheck: Some(HealthCheck { probe, timeout_seconds: Some(20.0) }),
            mcp: None,
            env: vec![("PLACE".into(), "${{ HERE }}".into())],
            output: None,
            keep_temp_files: false,
            verbose: false,
            provider_batching: false,
            sealing: Sealing::default(),
        };
        let location = Location::new("targets.yaml", 1, 1);
        let agent = CliAgent { name: "mini".into(), file: root.join("targets.yaml"), location, target, acp: None };
        let here = root.display().to_string();
        let command = agent.resolve(&|name: &str| (name == "HERE").then(|| here.clone())).unwrap();
        let places = SuiteLocation { package_root: root.to_owned(), suite_dir: root.to_owned() };
        let check = || command.check_health(&root.join("locks"), &places, &CommandEnvironment::default(), redactor);
        (0..times).map(|_| check()).collect()
    }

    fn command(command: &str) -> Probe {
        Probe::Command { command: command.into(), cwd: None }
    }

    #[test]
    fn a_command_runs_once_with_the_environment_of_its_target() {
        let root = tempfile::tempdir().unwrap();
        let results = check(command("echo here >> asked; test \"$PLACE\" = \"$PWD\""), root.path(), 3);
        assert_eq!(results, [Ok(()), Ok(()), Ok(())]);
        assert_eq!(fs::read_to_string(root.path().join("asked")).unwrap(), "here\n");
    }

    #[test]
    fn the_name_of_what_is_recorded_does_not_depend_on_secrets() {
        let root = tempfile::tempdir().unwrap();
        for secret in ["secret-1", "secret-2"] {
            let redactor = Redactor::default().with_values([secret.to_owned()]);
            check_with(command(&format!("echo {secret} >> asked")), root.path(), 1, &redactor);
        }
        assert_eq!(fs::read_to_string(root.path().join("asked")).unwrap(), "secret-1\n", "both have one name");
    }

    #[test]
    fn a_failed_check_is_an_error_for_every_trial() {
        let root = tempfile::tempdir().unwrap();
        let results = check(command("echo here >> asked; echo not up >&2; exit 3"), root.path(), 2);
        assert_eq!(results[0], results[1]);
        let error = results[0].as_ref().unwrap_err();
        assert!(error.starts_with("the health check of target `mini` failed: `echo here"), "{error}");
        assert!(error.contains("exit status: 3") && error.ends_with("stderr: not up"), "{error}");
        assert_eq!(fs::read_to_string(root.path().join("asked")).unwrap(), "here\n");
    }

    /// A server that answers one request with this status; its address.
    fn server(status: &'static str) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = BufReader::new(stream.try_clone().unwrap()).lines();
            while request.next().is_some_and(|line| !line.unwrap().is_empty()) {}
            write!(stream, "HTTP/1.1 {status}\r\nLocation: /login\r\nContent-Length: 0\r\n\r\n").unwrap();
        });
        format!("http://{address}/health")
    }

    #[test]
    fn only_a_status_of_200_to_299_healthy_status() {
        let limit = Duration::from_secs(20);
        type Probe = fn(&str, Duration) -> Result<(), String>;
        let with_curl: Probe = |url, limit| healthy_status(&status_with_curl(url, limit, Echo::Off)?);
        let without_tls: Probe = |url, limit| probe_url(url, limit, Echo::Off);
        for probe in [without_tls, with_curl] {
            let healthy = |status| probe(&server(status), limit);
            assert_eq!(healthy("204 No Content"), Ok(()));
            assert_eq!(healthy("302 Found"), Err("it answers with status 302".to_owned()));
            assert_eq!(healthy("503 Service Unavailable"), Err("it answers with status 503".to_owned()));
        }
    }

    #[test]
    fn a_url_that_does_not_answer_is_an_error() {
        let root = tempfile::tempdir().unwrap();
        let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let error = check(Probe::Url(format!("http://{closed}/health")), root.path(), 1).remove(0).unwrap_err();
        assert!(error.contains(&format!("http://{closed}/health: ")), "{error}");
    }
}
