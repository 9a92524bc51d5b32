//! Cases, their input, conversations and probes.

use evalsuite_derive::{Keys, Words, skip_empty};

use crate::diagnostics::Code;
use crate::grader::CRITERIA;
use crate::grader::common_keys::{ASSERTIONS, TaskGrader};
use crate::json::{FromJson, FromJsonOverDefault, ToJson};
use crate::keys::{CANARY, ID, Key, Keys as _, SCHEMA_KEY, Table};
use crate::message::{EXPECTED_OUTPUT, INPUT, TURN_INPUT};
use crate::workspace::WORKSPACE;
use crate::{
    Content, ConversationKeys, Examples, Grader, Location, Message, Object, Requires, Role, SimulatedUser, Trials,
    Value, Workspace,
};

/// One case: an element of `tests`, of a list of cases, or a line of a JSONL file; or `cases/<name>/case.yaml`.
///
/// ```
/// use evalsuite_schema::{Case, Location};
///
/// let case = Case::new("refund-small", Location::new("suites/shop/cases/refund-small/case.yaml", 1, 1));
/// assert!(case.graders.is_empty());
/// ```
#[skip_empty(.., dir, trials, requires, probe, on_dependency_failure)]
#[derive(Debug, Clone, PartialEq, ToJson, FromJson, Keys)]
#[json(fill = "Case::unread")]
#[keys(id = "case", what = "a case", fill)]
#[also(execution: Object(crate::CaseExecution::TABLE), "{timeout_seconds: 60}", "How the case runs.", by_hand)]
#[also(mode: Choice(&["conversation"]), "conversation", "Makes the case a conversation of several `turns`.", codes(ConversationMismatch),
    by_hand)]
#[also(conversation: Object(ConversationKeys::TABLE), "{user: {goal: A refund of order 1182}}",
    "Makes the case a conversation with a simulated user, who continues after the `turns`, if there are any.",
    codes(ConversationMismatch), by_hand)]
#[also(turns: Some(&Object(Turn::TABLE)), "[{input: Hello}, {input: And my refund?}]",
    "The turns of a conversation: the agent is called once for each of them.", codes(ConversationMismatch), by_hand)]
#[also(aggregation: Choice(Aggregation::WORDS), "min", "How the scores of the turns are combined.", default = "`mean`",
    codes(ConversationMismatch), by_hand)]
#[also(on_turn_failure: Choice(OnTurnFailure::WORDS), "stop",
    "What follows a turn below the threshold: the next turn, or none; turns that are not run score 0.", default = "`continue`",
    codes(ConversationMismatch), by_hand)]
#[also(window_size: Integer(1, u32::MAX as u64), "2",
    "History that the agent gets with a turn: system messages and the last 2·n other messages.", default = "the whole conversation",
    unit = "turns", codes(ConversationMismatch), by_hand)]
#[also(input_files: List(&File), "[./invoice.txt]",
    "Files that precede a text `input` in the message of the user. They replace those of the suite.",
    codes(InputFilesWithMessages, EmptyFile), by_hand)]
#[also(rubrics: CRITERIA, "[Names the order]", "Criteria of a judge.", replaced = "assertions` with `type: rubrics", by_hand)]
#[also(evaluator: Choice(&["llm-grader"]), "llm-grader", "How the case is graded.", replaced = "assertions` with `type: llm-grader", by_hand)]
#[also(suite: AnyText, "shop", "Suite of the case.", no_effect = "delete it: a case belongs to the suite it is found in")]
#[also(reference_answer: Any, "Refund approved.", "The reference answer.", no_effect = "write `expected_output`")]
#[also(vars: Data, "{order: {id: 1182}}",
    "Values of `{{ name }}` and `{{ a.b }}` in `input`, `input_files`, `criteria`, `expected_output`, `examples` and graders, including those of turns, simulated users and templates, but not in prompts of judges and lines of the shell. A text that is only a reference becomes the value itself, of any type; in other text, values other than text are inserted as JSON. An unknown name is an error.",
    codes(UnknownVariable, UnknownTemplateVariable, LimitExceeded))]
