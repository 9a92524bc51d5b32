//! A judge behind an OpenAI-compatible endpoint for chat completions.

pub(crate) mod chat_completion;
#[cfg(test)]
#[allow(clippy::cast_possible_truncation, reason = "a body of 16 MiB fits everywhere")]
pub(crate) mod tests;

use std::io;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use evalsuite_schema::Value;
use ureq::http::{StatusCode, header};
use ureq::tls::{RootCerts, TlsConfig};

use crate::judge::NoJudge;
use crate::judge::endpoint::chat_completion::Format;
use crate::judge::endpoint_settings::{Endpoint, Secret};
use crate::model::judge::{BoundJudge, JudgeError, JudgeReply, JudgeRequest};
use crate::platform::excerpt::first_chars;
use crate::platform::redaction::Redactor;
use crate::platform::url::{secrets_of_query, with_path_end, without_credentials};

/// Bytes of a reply that are read.
const LARGEST: u64 = 16 << 20;
/// Answers of a service that takes no requests now, besides those of a broken one.
const BUSY: [StatusCode; 2] = [StatusCode::TOO_MANY_REQUESTS, StatusCode::REQUEST_TIMEOUT];
/// Characters of a refusal that are shown.
const SHOWN: usize = 500;

/// The judge at a service. All cases share it, so that what the service does not support is found out once.
#[allow(clippy::unnecessary_wraps, reason = "the same signature as without the feature")]
pub(crate) fn endpoint_judge(endpoint: &Endpoint) -> Result<BoundJudge, NoJudge> {
    static KNOWN: Mutex<Vec<(Endpoint, BoundJudge)>> = Mutex::new(Vec::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, judge)) = known.iter().find(|(other, _)| other == endpoint) {
        return Ok(judge.clone());
    }
    let service = Service::new(endpoint.clone());
    let judge = BoundJudge::blocking(endpoint.model.as_str(), move |request| service.ask(&request));
    known.push((endpoint.clone(), judge.clone()));
    Ok(judge)
}

/// The judge at a service that `EVALSUITE_JUDGE_*` describes.
pub(crate) struct Service {
    url: String,
    /// The URL without its secrets.
    shown_url: String,
    redactor: Redactor,
    endpoint: Endpoint,
    /// The strictest [`Format`] that the service has not rejected, as its position in [`Format::ALL`].
    format: AtomicU8,
}

/// The HTTP client of this process, with the certificate authorities of the platform. Redirects are not followed: one would send
/// the key to another address.
static AGENT: LazyLock<ureq::Agent> = LazyLock::new(|| {
    let tls = TlsConfig::builder().root_certs(RootCerts::PlatformVerifier).build();
    let config = ureq::Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .tls_config(tls)
        .user_agent(concat!("evalsuite/", env!("CARGO_PKG_VERSION")));
    ureq::Agent::new_with_config(config.build())
});

impl Service {
    pub(crate) fn new(endpoint: Endpoint) -> Self {
        let url = with_path_end(&endpoint.url, "/chat/completions");
        let secrets = endpoint.key.iter().map(|Secret(key)| key.clone()).chain(secrets_of_query(&url));
        let shown_url = without_credentials(&url);
        let redactor = Redactor::default().and_values(secrets);
        Self { url, shown_url, redactor, endpoint, format: AtomicU8::new(0) }
    }

    fn key(&self) -> Option<&str> {
        self.endpoint.key.as_ref().map(|Secret(key)| key.as_str())
    }

    /// One request, in the strictest form that the service accepts.
    pub(crate) fn ask(&self, request: &JudgeRequest) -> Result<JudgeReply, JudgeError> {
        let model = request.model().unwrap_or(&self.endpoint.model);
        let mut with_temperature = true;
        let mut position = self.format.load(Ordering::Relaxed);
        loop {
            let format = Format::ALL.get(usize::from(position)).copied().unwrap_or(Format::Plain);
            let body = chat_completion::body(request, model, format, with_temperature);
            let (status, retry_after, text) = self.post(&body, request.limit())?;
            if status.is_success() {
                self.format.store(position, Ordering::Relaxed);
                return chat_completion::reply(&text, self.endpoint.price);
            }
            let message = self.refusal(status, &text, request);
            match status {
                // Services do not name the part of a request that they reject in the same words.
                StatusCode::BAD_REQUEST | StatusCode::UNPROCESSABLE_ENTITY => {
                    if with_temperature && request.temperature() == 0.0 && text.contains("temperature") {
                        with_temperature = false;
                    } else if format != Format::Plain && request.response_schema().is_some() {
                        position += 1;
                    } else {
                        return Err(JudgeError::permanent(message).unpaid());
                    }
                }
                StatusCode::TOO_MANY_REQUESTS if text.contains("insufficient_quota") => {
                    return Err(JudgeError::permanent(message).unpaid());
                }
                status if status.is_server_error() || BUSY.contains(&status) => {
                    let error = JudgeError::new(message).unpaid();
                    return Err(match retry_after {
                        Some(wait) => error.with_retry_after(wait),
                        None => error,
                    });
                }
                _ => return Err(JudgeError::permanent(message).unpaid()),
            }
        }
    }

