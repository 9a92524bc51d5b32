//! Evaluation suites for AI agents, embedded in the agent's own crate