#[also(matrix: OneOf(&[Map(&Some(&Any)), File]), "{language: [en, de]}",
    "Makes one case of each combination of these values, or of each row of a `.csv` file with a header or of a `.jsonl` file of objects. The values are added to `vars` and to the id, as in `refund-en`.",
    codes(ConflictingKeys, BlankValue, InvalidExternalFile, LimitExceeded), by_hand)]
#[non_exhaustive]
pub struct Case {
    /// Id, unique in the suite.
    pub id: String,
    /// Where the case is defined.
    pub location: Location,
    /// Directory of the file that defines the case, in the form of [`PathRef::path`](crate::PathRef::path).
    pub dir: String,
    /// What the case is about (tasks layout).
    pub description: Option<String>,
    /// What a good answer does. Judges see it. Without `assertions`, a judge grades the answer by it; with `assertions`, of the case or of its
    /// suite, only if one of them asks a judge.
    #[key(Text, "Approves the refund and states the amount.", old("expected_outcome"), by_hand)]
    pub criteria: Option<String>,
    /// What the agent gets: text, which becomes a message of the user, or a list of messages. Required, except in a
    /// conversation.
    #[key(INPUT, "Order 1182 arrived broken.", by_hand)]
    #[key(codes(MissingInput, InvalidInput, RoleMarker, UnknownTemplateVariable))]
    pub input: Input,
    /// The reference answer: text, an object, or a list of messages. `field-accuracy` and `similar` compare with it, and judges
    /// see it.
    #[key(EXPECTED_OUTPUT, "{total: 19.90}", by_hand)]
    #[key(codes(InvalidExpectedOutput, MissingReferenceSolution, FieldNotInExpected))]
    pub expected_output: Vec<Message>,
    /// Reference solution (tasks layout).
    pub reference_solution: Option<ReferenceSolution>,
    /// The graders of the case, before those of the suite.
    #[key(ASSERTIONS, "[{type: contains, value: \"19.90\"}]", name = "assertions", old("assert", "evaluators"))]
    #[key(by_hand, codes(NothingToGrade, UngradedCase, GraderLikeCriterion, ZeroTotalWeight, RepeatedGraderName))]
    pub graders: Vec<Grader>,
    /// Results that the case has to pass or to fail.
    #[key(Object(Examples::TABLE), "{pass: [19.90 is refunded.], fail: [Hello.]}", by_hand)]
    #[key(codes(ConversationMismatch))]
    #[json(default, skip_if = "Examples::is_empty")]
    pub examples: Examples,
    /// Repetition.
    pub trials: Trials,
    /// Threshold written in the case or the suite; `None`: the layout's default.
    pub threshold: Option<f64>,
    /// Limit of one agent call in seconds; `None`: 300 s.
    pub timeout_seconds: Option<f64>,
    /// Target written in the case or the suite; `None`: `default`.
    pub target: Option<String>,
    /// Names of the matrix entries this case runs in; empty: all.
    pub targets: Vec<String>,
    /// Tags for `cargo evalsuite run --tag`, in addition to those of the suite.
    #[key(List(&Text), "[amounts, nightly]")]
    pub tags: Vec<String>,
    /// Free-form data: graders, hooks and records get it, with the suite's. `cargo evalsuite run --bucket` selects by
    /// `failure_bucket`.
    #[key(Data, "{failure_bucket: amounts}")]
    pub metadata: Object,
    /// What the case needs; without it, the case is skipped.
    #[key(Object(Requires::TABLE), "{env: [API_KEY]}")]
    pub requires: Requires,
    /// What `cargo evalsuite probe` expects of the case.
    #[key(Object(ProbeSettings::TABLE), "{passes: [silent, refusal]}")]
    pub probe: ProbeSettings,
    /// Label in records.
    #[key(Text, "support-42")]
    pub conversation_id: Option<String>,
    /// Ids of cases of the suite that run before this one.
    #[key(List(&Literal), "[open-account]", codes(UnknownDependency, DependencyCycle), by_hand)]
    pub depends_on: Vec<String>,
    /// Outcome of the case if a dependency did not pass: skipped, failed, or as if it had passed.
    #[key(Choice(OnDependencyFailure::WORDS), "fail", default = "`skip`", codes(NoEffect))]
    pub on_dependency_failure: OnDependencyFailure,
    /// Turns of a conversation.
    pub conversation: Option<Conversation>,
    /// The directory the agent works in: a mapping, or the path of a file with one. Each of its keys replaces that of the suite.
    #[key(WORKSPACE, "{template: ./workspace}")]
    #[key(default = "`workspace/` next to a `case.yaml` if it exists, else the suite's", by_hand)]
    #[key(codes(InvalidExternalFile))]
    pub workspace: Option<Workspace>,
    /// Commands that turn output files into text for judges, as the suite lists them.
    pub preprocessors: Vec<crate::grader::Preprocessor>,
}