    fn post(&self, body: &Value, limit: Duration) -> Result<(StatusCode, Option<Duration>, String), JudgeError> {
        let config = AGENT.post(&self.url).config().timeout_global(Some(limit));
        let config = if is_local(&self.url) { config.proxy(None) } else { config };
        let mut post =
            config.build().header(header::CONTENT_TYPE, "application/json").header(header::ACCEPT, "application/json");
        if let Some(key) = self.key() {
            post = post.header(header::AUTHORIZATION, format!("Bearer {key}"));
        }
        let mut response = post.send(body.to_string()).map_err(|error| self.failed(&error, limit))?;
        let (status, retry_after) = (response.status(), chat_completion::wait(response.headers(), SystemTime::now()));
        let text = response
            .body_mut()
            .with_config()
            .limit(LARGEST)
            .lossy_utf8(true)
            .read_to_string()
            .map_err(|error| self.failed(&error, limit))?;
        Ok((status, retry_after, text))
    }

    fn failed(&self, error: &ureq::Error, limit: Duration) -> JudgeError {
        let no_reply = || format!("no reply within {} s", limit.as_secs_f64());
        let (failure, what): (fn(String) -> JudgeError, String) = match error {
            ureq::Error::Timeout(_) => (JudgeError::new, no_reply()),
            ureq::Error::Io(error) if error.kind() == io::ErrorKind::TimedOut => (JudgeError::new, no_reply()),
            ureq::Error::BodyExceedsLimit(_) => {
                (JudgeError::permanent, format!("the reply has more than {LARGEST} bytes"))
            }
            ureq::Error::BadUri(_) | ureq::Error::Http(_) | ureq::Error::InvalidProxyUrl => {
                (JudgeError::permanent, error.to_string())
            }
            // TLS of another version, or no TLS at all: it will not be there a moment later.
            ureq::Error::Io(error) if is_tls(&self.url) && error.kind() == io::ErrorKind::InvalidData => {
                let help = "does the service have TLS? an address that starts with `http://` is called without it";
                (JudgeError::permanent, format!("{error}\nhelp: {help}"))
            }
            ureq::Error::Protocol(_) if !is_tls(&self.url) => {
                let help = "the reply is not HTTP; the address of a service with TLS starts with `https://`";
                (JudgeError::new, format!("{error}\nhelp: {help}"))
            }
            _ => (JudgeError::new, error.to_string()),
        };
        let failure = failure(self.redactor.apply(&format!("{}: {what}", self.shown_url)).into_owned());
        if was_not_sent(error) { failure.unpaid() } else { failure }
    }

    /// Why the service rejected a request, without the secrets that its message may repeat.
    fn refusal(&self, status: StatusCode, text: &str, request: &JudgeRequest) -> String {
        let said = chat_completion::error_message(text).unwrap_or_else(|| text.trim().to_owned());
        let said = self.redactor.apply(&said);
        let hint = match status {
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN if self.key().is_some() => {
                "the service rejects the key; check EVALSUITE_JUDGE_API_KEY (or OPENAI_API_KEY)".to_owned()
            }
            StatusCode::UNAUTHORIZED => "set EVALSUITE_JUDGE_API_KEY".to_owned(),
            StatusCode::NOT_FOUND if said.to_lowercase().contains("model") => match request.model() {
                Some(model) => format!("the judge asks for the model `{model}`; name one that the service has"),
                None => format!(
                    "EVALSUITE_JUDGE_MODEL is `{}`; set it to a model that the service has",
                    self.endpoint.model
                ),
            },
            StatusCode::NOT_FOUND => "EVALSUITE_JUDGE_URL is the base, such as http://localhost:8080/v1".to_owned(),
            status if status.is_redirection() => {
                "redirects are not followed; set EVALSUITE_JUDGE_URL to where it leads".to_owned()
            }
            _ => String::new(),
        };
        let said = first_chars(&said, SHOWN);
        let before_text = if said.is_empty() { "" } else { ": " };
        let before_hint = if hint.is_empty() { "" } else { "\nhelp: " };
        format!("{}: {status}{before_text}{said}{before_hint}{hint}", self.shown_url)
    }
}

/// Whether no service got the request.
fn was_not_sent(error: &ureq::Error) -> bool {
    match error {
        ureq::Error::Io(error) => error.kind() == io::ErrorKind::ConnectionRefused,
        ureq::Error::BadUri(_)
        | ureq::Error::Http(_)
        | ureq::Error::InvalidProxyUrl
        | ureq::Error::HostNotFound
        | ureq::Error::ConnectionFailed => true,
        _ => false,
    }
}

fn is_tls(url: &str) -> bool {
    url.get(..6).is_some_and(|scheme| scheme.eq_ignore_ascii_case("https:"))
}

fn is_local(url: &str) -> bool {
    let host = url.split_once("://").map_or(url, |(_, rest)| rest);
    ["localhost", "127.", "[::1]"].iter().any(|local| host.starts_with(local))
}
