//! The HTTP status of a URL, for health checks: one GET of HTTP/1.1 without TLS.
//!
//! Hand-written: `ureq` is a dependency of the feature `judge` only, and health checks work without it.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use crate::platform::cancel::Cancel;
use crate::platform::isolated_call::{Ended, call_within};

/// Bytes of an answer that are looked at for its status line.
const STATUS_LINE_LIMIT: u64 = 1024;

/// Returns the status that a URL answers with. Redirects are not followed.
pub(crate) fn status_of(url: &str, limit: Duration) -> Result<u16, String> {
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

#[cfg(test)]
mod tests {
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