impl Case {
    /// Before its JSON is read.
    fn unread() -> Self {
        Self::new("", Location::default())
    }

    /// A case with an empty input and no graders.
    pub fn new(id: impl Into<String>, location: Location) -> Self {
        Self {
            id: id.into(),
            location,
            dir: String::new(),
            description: None,
            criteria: None,
            input: Input::Messages(Vec::new()),
            expected_output: Vec::new(),
            reference_solution: None,
            graders: Vec::new(),
            examples: Examples::default(),
            trials: Trials::default(),
            threshold: None,
            timeout_seconds: None,
            target: None,
            targets: Vec::new(),
            tags: Vec::new(),
            metadata: Object::new(),
            requires: Requires::default(),
            probe: ProbeSettings::default(),
            conversation_id: None,
            depends_on: Vec::new(),
            on_dependency_failure: OnDependencyFailure::default(),
            conversation: None,
            workspace: None,
            preprocessors: Vec::new(),
        }
    }

    /// The graders of the case, of its turns and of its user, without members of composites.
    pub fn all_graders(&self) -> impl Iterator<Item = &Grader> {
        self.graders.iter().chain(self.conversation.iter().flat_map(Conversation::graders))
    }

    /// The user that is simulated, if there is one.
    pub fn user(&self) -> Option<&SimulatedUser> {
        self.conversation.as_ref().and_then(|conversation| conversation.user.as_ref())
    }

    /// Whether the case, or one of its graders, has examples.
    pub fn has_examples(&self) -> bool {
        !self.examples.is_empty()
            || self.all_graders().flat_map(Grader::with_members).any(|grader| !grader.examples.is_empty())
    }
}

const CASE_ID: Key = Key {
    codes: &[Code::InvalidId, Code::DuplicateId, Code::TestNameCollision],
    ..Key::new("id", ID, "Identifies the case in the suite and names its test.", "refund-small")
};

impl Case {
    /// A case in a list.
    pub const IN_LIST: &'static Table = {
        const DOC: &str = "One case: an element of `tests`, of a list of cases, or a line of a JSONL file.";
        static TABLE: Table = Table {
            common: &[Key { required: true, ..CASE_ID }],
            ..Table::new("case", "a case", DOC, Case::TABLE.keys)
        };
        &TABLE
    };

    /// A case in a file of its own.
    pub const IN_FILE: &'static Table = {
        const DOC: &str = "One case in a file of its own, `cases/<name>/case.yaml`.";
        static TABLE: Table = Table {
            common: &[SCHEMA_KEY[0], Key { default: Some("the name of the case's directory"), ..CASE_ID }],
            ..Table::new("case-file", "a case", DOC, Case::TABLE.keys)
        };
        &TABLE
    };
}

/// What the agent gets.
#[derive(Debug, Clone, PartialEq, ToJson, FromJson)]
pub enum Input {
    /// Messages (cases layout).
    Messages(Vec<Message>),
    /// An object that only the agent understands (tasks layout).
    Data(Object),
}

/// The reference solution of a task.
#[skip_empty]
#[derive(Debug, Clone, PartialEq, ToJson, FromJson, Keys)]
#[keys(id = "reference-solution", what = "`reference_solution`")]
#[non_exhaustive]
pub struct ReferenceSolution {
    /// What the agent should bring about. `field-accuracy` compares with it, and judges see it.
    #[key(Data, "{\"total\": 14.2}")]
    pub expected_outcome: Option<Object>,
    /// Where the solution comes from.
    #[key(Choice(ReferenceSource::WORDS), "captured", default = "`manual`", init = ReferenceSource::Manual)]
    pub source: ReferenceSource,
}

impl ReferenceSolution {
    /// An expected outcome and its source.
    pub fn new(expected_outcome: Option<Object>, source: ReferenceSource) -> Self {
        Self { expected_outcome, source }
    }

