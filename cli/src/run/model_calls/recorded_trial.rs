//! A trial whose calls are sent to the services they are meant for, and recorded once the trial has ended.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Read};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use evalsuite::tooling::{BeginTrial, Placeholders};
use hyper::body::Bytes;
use hyper::header::{ACCEPT_ENCODING, CONNECTION, CONTENT_LENGTH, EXPECT, HOST, HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, StatusCode};
use tokio::sync::{mpsc, oneshot};
use ureq::http;
use ureq::tls::{RootCerts, TlsConfig};

use super::recorded_calls::{
    KeysOfCall, KnownSecrets, NO_STATUS, RecordedCall, RecordedPart, RecordedRequest, RecordedResponse, Recording,
    without_keys,
};

/// How long the end of a trial waits for the ends of responses: clients leave when they have read the last event.
const GRACE: Duration = Duration::from_secs(1);

/// The calls of a running trial.
#[derive(Debug)]
pub(super) struct RecordedTrial {
    trial: BeginTrial,
    base_paths: BTreeMap<String, String>,
    calls: Mutex<CallsSoFar>,
}

#[derive(Debug, Default)]
struct CallsSoFar {
    calls: Vec<Arc<CallSoFar>>,
    keys: BTreeSet<String>,
    secrets: KnownSecrets,
    /// The first call without an answer, and why.
    unanswered: Option<String>,
}

/// A call while its response arrives.
#[derive(Debug)]
pub(super) struct CallSoFar {
    request: RecordedRequest,
    response: Mutex<ResponseSoFar>,
}

#[derive(Debug)]
struct ResponseSoFar {
    response: RecordedResponse,
    /// The parts as bytes.
    parts: Vec<(u64, Vec<u8>)>,
    last: Instant,
    has_ended: bool,
}

impl RecordedTrial {
    pub(super) fn new(trial: BeginTrial, base_paths: BTreeMap<String, String>, mut secrets: KnownSecrets) -> Self {
        secrets.add(trial.secrets.iter().cloned(), []);
        Self { trial, base_paths, calls: Mutex::new(CallsSoFar { secrets, ..CallsSoFar::default() }) }
    }

    /// A call begins.
    pub(super) fn begin(&self, request: RecordedRequest, keys: &KeysOfCall) -> Arc<CallSoFar> {
        let response = RecordedResponse { status: NO_STATUS, headers: [].into(), parts: Vec::new(), is_cut: true };
        let response = ResponseSoFar { response, parts: Vec::new(), last: Instant::now(), has_ended: false };
        let call = Arc::new(CallSoFar { request, response: Mutex::new(response) });
        let mut so_far = lock(&self.calls);
        so_far.secrets.add_call(keys);
        so_far.keys.extend(keys.variables.iter().cloned());
        so_far.calls.push(Arc::clone(&call));
        call
    }

    /// A call has no answer of the service: it has to be recorded again.
    pub(super) fn has_no_answer(&self, call: &CallSoFar, reason: &str) {
        lock(&call.response).has_ended = true;
        let text = format!("{} got no answer: {reason}", call.request.label());
        lock(&self.calls).unanswered.get_or_insert(text);
    }

    /// Ends the trial and writes its recording. The error is why there is none.
    pub(super) fn end(&self, is_complete: bool) -> Result<usize, String> {
        if !is_complete {
            return Err("the trial ended in an error".to_owned());
        }
        let end = Instant::now() + GRACE;
        while lock(&self.calls).calls.iter().any(|call| !lock(&call.response).has_ended) && Instant::now() < end {
            thread::sleep(Duration::from_millis(2));
        }
        let so_far = lock(&self.calls);
        if let Some(unanswered) = &so_far.unanswered {
            return Err(unanswered.clone());
        }
        let secrets = so_far.secrets.placeholders();
        let calls = so_far.calls.iter().map(|call| call.recorded(secrets)).collect::<Result<Vec<_>, _>>()?;
        let count = calls.len();
        let is_called = |variable: &String| calls.iter().any(|call| call.request.variable == *variable);
        let base_paths = self.base_paths.clone().into_iter().filter(|(variable, _)| is_called(variable)).collect();
        let recording = Recording::new(&self.trial, so_far.keys.clone(), base_paths, calls);
        let file = &self.trial.file;
        recording.write(file, secrets).map_err(|error| format!("{} cannot be written: {error}", file.display()))?;
        Ok(count)
    }
}

