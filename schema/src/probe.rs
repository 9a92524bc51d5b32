//! What a case says about probes: results of an agent that did nothing.

use evalsuite_derive::{Keys, Words, skip_empty};

use crate::json::{FromJson, ToJson};

/// What `cargo evalsuite probe` expects of a case. A probe is a made-up result of an agent that did no work; the graders have to fail it.
#[skip_empty]
#[derive(Debug, Clone, Default, PartialEq, Eq, ToJson, FromJson, Keys)]
#[json(fill)]
#[keys(id = "probe", what = "`probe`")]
#[non_exhaustive]
pub struct ProbeSettings {
    /// The probes that may pass, because doing nothing is right. Then `busy` or `hedge` has to fail. `silent`: an empty answer. `echo`: the
    /// prompt as the answer. `refusal`: a polite refusal. `hedge`: every expected text and its opposite. `busy`: an empty answer, and every
    /// tool called with empty input.
    #[key(List(&Choice(EmptyProbe::WORDS)), "[silent, refusal]", default = "none")]
    pub passes: Vec<EmptyProbe>,
}

/// A result of an agent that did no work.
///
/// ```
/// use evalsuite_schema::EmptyProbe;
///
/// assert_eq!(EmptyProbe::ALL.map(EmptyProbe::word).join(" "), "silent echo refusal hedge busy");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, ToJson, FromJson, Words)]
#[json(rename_all = "lowercase")]
pub enum EmptyProbe {
    /// An empty answer, and nothing done.
    Silent,
    /// The prompt as the answer.
    Echo,
    /// A polite refusal.
    Refusal,
    /// Every expected text and its opposite.
    Hedge,
    /// An empty answer, and every tool called with empty input.
    Busy,
}

impl EmptyProbe {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Silent, Self::Echo, Self::Refusal, Self::Hedge, Self::Busy];
}