    /// The expected outcome as the answer of an assistant, as graders compare it; nothing without one.
    pub fn messages(&self) -> Vec<Message> {
        let outcome = self.expected_outcome.clone().map(Value::Object);
        outcome.into_iter().map(|outcome| Message::new(Role::Assistant, Content::Data(outcome))).collect()
    }
}

/// Where a [`ReferenceSolution`] comes from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, ToJson, FromJson, Words)]
pub enum ReferenceSource {
    /// Written by a person.
    #[default]
    Manual,
    /// Recorded from a run.
    Captured,
    /// Made by a model.
    Synthesized,
}

/// Outcome of a case when one of its dependencies did not pass.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, ToJson, FromJson, Words)]
pub enum OnDependencyFailure {
    /// The case is skipped.
    #[default]
    Skip,
    /// The case fails.
    Fail,
    /// The case still runs.
    Run,
}

/// Turns of a conversation.
#[skip_empty(user, turn_graders, aggregation, on_turn_failure, window_size)]
#[derive(Debug, Clone, PartialEq, ToJson, FromJson)]
#[non_exhaustive]
pub struct Conversation {
    /// The turns that the case writes: at least one, unless there is a user.
    pub turns: Vec<Turn>,
    /// Who writes the turns after those.
    pub user: Option<SimulatedUser>,
    /// Graders of each reply to the user.
    pub turn_graders: Vec<Grader>,
    /// How turn scores are combined.
    pub aggregation: Aggregation,
    /// What happens after a turn below the threshold.
    pub on_turn_failure: OnTurnFailure,
    /// History given to the agent: system messages and the last 2·n others. `None`: all.
    pub window_size: Option<u32>,
}

impl Conversation {
    /// A conversation that runs all its turns; their mean score is the score of the case.
    pub fn new(turns: Vec<Turn>) -> Self {
        Self {
            turns,
            user: None,
            turn_graders: Vec::new(),
            aggregation: Aggregation::Mean,
            on_turn_failure: OnTurnFailure::Continue,
            window_size: None,
        }
    }

    /// The conversation with one turn in place of all that its user would write: the user says what it wants.
    #[must_use]
    pub fn with_made_up_turn(mut self) -> Self {
        if let Some(user) = &self.user {
            let said = [&user.goal, &user.persona, &user.name].into_iter().flatten().next();
            let turn = self.turn_of_user(said.map_or("Hello", String::as_str));
            self.turns.push(turn);
        }
        self
    }

    /// The turn in which the user says this.
    pub fn turn_of_user(&self, text: impl Into<String>) -> Turn {
        Turn::new(Message::text(Role::User, text), Vec::new(), self.turn_graders.clone())
    }

    /// Whether the replies of some turns are graded by themselves: by graders, or by a judge that reads what is expected.
    pub fn has_graded_turns(&self) -> bool {
        let is_graded = |turn: &Turn| !turn.graders.is_empty() || !turn.expected_output.is_empty();
        !self.turn_graders.is_empty() || self.turns.iter().any(is_graded)
    }

    /// The graders of turns and of the user.
    pub fn graders(&self) -> impl Iterator<Item = &Grader> {
        let of_turns = self.turns.iter().flat_map(|turn| &turn.graders).chain(&self.turn_graders);
        of_turns.chain(self.user.iter().flat_map(|user| &user.graders))
    }

    /// The same, to change them.
    pub fn graders_mut(&mut self) -> impl Iterator<Item = &mut Grader> {
        let of_turns = self.turns.iter_mut().flat_map(|turn| &mut turn.graders).chain(&mut self.turn_graders);
        of_turns.chain(self.user.iter_mut().flat_map(|user| &mut user.graders))
    }
}

/// One turn of a conversation.
#[skip_empty]
#[derive(Debug, Clone, PartialEq, ToJson, FromJson, Keys)]
#[keys(id = "turn", what = "a turn", by_hand)]
#[non_exhaustive]
pub struct Turn {
    /// The user's message: text, or a list of parts.
    #[key(TURN_INPUT, "And my refund?", required, codes(ConversationMismatch), by_hand)]
    pub input: Message,
    /// The reference answer of this turn.
    #[key(EXPECTED_OUTPUT, "It is on its way.", codes(InvalidExpectedOutput), by_hand)]
    pub expected_output: Vec<Message>,
    /// Graders of the reply of this turn.
    #[key(ASSERTIONS, "[{type: contains, value: refund}]", name = "assertions", old("assert", "evaluators"), by_hand)]
    pub graders: Vec<Grader>,
}

