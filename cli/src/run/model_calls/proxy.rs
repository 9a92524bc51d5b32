//! The servers that agents call in place of the services: one for each base URL, on loopback.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use evalsuite::tooling::{SuiteDescription, variable};
use evalsuite_records::record::ModelCalls;
use evalsuite_schema::json::json;
use hyper::body::{Body, Bytes, Frame, Incoming};
use hyper::header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderName, HeaderValue, UPGRADE};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use ureq::http::Uri;

use super::recorded_calls::{
    KeysOfCall, NO_STATUS, RecordedBody, RecordedRequest, RecordedResponse, recorded_headers, without_keys,
};
use super::recorded_trial::{self, RecordedTrial, UpstreamRequest, UpstreamResponse};
use super::replayed_trial::ReplayedTrial;
use super::trial_turns::{RunningTrial, TrialTurns};
use crate::platform::exit_status::{CliError, Result};

/// Largest body of a request.
const LARGEST_BODY: usize = if cfg!(test) { 1 << 20 } else { 64 << 20 };
/// What replaces the random text between the parts of a form.
const BOUNDARY: &str = "boundary-of-the-recording";

/// What all servers share.
#[derive(Debug)]
pub(super) struct Proxy {
    pub(super) turns: Arc<TrialTurns>,
    pub(super) client: ureq::Agent,
    /// Whether a replay waits between the parts of a response as the recording did.
    pub(super) is_paced: bool,
    /// Number of calls while no trial ran.
    pub(super) outside: AtomicUsize,
}

type Reply = Response<Parts>;

/// Marks the reply to a call whose client went away before there was an answer: the connection is closed without one.
#[derive(Debug, Clone, Copy)]
struct NoAnswer;

impl fmt::Display for NoAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the recorded call had no answer")
    }
}

impl std::error::Error for NoAnswer {}

/// The parts of a body, each sent as soon as it is there.
pub(super) struct Parts {
    parts: mpsc::Receiver<io::Result<Bytes>>,
    /// Whether the server holds a part that it may not have written to the connection yet.
    has_unsent: bool,
}

impl Parts {
    fn new(parts: mpsc::Receiver<io::Result<Bytes>>) -> Self {
        Self { parts, has_unsent: false }
    }
}

impl Body for Parts {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        // While there is nothing to take, the server writes what it has. Else it would send several parts as one, and drop a part that an
        // error follows.
        if std::mem::take(&mut self.has_unsent) {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        let polled = self.parts.poll_recv(context);
        self.has_unsent = matches!(polled, Poll::Ready(Some(Ok(_))));
        polled.map(|part| part.map(|part| part.map(Frame::data)))
    }
}

impl Proxy {
    /// Serves the connections of one base URL until the process ends.
    pub(super) async fn serve(self: Arc<Self>, listener: TcpListener, base: Arc<BaseUrl>) {
        loop {
            match listener.accept().await {
                Ok((stream, _)) => {
                    tokio::spawn(Arc::clone(&self).serve_connection(stream, Arc::clone(&base)));
                }
                // Too many open files, for example: some will be closed.
                Err(_) => tokio::time::sleep(Duration::from_millis(10)).await,
            }
        }
    }

