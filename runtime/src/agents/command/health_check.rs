//! The health check of a target, made once per run before its first trial: a command, or one GET of HTTP/1.1 without TLS.
//!
//! Hand-written: `ureq` is a dependency of the feature `judge` only, and health checks work without it.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use evalsuite_schema::HealthProbe;

use crate::agents::command::cli_agent::ResolvedCommand;
use crate::agents::command::command_call::with_stderr;
use crate::model::command::{CommandEnvironment, shell};
use crate::model::suite_location::SuiteLocation;
use crate::platform::digest::{file_key, sha256};
use crate::platform::process::{self, Echo, Finished};
use crate::platform::redaction::Redactor;
use crate::platform::time_limit::{Cancel, Ended, call_within};
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
            HealthProbe::Url(url) => {
                probe_url(url, limit, environment.echo).map_err(|error| failed(format!("{url}: {error}")))
            }
            HealthProbe::Command { command: line, cwd } => {
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

/// Bytes of an answer that are looked at for its status line.
const STATUS_LINE_LIMIT: u64 = 1024;

/// Returns the status that a URL answers with. Redirects are not followed.
fn status_of(url: &str, limit: Duration) -> Result<u16, String> {
    // On a thread of its own, because looking up the name of a host has no time limit.
    let url = url.to_owned();
    let ask = move || Target::read(&url)?.ask(limit).map_err(|error| error.to_string());
    match call_within(limit, &Cancel::default(), false, || (), ask) {
        Ok(Ended::Returned(status)) => status,
        Ok(Ended::Panicked(message)) => Err(message),
        Ok(Ended::TimedOut) => Err(format!("no answer within {} s", limit.as_secs_f64())),
        Err(error) => Err(format!("cannot be run: {error}")),
    }
}

#[derive(Debug, PartialEq, Eq)]
struct Target<'u> {
    /// As the header `Host` shows it.
    authority: &'u str,
    host: &'u str,
    port: u16,
    path: &'u str,
}

impl<'u> Target<'u> {
    fn read(url: &'u str) -> Result<Self, String> {
        let (_, rest) = url
            .split_once("://")
            .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("http"))
            .ok_or("the URL has to start with `http://` or `https://`")?;
        let rest = rest.split('#').next().unwrap_or(rest);
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        if authority.contains('@') {
            return Err("a URL with a user name is not supported; use `command` with a program such as curl".into());
        }
        if url.chars().any(|character| character.is_whitespace() || character.is_control()) {
            return Err("the URL contains white space or a control character".into());
        }
        let (host, port) = match authority.rsplit_once(':') {
            // The colons of an IPv6 address stand in brackets.
            Some((host, port)) if !port.ends_with(']') => {
                (host, port.parse().map_err(|_| format!("`{port}` is not a valid port number"))?)
            }
            _ => (authority, 80),
        };
        let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
        if host.is_empty() {
            return Err("the URL has no host".into());
        }
        Ok(Self { authority, host, port, path })
    }

    fn ask(&self, limit: Duration) -> io::Result<u16> {
        let mut stream = TcpStream::connect((self.host, self.port))?;
        // Of a thread that is not waited for any more.
        let end = limit.saturating_add(Duration::from_secs(1));
        stream.set_write_timeout(Some(end))?;
        stream.set_read_timeout(Some(end))?;
        let slash = if self.path.starts_with('/') { "" } else { "/" };
        let version = env!("CARGO_PKG_VERSION");
        write!(
            stream,
            "GET {slash}{} HTTP/1.1\r\nHost: {}\r\nUser-Agent: evalsuite/{version}\r\nAccept: */*\r\nConnection: close\r\n\r\n",
            self.path, self.authority
        )?;
        let mut line = Vec::new();
        BufReader::new(stream.take(STATUS_LINE_LIMIT)).read_until(b'\n', &mut line)?;
        status(&line).ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "the answer is not HTTP"))
    }
}

/// The number in `HTTP/1.1 200 OK`.
fn status(line: &[u8]) -> Option<u16> {
    let mut words = std::str::from_utf8(line).ok()?.split_ascii_whitespace();
    if !words.next()?.starts_with("HTTP/") {
        return None;
    }
    words.next()?.parse().ok().filter(|status| (100..=599).contains(status))
}

