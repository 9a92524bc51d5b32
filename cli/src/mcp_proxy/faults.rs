//! Faults of tools: which call has one, and what it does. Calls are counted over all proxies of a trial, as an agent may start a server
//! several times, even for each call.

use std::fs::OpenOptions;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use evalsuite::tooling::{CLAIMS, InjectedFault};
use evalsuite_schema::json::json;
use evalsuite_schema::{McpFault, McpFaultKind, Value, is_tool_named};

/// How late the answer of a slow tool is, in milliseconds.
const SLOW_MS: f64 = 5000.0;

/// The faults of a server.
#[derive(Debug, Default)]
pub(super) struct Faults {
    /// With their places in the target.
    faults: Vec<(usize, McpFault)>,
    claims: Claims,
    /// The last number of each counter that this proxy has seen.
    counted: Mutex<Vec<u64>>,
}

/// What happens to a call.
#[derive(Debug, Clone)]
pub(super) struct CallFault {
    pub(super) record: InjectedFault,
    pub(super) after: Duration,
    message: String,
}

impl Faults {
    /// Those of a server.
    pub(super) fn new(faults: Vec<McpFault>, server: &str, claims: Claims) -> Self {
        let counted = Mutex::new(vec![0; faults.len()]);
        let is_of_server = |fault: &McpFault| fault.server.as_deref().is_none_or(|name| name == server);
        let faults = faults.into_iter().enumerate().filter(|(_, fault)| is_of_server(fault)).collect();
        Self { faults, claims, counted }
    }

    /// Whether there are none.
    pub(super) fn are_none(&self) -> bool {
        self.faults.is_empty()
    }

    /// The fault of a request, if it is a call with one: of the first entry that is for this call. Every entry for the tool counts it.
    pub(super) fn of_call(&self, id: &str, method: &str, params: Option<&Value>) -> io::Result<Option<CallFault>> {
        let Some(tool) = params.filter(|_| method == "tools/call").and_then(|params| params.get("name")?.as_str())
        else {
            return Ok(None);
        };
        let mut found = None;
        for (index, fault) in self.faults.iter().filter(|(_, fault)| is_tool_named(tool, &fault.tool)) {
            let call = self.count(*index)?;
            let is_meant = fault.calls.is_empty() || fault.calls.contains(&call);
            if is_meant && found.is_none() {
                let record = InjectedFault { id: id.to_owned(), tool: tool.to_owned(), fault: fault.fault, call };
                let late = if fault.fault == McpFaultKind::Slow { SLOW_MS } else { 0.0 };
                let after =
                    Duration::try_from_secs_f64(fault.after_ms.unwrap_or(late) / 1000.0).unwrap_or(Duration::MAX);
                let message = fault.message.clone().unwrap_or_else(|| "the tool failed".to_owned());
                found = Some(CallFault { record, after, message });
            }
        }
        Ok(found)
    }

    fn count(&self, index: usize) -> io::Result<u64> {
        let mut counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        counted[index] = self.claims.count(&format!("fault-{index}"), counted[index])?;
        Ok(counted[index])
    }
}

impl CallFault {
    /// Whether the server gets the call.
    pub(super) fn is_made(&self) -> bool {
        matches!(self.record.fault, McpFaultKind::Garbled | McpFaultKind::Slow)
    }

    /// The answer in place of that of the server: a result with an error, as tools report one.
    pub(super) fn answer(&self, id: &Value) -> Option<Value> {
        let content = json!([{"type": "text", "text": self.message}]);
        (self.record.fault == McpFaultKind::Error)
            .then(|| json!({"jsonrpc": "2.0", "id": id, "result": {"content": content, "isError": true}}))
    }
}

/// The response with a damaged result. Errors stay as they are.
pub(super) fn garbled(mut response: Value) -> Value {
    if let Some(result) = response.as_object_mut().and_then(|response| response.get_mut("result")) {
        for part in result.get_mut("content").and_then(Value::as_array_mut).into_iter().flatten() {
            match part.get_mut("text") {
                Some(text) => damage(text),
                None => {
                    if let Some(text) = part.get_mut("resource").and_then(|resource| resource.get_mut("text")) {
                        damage(text);
                    }
                }
            }
        }
        if let Some(structured) = result.get_mut("structuredContent") {
            damage(structured);
        }
    }
    response
}

/// Damages every text in a value; names, numbers and the shape stay.
fn damage(value: &mut Value) {
    match value {
        Value::String(text) => {
            let half = text.chars().count().div_ceil(2);
            let lost = |(index, letter)| if index % 3 == 2 { '\u{fffd}' } else { letter };
            *text = text.chars().take(half).enumerate().map(lost).collect();
        }
        Value::Array(items) => items.iter_mut().for_each(damage),
        Value::Object(object) => object.values_mut().for_each(damage),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// A directory in which each name can be claimed once.
#[derive(Debug, Clone, Default)]
pub(super) struct Claims(PathBuf);

impl Claims {
    /// Those of a session.
    pub(super) fn of(session: &Path) -> Self {
        Self(session.join(CLAIMS))
    }

    /// Claims a name; `false` if it is claimed already.
    pub(super) fn claim(&self, name: &str) -> io::Result<bool> {
        match OpenOptions::new().write(true).create_new(true).open(self.0.join(name)) {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(io::Error::new(error.kind(), format!("{}: {error}", self.0.display()))),
        }
    }

    /// The next number of a counter, from 1; `known` is one that was counted already.
    pub(super) fn count(&self, counter: &str, known: u64) -> io::Result<u64> {
        let mut number = known + 1;
        while !self.claim(&format!("{counter}.{number}"))? {
            number += 1;
        }
        Ok(number)
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, thread};

    use evalsuite_schema::json::json;

    use super::*;

    #[test]
    fn texts_are_damaged_in_the_same_way_each_time_and_the_shape_stays() {
        let response = json!({"id": 1, "result": {
            "content": [{"type": "text", "text": "Meeting at 14:30"}, {"type": "image", "data": "aGk=", "mimeType": "image/png"}],
            "structuredContent": {"time": "14:30", "n": 2},
        }});
        let damaged = json!({"id": 1, "result": {
            "content": [{"type": "text", "text": "Me\u{fffd}ti\u{fffd}g "}, {"type": "image", "data": "aGk=", "mimeType": "image/png"}],
            "structuredContent": {"time": "14\u{fffd}", "n": 2},
        }});
        assert_eq!(garbled(response.clone()), damaged);
        assert_eq!(garbled(response), damaged);
        let error = json!({"id": 1, "error": {"code": -1, "message": "no such tool"}});
        assert_eq!(garbled(error.clone()), error);
    }

    #[test]
    fn proxies_share_what_they_count() {
        let session = tempfile::tempdir().unwrap();
        fs::create_dir(session.path().join(CLAIMS)).unwrap();
        let claims = Claims::of(session.path());
        assert!(claims.claim("notes.0").unwrap() && !claims.claim("notes.0").unwrap());
        let count = |_| {
            let claims = claims.clone();
            thread::spawn(move || (0..50).map(|_| claims.count("fault-0", 0).unwrap()).collect::<Vec<_>>())
        };
        let threads: Vec<_> = (0..4).map(count).collect();
        let mut numbers: Vec<u64> = threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect();
        numbers.sort_unstable();
        assert!(numbers.into_iter().eq(1..=200));
    }
}
