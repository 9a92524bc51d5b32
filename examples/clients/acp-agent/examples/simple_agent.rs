//! The example `simple_agent` of `agent-client-protocol`, as it was published.

include!(concat!(env!("OUT_DIR"), "/simple_agent.rs"));