#[cfg(all(test, unix))]
mod health_check_tests {
    use std::io::{BufRead, BufReader, Write};
    use std::net::TcpListener;
    use std::{fs, thread};

    use evalsuite_schema::{CliTarget, HealthCheck, Location, Sealing};

    use super::*;
    use crate::agents::command::cli_agent::CliAgent;

    fn check(probe: HealthProbe, root: &Path, times: usize) -> Vec<Result<(), String>> {
        check_with(probe, root, times, &Redactor::default())
    }

    fn check_with(probe: HealthProbe, root: &Path, times: usize, redactor: &Redactor) -> Vec<Result<(), String>> {
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

    fn command(command: &str) -> HealthProbe {
        HealthProbe::Command { command: command.into(), cwd: None }
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
        let error = check(HealthProbe::Url(format!("http://{closed}/health")), root.path(), 1).remove(0).unwrap_err();
        assert!(error.contains(&format!("http://{closed}/health: ")), "{error}");
    }
}

#[cfg(test)]
mod http_status_tests {
    use std::net::TcpListener;
    use std::thread;

    use super::*;

    const LIMIT: Duration = Duration::from_secs(20);

    /// A server for one connection: its address, and in the end the request it got.
    fn server(answer: &'static [u8]) -> (String, thread::JoinHandle<String>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let asked = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = Vec::new();
            let mut byte = [0];
            while !request.ends_with(b"\r\n\r\n") && stream.read(&mut byte).unwrap() > 0 {
                request.push(byte[0]);
            }
            for part in answer.chunks(5) {
                stream.write_all(part).unwrap();
                stream.flush().unwrap();
            }
            String::from_utf8(request).unwrap()
        });
        (address, asked)
    }

    #[test]
    fn a_server_is_asked_for_its_status() {
        let (address, asked) = server(b"HTTP/1.1 204 No Content\r\n\r\n");
        assert_eq!(status_of(&format!("http://{address}/health?deep=1#part"), LIMIT).unwrap(), 204);
        let request = asked.join().unwrap();
        assert!(request.starts_with("GET /health?deep=1 HTTP/1.1\r\n"), "{request}");
        assert!(request.contains(&format!("\r\nHost: {address}\r\n")) && request.contains("\r\nConnection: close\r\n"));
        let (address, asked) = server(b"HTTP/1.0 503 Service Unavailable\r\n\r\nbusy");
        assert_eq!(status_of(&format!("HTTP://{address}"), LIMIT).unwrap(), 503);
        assert!(asked.join().unwrap().starts_with("GET / HTTP/1.1\r\n"));
    }

    #[test]
    fn a_missing_or_foreign_answer_is_an_error() {
        let (address, _asked) = server(b"SSH-2.0-OpenSSH_9.9\r\n");
        assert_eq!(status_of(&format!("http://{address}/"), LIMIT).unwrap_err(), "the answer is not HTTP");
        let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        assert!(status_of(&format!("http://{closed}/"), LIMIT).is_err());
        let silent = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/", silent.local_addr().unwrap());
        assert_eq!(status_of(&url, Duration::from_millis(50)).unwrap_err(), "no answer within 0.05 s");
    }

    #[test]
    fn the_parts_of_a_url_are_read() {
        let read = |url| Target::read(url).map(|target| (target.host, target.port, target.path));
        assert_eq!(read("http://localhost:8080/a/b"), Ok(("localhost", 8080, "/a/b")));
        assert_eq!(read("http://[::1]:81?x"), Ok(("::1", 81, "?x")));
        assert_eq!(read("http://[::1]/"), Ok(("::1", 80, "/")));
        for (url, problem) in [
            ("localhost:8080", "has to start with"),
            ("ftp://x/", "has to start with"),
            ("http:///health", "has no host"),
            ("http://x:port/", "`port` is not a valid port number"),
            ("http://user:password@x/", "user name"),
            ("http://x/ a", "white space"),
        ] {
            assert!(read(url).unwrap_err().contains(problem), "{url}");
        }
    }
}
