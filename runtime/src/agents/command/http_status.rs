//! The HTTP status of a URL, for health checks: one GET of HTTP/1.1 without TLS.
//!
//! Hand-written: `ureq` is a dependency of the feature `judge` only, and health checks work without it.

use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

use crate::platform::text_error::text_error;

/// Bytes of an answer that are looked at for its status line.
const STATUS_LINE_LIMIT: usize = 1024;

/// Returns the status that a URL answers with. Redirects are not followed.
pub(crate) fn status_of(url: &str, limit: Duration) -> Result<u16, ProbeError> {
    let target = Target::read(url)?;
    target.ask(limit).map_err(|error| match error.kind() {
        io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => ProbeError::no_answer(limit),
        _ => error.to_string().into(),
    })
}

text_error! {
    /// Why a probe has not succeeded.
    ProbeError
}

impl ProbeError {
    /// There was no answer within the time limit.
    pub(crate) fn no_answer(limit: Duration) -> Self {
        Self(format!("no answer within {} s", limit.as_secs_f64()))
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
    fn read(url: &'u str) -> Result<Self, ProbeError> {
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
        let end = Instant::now() + limit;
        let left = || match end.saturating_duration_since(Instant::now()) {
            Duration::ZERO => Err(io::Error::from(io::ErrorKind::TimedOut)),
            left => Ok(left),
        };
        let mut stream = self.connect(&left)?;
        stream.set_write_timeout(Some(left()?))?;
        let slash = if self.path.starts_with('/') { "" } else { "/" };
        let version = env!("CARGO_PKG_VERSION");
        write!(
            stream,
            "GET {slash}{} HTTP/1.1\r\nHost: {}\r\nUser-Agent: evalsuite/{version}\r\nAccept: */*\r\nConnection: close\r\n\r\n",
            self.path, self.authority
        )?;
        let mut answer = Vec::new();
        let mut buffer = [0; STATUS_LINE_LIMIT];
        while !answer.contains(&b'\n') && answer.len() < STATUS_LINE_LIMIT {
            stream.set_read_timeout(Some(left()?))?;
            match stream.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => answer.extend_from_slice(&buffer[..count]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        status(&answer).ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "the answer is not HTTP"))
    }

    /// To the first of the host's addresses that takes the connection.
    fn connect(&self, left: &impl Fn() -> io::Result<Duration>) -> io::Result<TcpStream> {
        let mut result = Err(io::Error::new(io::ErrorKind::NotFound, "the host has no address"));
        for address in (self.host, self.port).to_socket_addrs()? {
            result = TcpStream::connect_timeout(&address, left()?);
            if result.is_ok() {
                break;
            }
        }
        result
    }
}

/// The number in `HTTP/1.1 200 OK`.
fn status(answer: &[u8]) -> Option<u16> {
    let line = answer.split(|byte| *byte == b'\n').next()?;
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
        assert_eq!(status_of(&format!("http://{address}/"), LIMIT).unwrap_err().to_string(), "the answer is not HTTP");
        let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        assert!(status_of(&format!("http://{closed}/"), LIMIT).is_err());
        let silent = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/", silent.local_addr().unwrap());
        assert_eq!(status_of(&url, Duration::from_millis(50)).unwrap_err().to_string(), "no answer within 0.05 s");
    }

    #[test]
    fn the_parts_of_a_url_are_read() {
        let read =
            |url| Target::read(url).map(|target| (target.host, target.port, target.path)).map_err(|e| e.to_string());
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
