//! What becomes of the MCP servers of targets in a run.

/// Whether servers are started, and recorded for replays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum McpMode {
    /// They are started.
    Live,
    /// They are started, and their answers are recorded for replays.
    Record,
    /// Their recorded answers take their place.
    Replay,
}

impl McpMode {
    /// The words of the setting.
    pub(crate) const WORDS: [(&str, Option<Self>); 4] =
        [("", None), ("live", Some(Self::Live)), ("record", Some(Self::Record)), ("replay", Some(Self::Replay))];
}
