//! The example `simple_agent_v2` of `agent-client-protocol`, as it was published.

include!(concat!(env!("OUT_DIR"), "/simple_agent_v2.rs"));
