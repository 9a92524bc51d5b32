//! Faults of tools: which call has one, and what it does.

use std::io;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use evalsuite::tooling::InjectedFault;
use evalsuite_schema::json::json;
use evalsuite_schema::{McpFault, McpFaultKind, Value, is_tool_named};

use super::claims::Claims;

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
