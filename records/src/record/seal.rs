//! Whether the kernel confined a command.

use evalsuite_schema::json::{FromJson, FromJsonOverDefault, ToJson, skip_empty};

/// Whether the kernel confined a command that ran, and in what.
#[skip_empty(.., network)]
#[derive(Debug, Clone, Default, PartialEq, Eq, ToJson, FromJsonOverDefault)]
#[non_exhaustive]
pub struct SealRecord {
    /// Whether it did.
    pub state: SealState,
    /// Version of the kernel's interface Landlock, from 1; `None` without a seal.
    pub landlock_abi: Option<u32>,
    /// What the command was allowed to reach over the network: `all`, `none`, or `ports` and their numbers.
    pub network: String,
    /// What the kernel refuses: `files`, `truncation`, `processes`, `signals`, `tcp`, `udp`, `unix_sockets`, `abstract_sockets`.
    pub covered: Vec<String>,
    /// What it does not refuse, of the same and `file_metadata`.
    pub uncovered: Vec<String>,
    /// Why a command that was to be sealed is not; `None` if it is, or was not to be.
    pub reason: Option<String>,
}

impl SealRecord {
    /// A command that the kernel does not confine, and why.
    pub fn unsealed(reason: impl Into<String>) -> Self {
        Self { reason: Some(reason.into()), ..Self::default() }
    }

    /// A command that was not to be sealed.
    pub fn off() -> Self {
        Self { state: SealState::Off, ..Self::default() }
    }

    /// Whether the command is sealed.
    pub fn is_sealed(&self) -> bool {
        self.state == SealState::Sealed
    }

    /// Whether the command was to be sealed, and is not.
    pub fn is_unsealed(&self) -> bool {
        self.state == SealState::Unsealed
    }

    /// The record as a line for people, such as "sealed: Landlock ABI 7, network none, not covered: file metadata".
    pub fn text(&self) -> String {
        match self.state {
            SealState::Sealed => {}
            SealState::Unsealed => {
                return format!("unsealed: {}", self.reason.as_deref().unwrap_or("for an unknown reason"));
            }
            SealState::Off => return "off".to_owned(),
        }
        let abi = self.landlock_abi.map_or_else(String::new, |abi| format!("Landlock ABI {abi}, "));
        let uncovered = self.uncovered.join(", ").replace('_', " ");
        let uncovered = if uncovered.is_empty() { uncovered } else { format!(", not covered: {uncovered}") };
        format!("sealed: {abi}network {}{uncovered}", self.network)
    }
}

/// Whether a command is sealed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, ToJson, FromJson)]
pub enum SealState {
    /// The kernel confined it.
    Sealed,
    /// It was to be confined, and had the rights of the user.
    #[default]
    Unsealed,
    /// It was not to be confined.
    Off,
}