    async fn serve_connection(self: Arc<Self>, stream: TcpStream, base: Arc<BaseUrl>) {
        // Without it, a part may wait for more.
        let _ = stream.set_nodelay(true);
        let answer = service_fn(|request| {
            let (proxy, base) = (Arc::clone(&self), Arc::clone(&base));
            async move {
                let reply = proxy.answer(request, &base).await;
                if reply.extensions().get::<NoAnswer>().is_some() { Err(NoAnswer) } else { Ok(reply) }
            }
        });
        // A client that breaks the connection off gets no answer.
        let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), answer).await;
    }

    async fn answer(&self, request: Request<Incoming>, base: &BaseUrl) -> Reply {
        if request.headers().contains_key(UPGRADE) {
            return problem(StatusCode::NOT_IMPLEMENTED, "only HTTP/1.1 calls can be recorded, not WebSockets");
        }
        let (head, body) = request.into_parts();
        let Ok(body) = whole(body).await else {
            return problem(
                StatusCode::PAYLOAD_TOO_LARGE,
                &format!("the body has more than {LARGEST_BODY} bytes, or broke off"),
            );
        };
        let path = head.uri.path_and_query().map_or("/", |path| path.as_str());
        let keys = KeysOfCall::of(&head.headers, path);
        let recorded = recorded_request(base, &head, path, &body);
        let trial = self.turns.current();
        if trial.is_none() {
            self.outside.fetch_add(1, Ordering::Relaxed);
        }
        match (trial, self.turns.calls) {
            (Some(RunningTrial::Replayed(trial)), _) => self.replay(&trial, &recorded, &keys),
            (None, ModelCalls::Replayed) => problem(
                StatusCode::UNPROCESSABLE_ENTITY,
                &format!("{} while no trial runs: only the calls of trials are recorded", recorded.label()),
            ),
            (trial, _) => {
                let url = format!("{}{path}", base.origin);
                let request = UpstreamRequest { method: head.method.clone(), url, headers: head.headers, body };
                let trial = match trial {
                    Some(RunningTrial::Recorded(trial)) => Some(trial),
                    _ => None,
                };
                self.record(trial, recorded, &keys, request, base).await
            }
        }
    }

    async fn record(
        &self,
        trial: Option<Arc<RecordedTrial>>,
        recorded: RecordedRequest,
        keys: &KeysOfCall,
        request: UpstreamRequest,
        base: &BaseUrl,
    ) -> Reply {
        let call = trial.as_ref().map(|trial| trial.begin(recorded, keys));
        match recorded_trial::send(self.client.clone(), request, call.clone()).await {
            Ok(UpstreamResponse { status, headers, parts }) => {
                let mut reply = Response::new(Parts::new(parts));
                (*reply.status_mut(), *reply.headers_mut()) = (status, headers);
                reply
            }
            Err(error) => {
                if let (Some(trial), Some(call)) = (trial, call) {
                    trial.has_no_answer(&call, &error);
                }
                let message = format!("{} of {} cannot be reached: {error}", base.origin, base.variable);
                problem(StatusCode::BAD_GATEWAY, &message)
            }
        }
    }

    fn replay(&self, trial: &Arc<ReplayedTrial>, request: &RecordedRequest, keys: &KeysOfCall) -> Reply {
        let (response, secrets) = match trial.answer(request, keys) {
            Ok(found) => found,
            Err(message) => return problem(StatusCode::UNPROCESSABLE_ENTITY, &message),
        };
        let parts: io::Result<Vec<(u64, Bytes)>> =
            response.parts.iter().map(|part| Ok((part.after_ms, part.bytes(&secrets)?.into()))).collect();
        match parts {
            Ok(parts) => replayed(response, parts, self.is_paced),
            Err(error) => problem(StatusCode::INTERNAL_SERVER_ERROR, &format!("the recording is damaged: {error}")),
        }
    }
}

/// A recorded response with the same parts.
fn replayed(response: &RecordedResponse, parts: Vec<(u64, Bytes)>, is_paced: bool) -> Reply {
    let (sender, receiver) = mpsc::channel(1);
    let mut reply = Response::new(Parts::new(receiver));
    if response.status == NO_STATUS {
        reply.extensions_mut().insert(NoAnswer);
        return reply;
    }
    *reply.status_mut() = StatusCode::from_u16(response.status).unwrap_or(StatusCode::BAD_GATEWAY);
    for (name, value) in &response.headers {
        if let (Ok(name), Ok(value)) = (name.parse::<HeaderName>(), value.parse::<HeaderValue>()) {
            reply.headers_mut().insert(name, value);
        }
    }
    // What a placeholder stands for may have another length.
    if !response.is_cut && !parts.is_empty() && reply.headers().contains_key(CONTENT_LENGTH) {
        let length: usize = parts.iter().map(|(_, part)| part.len()).sum();
        reply.headers_mut().insert(CONTENT_LENGTH, length.into());
    }
    let is_cut = response.is_cut;
    tokio::spawn(async move {
        for (after_ms, part) in parts {
            if is_paced {
                tokio::time::sleep(Duration::from_millis(after_ms)).await;
            }
            if sender.send(Ok(part)).await.is_err() {
                return;
            }
        }
        if is_cut {
            // The client may have gone away, as it did while it was recorded.
            let _ = sender.send(Err(io::Error::other("the recorded response broke off here"))).await;
        }
    });
    reply
}

