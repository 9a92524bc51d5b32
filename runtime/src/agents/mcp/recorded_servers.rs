//! The recording of a trial, from the traces of its proxies.

use std::collections::BTreeMap;

use evalsuite_schema::McpFaultKind;

use crate::agents::mcp::traced_calls::{TracedExchange, TracedServer};
use crate::record::mcp::RecordedServer;

/// What servers answered. Calls that a fault kept from their server are not in it.
pub(super) fn recorded_servers(traces: &[(String, TracedServer)]) -> BTreeMap<String, RecordedServer> {
    let mut servers: BTreeMap<String, RecordedServer> = BTreeMap::new();
    for (_, traced) in traces {
        let made = traced.exchanges.iter().filter(|exchange| reached_server(exchange));
        let recorded = servers.entry(traced.server.clone()).or_default();
        recorded.exchanges.extend(made.map(|exchange| exchange.recorded.clone()));
    }
    servers
}

fn reached_server(exchange: &TracedExchange) -> bool {
    let fault = exchange.fault.as_ref().map(|fault| fault.fault);
    !matches!(fault, Some(McpFaultKind::Timeout | McpFaultKind::Error))
}