impl Turn {
    /// A message of the user, its reference answer and the graders of the reply.
    pub fn new(input: Message, expected_output: Vec<Message>, graders: Vec<Grader>) -> Self {
        Self { input, expected_output, graders }
    }
}

/// How turn scores are combined.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, ToJson, FromJson, Words)]
pub enum Aggregation {
    /// Arithmetic mean.
    #[default]
    Mean,
    /// Lowest.
    Min,
    /// Highest.
    Max,
}

/// What happens after a turn below the threshold.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, ToJson, FromJson, Words)]
pub enum OnTurnFailure {
    /// The next turn runs.
    #[default]
    Continue,
    /// The remaining turns are not run and score 0.
    Stop,
}

/// One task: a JSON file below `tasks/`.
#[derive(Debug, Keys)]
#[keys(id = "task", what = "a task", common = keys::SCHEMA_KEY)]
pub struct Task {
    /// Identifies the task in the suite.
    #[key(Pattern(r"^(?=[\s\S]*\S)[^\u0000-\u001f\u007f-\u009f]+$", "text without control characters"), "pos_invoice")]
    #[key(required, by_hand, codes(InvalidId, DuplicateId))]
    pub id: (),
    /// What the task is about; judges see it.
    #[key(Text, "An invoice becomes an expense card.", required)]
    pub description: Option<String>,
    /// What the agent gets. Text in `fixture_dir` and `base_fixture` names directories: the workspace is a copy of `base_fixture` with
    /// `fixture_dir` over it, unless the macro has `fixtures = off`.
    #[key(Data, "{\"content\": \"Lunch, 14.20 EUR\"}", codes(MissingFixture, PathEscape))]
    pub input: Object,
    /// Tags for `cargo evalsuite run --tag`.
    #[key(List(&Text), "[\"amounts\", \"nightly\"]")]
    pub tags: Vec<String>,
    /// Free-form data: graders, hooks and records get it.
    #[key(Data, "{\"failure_bucket\": \"amounts\"}")]
    pub metadata: Object,
    /// Number of trials.
    #[key(Integer(1, u32::MAX as u64), "3", default = "1")]
    pub trials_per_run: Option<u32>,
    /// Time limit of one call of the agent.
    #[key(Number(&POSITIVE), "240", default = "the target's, else 300", unit = "seconds")]
    pub timeout_seconds: Option<f64>,
    /// What `cargo evalsuite probe` expects of the task.
    #[key(Object(ProbeSettings::TABLE), "{\"passes\": [\"silent\", \"refusal\"]}")]
    pub probe: Option<ProbeSettings>,
    /// The reference solution.
    #[key(Object(ReferenceSolution::TABLE), "{\"expected_outcome\": {\"total\": 14.2}}")]
    #[key(codes(MissingReferenceSolution))]
    pub reference_solution: Option<ReferenceSolution>,
    /// The graders of the task.
    #[key(Some(&Object(TaskGrader::TABLE)), "[{\"name\": \"is-json\"}]", required, codes(NoGraders), by_hand)]
    pub graders: (),
    /// Results that the task has to pass or to fail.
    #[key(Object(Examples::TABLE), "{\"fail\": [\"Hello.\"]}", by_hand)]
    pub examples: (),
    /// The `canary` of the suite, to detect an agent that reads this file.
    #[key(CANARY, "\"3f0c9b52-61de-4a57-9a0e-7d1f5b8c2e46\"", codes(OutOfRange), by_hand)]
    pub canary: (),
}

/// What `cargo evalsuite probe` expects of a case. A probe is a made-up result of an agent that did no work; the graders have to fail it.
#[skip_empty]
#[derive(Debug, Clone, Default, PartialEq, Eq, ToJson, FromJsonOverDefault, Keys)]
#[keys(id = "probe", what = "`probe`")]
#[non_exhaustive]
pub struct ProbeSettings {
    /// The probes that may pass, because doing nothing is right. Then `busy` or `hedge` has to fail.
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