impl CallSoFar {
    /// The head of the response has arrived.
    pub(super) fn answered(&self, status: u16, headers: impl IntoIterator<Item = (String, String)>) {
        let mut so_far = lock(&self.response);
        so_far.response.status = status;
        so_far.response.headers = headers.into_iter().collect();
    }

    /// A part of the body has arrived.
    pub(super) fn add(&self, part: &[u8]) {
        let mut so_far = lock(&self.response);
        let after = u64::try_from(so_far.last.elapsed().as_millis()).unwrap_or(u64::MAX);
        so_far.last = Instant::now();
        so_far.parts.push((after, part.to_owned()));
    }

    /// The response has ended, or broken off.
    pub(super) fn end(&self, is_cut: bool) {
        let mut so_far = lock(&self.response);
        so_far.response.is_cut = is_cut;
        so_far.has_ended = true;
    }

    fn recorded(&self, secrets: &Placeholders) -> Result<RecordedCall, String> {
        let so_far = lock(&self.response);
        let mut response = so_far.response.clone();
        response.parts = recorded_parts(&so_far.parts, secrets)
            .ok_or_else(|| format!("the response to {} is binary and contains a key", self.request.label()))?;
        Ok(RecordedCall { request: self.request.clone(), response })
    }
}

/// The parts of a body. Those of a text with a key that is split between two parts become one, in which the key is found. `None`: it
/// cannot be hidden.
fn recorded_parts(parts: &[(u64, Vec<u8>)], secrets: &Placeholders) -> Option<Vec<RecordedPart>> {
    let whole: Vec<u8> = parts.iter().flat_map(|(_, bytes)| bytes).copied().collect();
    let is_hidden = |bytes: &[u8]| str::from_utf8(bytes).is_ok() || secrets.secret_in(bytes).is_none();
    let separate = || parts.iter().map(|(after, bytes)| RecordedPart::new(*after, bytes)).collect();
    let text: String =
        parts.iter().map(|(_, bytes)| secrets.hide(&String::from_utf8_lossy(bytes)).into_owned()).collect();
    if secrets.secret_in(text.as_bytes()).is_none() && parts.iter().all(|(_, bytes)| is_hidden(bytes)) {
        return Some(separate());
    }
    let after = parts.iter().map(|(after, _)| after).sum();
    is_hidden(&whole).then(|| vec![RecordedPart::new(after, &whole)])
}

/// What was recorded before a panic elsewhere is still valid.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

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
fn is_of_call(name: &HeaderName, headers: &HeaderMap) -> bool {
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
            if head.send(Err(error.to_string())).is_err() {
                call.into_iter().for_each(|call| call.end(true));
            }
            return;
        }
    };
    let (parts, body) = response.into_parts();
    let mut headers = parts.headers.clone();
    let foreign: Vec<HeaderName> = headers.keys().filter(|name| !is_of_call(name, &parts.headers)).cloned().collect();
    foreign.iter().for_each(|name| drop(headers.remove(name)));
    let (sender, receiver) = mpsc::channel(16);
    let head = head.send(Ok(UpstreamResponse { status: parts.status, headers: headers.clone(), parts: receiver }));
    if head.is_err() {
        // A client that went away before has no answer, and gets none in a replay.
        return call.into_iter().for_each(|call| call.end(true));
    }
    if let Some(call) = call {
        let recorded = RECORDED_HEADERS.iter().filter_map(|name| {
            let value = headers.get(*name)?.to_str().ok()?;
            // An address may be signed.
            let value = if *name == "location" { without_keys(value) } else { value.into() };
            Some(((*name).to_owned(), value.into_owned()))
        });
        call.answered(parts.status.as_u16(), recorded);
    }
    let is_cut = !pass_on(body.into_reader(), call, &sender);
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
fn pass_on(mut body: impl Read, call: Option<&CallSoFar>, parts: &mpsc::Sender<io::Result<Bytes>>) -> bool {
    let mut has_client = true;
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