/// What of a request is recorded.
fn recorded_request(base: &BaseUrl, head: &hyper::http::request::Parts, path: &str, body: &Bytes) -> RecordedRequest {
    let headers = recorded_headers(&head.headers);
    let mut headers: BTreeMap<String, String> =
        headers.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    let mut body = body.to_vec();
    if let Some(value) = headers.get_mut(CONTENT_TYPE.as_str())
        && let Some((before, boundary)) = value.split_once("boundary=")
    {
        let written = boundary.split(';').next().unwrap_or_default().trim_matches('"').to_owned();
        *value = format!("{before}boundary={BOUNDARY}");
        body = replaced(&body, written.as_bytes(), BOUNDARY.as_bytes());
    }
    RecordedRequest {
        variable: base.variable.clone(),
        method: head.method.to_string(),
        path: without_keys(&base.relative(path)).into_owned(),
        headers,
        body: RecordedBody::of(&body),
    }
}

fn replaced(bytes: &[u8], old: &[u8], new: &[u8]) -> Vec<u8> {
    let mut done = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while !old.is_empty()
        && let Some(at) = rest.windows(old.len()).position(|part| part == old)
    {
        done.extend_from_slice(&rest[..at]);
        done.extend_from_slice(new);
        rest = &rest[at + old.len()..];
    }
    done.extend_from_slice(rest);
    done
}

/// The whole body of a request. The error: it is too large, or its client went away.
async fn whole(mut body: Incoming) -> Result<Bytes, ()> {
    let mut bytes = Vec::new();
    loop {
        let frame = poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await;
        let Some(frame) = frame else { return Ok(bytes.into()) };
        if let Ok(data) = frame.map_err(drop)?.into_data() {
            if bytes.len() + data.len() > LARGEST_BODY {
                return Err(());
            }
            bytes.extend_from_slice(&data);
        }
    }
}

/// An error of the proxy, in the form that clients of OpenAI and of Anthropic read. The status is one that they do not try again.
fn problem(status: StatusCode, message: &str) -> Reply {
    let error =
        json!({"type": "evalsuite", "code": "evalsuite", "param": null, "message": format!("evalsuite: {message}")});
    let body = json!({"type": "error", "error": error}).to_string();
    let (sender, receiver) = mpsc::channel(1);
    // There is room for one part.
    let _ = sender.try_send(Ok(body.clone().into()));
    let mut reply = Response::new(Parts::new(receiver));
    *reply.status_mut() = status;
    reply.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    reply.headers_mut().insert(CONTENT_LENGTH, body.len().into());
    reply.headers_mut().insert("x-should-retry", HeaderValue::from_static("false"));
    reply
}

/// What the clients of vendors read, and their base URLs.
const OF_VENDORS: [(&str, &str); 2] =
    [("OPENAI_BASE_URL", "https://api.openai.com/v1"), ("ANTHROPIC_BASE_URL", "https://api.anthropic.com")];

/// The keys that the clients of vendors require.
pub(super) const KEYS_OF_VENDORS: [&str; 2] = ["OPENAI_API_KEY", "ANTHROPIC_API_KEY"];

/// A base URL whose server is the proxy.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct BaseUrl {
    /// The variable with the URL.
    pub(super) variable: String,
    /// Scheme and authority of the service, such as `https://api.openai.com`; empty if it is not known, in a replay.
    pub(super) origin: String,
    /// User and password of the URL with their `@`, for the client.
    user: String,
    /// Path and query.
    rest: String,
}

impl BaseUrl {
    /// The base URLs of vendors, and those that suites name. In a replay, none has to be set; `recorded` are their paths.
    pub(super) fn all(suites: &[SuiteDescription], recorded: Option<&BTreeMap<String, String>>) -> Result<Vec<Self>> {
        let mut names: BTreeSet<&str> = OF_VENDORS.iter().map(|(name, _)| *name).collect();
        names.extend(suites.iter().flat_map(|suite| &suite.model_urls).map(String::as_str));
        let url = |name: &str| {
            let set = variable(name).filter(|value| !value.trim().is_empty());
            let vendor = || OF_VENDORS.iter().find(|(known, _)| *known == name).map(|(_, url)| (*url).to_owned());
            if let Some(path) = recorded.and_then(|paths| paths.get(name)) {
                return Ok(Self { variable: name.to_owned(), rest: path.clone(), ..Self::default() });
            }
            match set.or_else(vendor) {
                Some(url) => Self::parse(name, url.trim()),
                None if recorded.is_some() => Ok(Self { variable: name.to_owned(), ..Self::default() }),
                None => Err(CliError::with_help(
                    format!("{name} is not set, and `record` of a suite names it"),
                    format!("set {name} to the base URL of the service"),
                )),
            }
        };
        names.into_iter().map(url).collect()
    }

