//! Simulated users: who writes the turns of a conversation that its case does not write.

use crate::diagnostics::Location;
use evalsuite_derive::{Keys, skip_empty};

use crate::grader::AskedJudge;
use crate::grader::common_keys::ASSERTIONS;
use crate::json::{FromJson, ToJson};
use crate::keys::{Keys as _, Type};
use crate::{Grader, Object};

/// Most turns that a user may write.
const MOST_TURNS: u64 = 100;

/// Turns that a user may write by default.
const TURNS: u32 = 10;

/// `conversation`, or its key `user`: the name of a function, or what the user is.
const USER: Type = Type::OneOf(&[Type::Literal, Type::Object(SimulatedUser::TABLE)]);

/// Who the agent talks with, after the fixed `turns` of the case if it has any.
#[derive(Keys)]
#[keys(id = "conversation", what = "`conversation`", by_hand)]
#[also(user: USER, "{persona: In a hurry, goal: A refund of order 1182}",
    "A simulated user, who writes turns until the conversation ends: what the user is, or the name of a function of the macro's `users`.",
    required, by_hand)]
#[also(turn_assertions: ASSERTIONS, "[{type: contains, value: password, negate: true}]",
    "Graders of each reply of the agent to this user. Without them, these turns have no scores of their own.", by_hand)]
pub struct ConversationKeys;

/// A user whose turns a model or a function writes while the conversation runs.
///
/// ```
/// use evalsuite_schema::{Location, SimulatedUser};
///
/// let user = SimulatedUser::new(Location::new("suites/shop/cases/refund/case.yaml", 4, 3));
/// assert_eq!((user.max_turns, user.graders.len()), (10, 0));
/// ```
#[skip_empty]
#[derive(Debug, Clone, PartialEq, ToJson, FromJson, Keys)]
#[json(fill = "SimulatedUser::unread")]
#[keys(id = "user", what = "`user`", fill)]
#[non_exhaustive]
pub struct SimulatedUser {
    /// Where it is written.
    pub location: Location,
    /// Name of a function of the macro's `users`, which writes the turns. Without one, a model does.
    #[key(Literal, "angry_customer", codes(UnknownUser, SettingConflict))]
    pub name: Option<String>,
    /// Who the user is, and how it talks.
    #[key(Text, "Mira, in a hurry. Writes short sentences and does not know her order number.")]
    pub persona: Option<String>,
    /// What the user wants. The conversation ends when the user says that it is reached. Required without a `name`.
    #[key(Text, "A refund of the broken lamp.", codes(MissingKey))]
    pub goal: Option<String>,
    /// What else ends the conversation, in words; the user decides whether it applies.
    #[key(Text, "The agent has refused twice.")]
    pub stops_when: Option<String>,
    /// Maximum number of turns that the user writes.
    #[key(Integer(1, MOST_TURNS), "6", default = "10", unit = "turns")]
    pub max_turns: u32,
    /// Name of the judge that writes the turns.
    #[key(Literal, "customer", default = "the default judge", codes(UnknownJudge, SettingConflict))]
    pub judge: Option<String>,
    /// Model that the judge is asked for.
    #[key(Text, "gpt-5-mini", default = "the judge's own", codes(SettingConflict))]
    pub model: Option<String>,
    /// Temperature.
    #[key(Number(&TEMPERATURE), "0.5", default = "`EVALSUITE_JUDGE_TEMPERATURE`, else 0", codes(SettingConflict))]
    pub temperature: Option<f64>,
    /// Time limit of one turn of the user.
    #[key(Number(&POSITIVE), "60", default = "`EVALSUITE_JUDGE_TIMEOUT_SECONDS`, else 120", unit = "seconds")]
    pub timeout_seconds: Option<f64>,
    /// Free-form data that the function or the judge gets.
    #[key(Data, "{patience: 2}")]
    pub config: Object,
    /// Graders of the user: whether it stayed in its role. They see what it said and its role. A trial whose user fails them is an error.
    #[key(ASSERTIONS, "[Does not offer help]", name = "assertions", by_hand)]
    #[key(codes(ZeroTotalWeight, RepeatedGraderName))]
    pub graders: Vec<Grader>,
}

impl SimulatedUser {
    /// A user about which nothing is known but where it is written.
    pub fn new(location: Location) -> Self {
        Self {
            location,
            name: None,
            persona: None,
            goal: None,
            stops_when: None,
            max_turns: TURNS,
            judge: None,
            model: None,
            temperature: None,
            timeout_seconds: None,
            config: Object::new(),
            graders: Vec::new(),
        }
    }

    /// Before its JSON is read.
    fn unread() -> Self {
        Self::new(Location::default())
    }

    /// The judge that writes the turns; `None` if a function does.
    pub fn asked_judge(&self) -> Option<AskedJudge<'_>> {
        let named = || self.judge.as_deref().map_or(AskedJudge::Default, AskedJudge::Named);
        self.name.is_none().then(named)
    }

    /// What its turns depend on: everything but its graders, its time limit and where it is written.
    #[must_use]
    pub fn as_asked(&self) -> Self {
        Self { graders: Vec::new(), timeout_seconds: None, location: Location::default(), ..self.clone() }
    }
}
