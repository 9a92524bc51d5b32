//! Calls that are sent to the service they are meant for.

use std::io::{self, Read};
use std::sync::Arc;
use std::time::{Duration, Instant};

use hyper::body::Bytes;
use hyper::header::{ACCEPT_ENCODING, CONNECTION, CONTENT_LENGTH, EXPECT, HOST, HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, StatusCode};
use tokio::sync::{mpsc, oneshot};
use ureq::http;
use ureq::tls::{RootCerts, TlsConfig};

use super::recorded_trial::CallSoFar;
use super::secrets::without_keys;

/// Largest part of a response.
const LARGEST_PART: usize = 64 << 10;
/// How long a response is read to its end after its client went away: many clients leave after the last event.
const AFTER_CLIENT: Duration = Duration::from_millis(500);

/// Headers about one connection, which are not passed on.
const OF_CONNECTION: [&str; 8] = [
    "connection",
    "keep-alive",
    "proxy-authenticate",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// Headers of responses that are recorded: what clients use, and no name of an account.
const RECORDED_HEADERS: [&str; 9] = [
    "cache-control",
    "content-encoding",
    "content-length",
    "content-type",
    "location",
    "mcp-session-id",
    "retry-after",
    "retry-after-ms",
    "x-should-retry",
];

/// A request as it is sent.
#[derive(Debug)]
pub(super) struct UpstreamRequest {
    pub(super) method: Method,
    pub(super) url: String,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
}

/// The head of a response, and its parts as they arrive.
#[derive(Debug)]
pub(super) struct UpstreamResponse {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) parts: mpsc::Receiver<io::Result<Bytes>>,
}

/// A client whose calls go to services as they are: without redirects, limits and errors of its own, and each on a connection of its own,
/// which no service has closed in the meantime.
pub(super) fn client() -> ureq::Agent {
    let config = ureq::Agent::config_builder()
        .http_status_as_error(false)
        .max_idle_connections(0)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .allow_non_standard_methods(true)
        .tls_config(TlsConfig::builder().root_certs(RootCerts::PlatformVerifier).build());
    config.build().new_agent()
}

/// Whether a header is passed on.
pub(super) fn is_of_call(name: &HeaderName, headers: &HeaderMap) -> bool {
    let listed = headers.get_all(CONNECTION).iter().filter_map(|value| value.to_str().ok());
    let is_listed =
        listed.flat_map(|value| value.split(',')).any(|other| other.trim().eq_ignore_ascii_case(name.as_str()));
    !OF_CONNECTION.contains(&name.as_str()) && !is_listed
}

/// Sends a request on a thread for blocking calls. The error is why there is no response.
pub(super) async fn send(
    client: ureq::Agent,
    request: UpstreamRequest,
    call: Option<Arc<CallSoFar>>,
) -> Result<UpstreamResponse, String> {
    let (head, response) = oneshot::channel();
    tokio::task::spawn_blocking(move || exchange(&client, request, call.as_deref(), head));
    response.await.unwrap_or_else(|_| Err("the call was given up".to_owned()))
}

fn exchange(
    client: &ureq::Agent,
    request: UpstreamRequest,
    call: Option<&CallSoFar>,
    head: oneshot::Sender<Result<UpstreamResponse, String>>,
) {
    let response = match ask(client, request) {
        Ok(response) => response,
        Err(error) => {
            // The client may have gone away.
            let _ = head.send(Err(error.to_string()));
            return;
        }
    };
    let (parts, body) = response.into_parts();
    let mut headers = parts.headers.clone();
    let foreign: Vec<HeaderName> = headers.keys().filter(|name| !is_of_call(name, &parts.headers)).cloned().collect();
    foreign.iter().for_each(|name| drop(headers.remove(name)));
    if let Some(call) = call {
        let recorded = RECORDED_HEADERS.iter().filter_map(|name| {
            let value = headers.get(*name)?.to_str().ok()?;
            // An address may be signed.
            let value = if *name == "location" { without_keys(value) } else { value.into() };
            Some(((*name).to_owned(), value.into_owned()))
        });
        call.answered(parts.status.as_u16(), recorded);
    }
    let (sender, receiver) = mpsc::channel(16);
    let has_client = head.send(Ok(UpstreamResponse { status: parts.status, headers, parts: receiver })).is_ok();
    let is_cut = !pass_on(body.into_reader(), call, &sender, has_client);
    if let Some(call) = call {
        call.end(is_cut);
    }
}

fn ask(client: &ureq::Agent, request: UpstreamRequest) -> Result<http::Response<ureq::Body>, ureq::Error> {
    let UpstreamRequest { method, url, mut headers, body } = request;
    let foreign: Vec<HeaderName> = headers
        .keys()
        .filter(|name| !is_of_call(name, &headers))
        .cloned()
        .chain([HOST, CONTENT_LENGTH, EXPECT])
        .collect();
    foreign.iter().for_each(|name| drop(headers.remove(name)));
    // A recording is text, whose changes version control shows.
    headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    let mut built = http::Request::builder().method(method).uri(url);
    if let Some(all) = built.headers_mut() {
        *all = headers;
    }
    let request = built.body(body)?;
    if request.body().is_empty() { client.run(request.map(|_| ())) } else { client.run(request.map(Vec::from)) }
}

/// Passes the parts of a body on as they arrive, and records them. Whether the body came to its end.
fn pass_on(
    mut body: impl Read,
    call: Option<&CallSoFar>,
    parts: &mpsc::Sender<io::Result<Bytes>>,
    mut has_client: bool,
) -> bool {
    let mut buffer = vec![0; LARGEST_PART];
    let mut client_left = None;
    loop {
        match body.read(&mut buffer) {
            Ok(0) => return true,
            Ok(length) => {
                let part = &buffer[..length];
                if let Some(call) = call {
                    call.add(part);
                }
                has_client = has_client && parts.blocking_send(Ok(Bytes::copy_from_slice(part))).is_ok();
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => {
                // The client gets the same end.
                let _ = parts.blocking_send(Err(error));
                return false;
            }
        }
        if !has_client && client_left.get_or_insert_with(Instant::now).elapsed() > AFTER_CLIENT {
            return false;
        }
    }
}