    pub(super) fn parse(variable: &str, url: &str) -> Result<Self> {
        let invalid = || {
            CliError::with_help(
                format!("{variable} is not the URL of a service"),
                "it starts with `http://` or `https://`, such as `https://api.openai.com/v1`",
            )
        };
        let uri: Uri = url.parse().map_err(|_| invalid())?;
        let (Some(scheme @ ("http" | "https")), Some(authority)) = (uri.scheme_str(), uri.authority()) else {
            return Err(invalid());
        };
        let (user, host) = match authority.as_str().rsplit_once('@') {
            Some((user, host)) => (format!("{user}@"), host),
            None => (String::new(), authority.as_str()),
        };
        let written = uri.path_and_query().map_or("", |rest| rest.as_str());
        // The parser adds a slash to a URL without a path.
        let rest = if written == "/" && !url.ends_with('/') { "" } else { written };
        Ok(Self { variable: variable.to_owned(), origin: format!("{scheme}://{host}"), user, rest: rest.to_owned() })
    }

    /// The base URL with another server.
    pub(super) fn at(&self, port: u16) -> String {
        format!("http://{}127.0.0.1:{port}{}", self.user, self.rest)
    }

    /// Path and query, without keys.
    pub(super) fn path(&self) -> String {
        without_keys(&self.rest).into_owned()
    }

    /// The password of the URL.
    pub(super) fn password(&self) -> Option<&str> {
        Some(self.user.strip_suffix('@')?.split_once(':')?.1)
    }

    /// The part of a path after the path of the base URL: it stays the same where the service has another URL.
    pub(super) fn relative(&self, path: &str) -> String {
        let base = self.rest.split('?').next().unwrap_or_default().trim_end_matches('/');
        let rest = path.strip_prefix(base).filter(|rest| rest.is_empty() || rest.starts_with(['/', '?']));
        format!("/{}", rest.unwrap_or(path).trim_start_matches('/'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(url: &str) -> BaseUrl {
        BaseUrl::parse("MODEL_URL", url).unwrap()
    }

    #[test]
    fn a_client_finds_the_proxy_where_it_expects_the_service() {
        for (url, origin, proxied) in [
            ("https://api.openai.com/v1", "https://api.openai.com", "http://127.0.0.1:7/v1"),
            ("https://api.anthropic.com", "https://api.anthropic.com", "http://127.0.0.1:7"),
            ("http://localhost:11434/", "http://localhost:11434", "http://127.0.0.1:7/"),
            ("https://x/openai?api-version=1", "https://x", "http://127.0.0.1:7/openai?api-version=1"),
            ("https://me:secret@x/v1/", "https://x", "http://me:secret@127.0.0.1:7/v1/"),
        ] {
            let base = parsed(url);
            assert_eq!((base.origin.as_str(), base.at(7).as_str()), (origin, proxied), "{url}");
        }
        assert_eq!(parsed("https://me:secret@x/v1/").password(), Some("secret"));
    }

    #[test]
    fn paths_are_relative_to_the_base_url() {
        for (url, path, relative) in [
            ("https://x/v1", "/v1/chat", "/chat"),
            ("https://x/v1/", "/v1/chat?a=b", "/chat?a=b"),
            ("https://x", "/v1/messages", "/v1/messages"),
            ("https://x/v1", "/v10/chat", "/v10/chat"),
            ("https://x/v1", "/v2/chat", "/v2/chat"),
            ("https://x/v1", "/v1", "/"),
            ("https://x", "/", "/"),
            ("https://x/v1/", "/v1//chat", "/chat"),
        ] {
            assert_eq!(parsed(url).relative(path), relative, "{url} {path}");
        }
    }

    #[test]
    fn other_urls_are_an_error() {
        for wrong in ["api.openai.com", "localhost:1/v1", "ftp://x", "http://", "/v1", "http:// x"] {
            let error = BaseUrl::parse("MODEL_URL", wrong).unwrap_err().to_string();
            assert!(error.starts_with("MODEL_URL is not the URL of a service"), "{wrong}: {error}");
        }
    }
}
