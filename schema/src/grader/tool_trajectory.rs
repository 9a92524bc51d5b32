//! Settings of `tool-trajectory` and `skill-trigger`.

use evalsuite_derive::{Keys, Words, skip_empty};

use super::GraderSettings;
use crate::json::{FromJson, ToJson, step_of_key};
use crate::{Object, Value};

/// Types of the key `args_match`.
const ARGS_MATCH: crate::keys::Type = crate::keys::Type::OneOf(&[
    crate::keys::Type::Choice(ArgsMatch::WORDS),
    crate::keys::Type::Some(&crate::keys::Type::Text),
]);

/// The agent called the expected tools. The score is the share of expectations that hold. In names of tools, `*` matches any characters and `?` one.
/// A call without input has the arguments `{}`; an input that is an object as JSON text is that object.
#[skip_empty(.., args_match)]
#[derive(Debug, Clone, PartialEq, ToJson, FromJson, Keys)]
pub struct ToolTrajectory {
    /// `any_order`: each tool of `minimums` was called often enough, and none of `maximums` too often. `in_order`: the expected calls
    /// occur in this order, possibly with others in between. `exact`: these calls and no others, in this order. `superset`: every
    /// expected call occurs, each as a call of its own. `subset`: every call is an expected one.
    #[key(Choice(TrajectoryMode::WORDS), "in_order", required)]
    pub mode: TrajectoryMode,
    /// How often each tool has to be called, with `mode: any_order`, which needs `minimums` or `maximums`.
    #[key(Map(&Integer(0, u64::MAX)), "{search: 1}", codes(MissingGraderSetting, SettingConflict), by_hand)]
    pub minimums: Vec<(String, u64)>,
    /// How often each tool may be called, with `mode: any_order`.
    #[key(Map(&Integer(0, u64::MAX)), "{\"delete_*\": 0}", codes(MissingGraderSetting, SettingConflict), by_hand)]
    pub maximums: Vec<(String, u64)>,
    /// The expected calls, with every other mode.
    #[key(List(&Object(ExpectedCall::TABLE)), "[{tool: find_order, args: {id: 1182}}, {tool: refund}]",
        codes(MissingGraderSetting, SettingConflict), by_hand)]
    pub expected: Vec<ExpectedCall>,
    /// How arguments are compared: `exact`, the call has every expected key (`superset`), every key of the call is expected
    /// (`subset`), not at all (`ignore`), or equal at the dotted paths of a list.
    #[key(ARGS_MATCH, "superset", old("argsMatch"), default = "`exact`", codes(InvalidChoice, MissingGraderSetting), by_hand,
        init = ArgsMatch::Exact)]
    pub args_match: ArgsMatch,
}

impl GraderSettings for ToolTrajectory {
    fn tools(&self) -> Vec<(&str, bool)> {
        let is_wanted = self.mode != TrajectoryMode::Subset;
        let expected = self.expected.iter().map(|call| (call.tool.as_str(), is_wanted));
        let minimums = self.minimums.iter().map(|(name, count)| (name.as_str(), *count > 0));
        let maximums = self.maximums.iter().map(|(name, _)| (name.as_str(), false));
        expected.chain(minimums).chain(maximums).collect()
    }
}

/// How the calls of an agent are compared with the expected ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, ToJson, FromJson, Words)]
pub enum TrajectoryMode {
    /// Each tool is called often enough, and not too often.
    AnyOrder,
    /// The expected calls occur in this order, possibly with others in between.
    InOrder,
    /// The expected calls and no others, in this order.
    Exact,
    /// Every expected call occurs.
    Superset,
    /// Every call is an expected one.
    Subset,
}

/// How the arguments of a call are compared.
#[derive(Debug, Clone, Default, PartialEq, Eq, ToJson, FromJson)]
pub enum ArgsMatch {
    /// Equal.
    #[default]
    Exact,
    /// The call has every expected key.
    Superset,
    /// Every key of the call is expected.
    Subset,
    /// Not compared.
    Ignore,
    /// Equal at these dotted paths.
    Paths(Vec<String>),
}

impl ArgsMatch {
    /// The words that select a way of comparing, in the order of the variants.
    pub const WORDS: &'static [&'static str] = &["exact", "superset", "subset", "ignore"];

    /// The value of a key, or at a dotted path; its parts are keys of objects or indices of lists, which are neither `01` nor `+1`.
    pub fn find<'a>(arguments: &'a Object, path: &str) -> Option<&'a Value> {
        if let Some(value) = arguments.get(path) {
            return Some(value);
        }
        let (first, rest) = path.split_once('.')?;
        let pointer = step_of_key(rest).replace('.', "/");
        arguments.get(first)?.pointer(&format!("/{pointer}"))
    }
}

/// One expected call of a tool.
#[skip_empty]
#[derive(Debug, Clone, PartialEq, ToJson, FromJson, Keys)]
#[keys(id = "expected-call", what = "an expected call", missing = MissingGraderSetting)]
#[also(input: Any, "{id: 1182}", "The arguments, as another tool writes them.", no_effect = "write `args`")]
#[also(output: Any, "found", "The result of the call, as another tool writes it.",
    no_effect = "delete it: results of calls are not compared")]
pub struct ExpectedCall {
    /// Name of the tool, or a pattern with `*` and `?`.
    #[key(Text, "refund", required, codes(MissingGraderSetting))]
    pub tool: String,
    /// Expected arguments, or `any`.
    #[key(OneOf(&[Choice(&["any"]), Data]), "{id: 1182}", default = "not compared", by_hand)]
    pub args: Option<Args>,
    /// How the arguments of this call are compared, in place of `args_match` of the grader.
    #[key(ARGS_MATCH, "[id]", old("argsMatch"), default = "as set for the grader", by_hand)]
    #[key(codes(InvalidChoice, MissingGraderSetting, SettingConflict))]
    pub args_match: Option<ArgsMatch>,
    /// Names of arguments, or patterns with `*` and `?`, that are not compared.
    #[key(Some(&Text), "[request_id]", codes(SettingConflict, MissingGraderSetting),
        empty(MissingGraderSetting, "is an empty list", "name arguments that are not compared, or delete the key"))]
    pub ignore_args: Vec<String>,
    /// Longest duration of the call, with `in_order` or `exact`. If it is not reported, the grader is an error.
    #[key(Number(&NOT_NEGATIVE), "500", old("maxDurationMs"), unit = "milliseconds", codes(SettingConflict))]
    pub max_duration_ms: Option<f64>,
}

/// Expected arguments of a call.
#[derive(Debug, Clone, PartialEq, ToJson, FromJson)]
pub enum Args {
    /// Any arguments, or none.
    Any,
    /// These.
    Object(Object),
}

/// The agent used a skill, or did not use it.
#[derive(Debug, Clone, PartialEq, Eq, ToJson, FromJson, Keys)]
pub struct SkillTrigger {
    /// Name of the skill.
    #[key(Text, "refunds", required)]
    pub skill: String,
    /// Whether the skill should be used.
    #[key(Boolean, "false", default = "`true`", init = true)]
    pub should_trigger: bool,
}

impl GraderSettings for SkillTrigger {
    fn name_part(&self) -> Option<String> {
        Some(self.skill.clone())
    }

    fn is_guard(&self, negate: bool) -> bool {
        self.should_trigger == negate
    }
}

crate::keys::made!(Args, ArgsMatch, (String, u64));
