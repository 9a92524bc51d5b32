//! Settings of `composite`.

use evalsuite_derive::Keys;

use crate::Command;
use crate::json::{FromJson, ToJson};

use super::common_keys::ASSERTIONS;
use super::{AskedJudge, Grader, GraderSettings, PreparedCommand, Prompt, ResultSource};

/// Several graders in one, at most 4 levels deep.
#[derive(Debug, Clone, PartialEq, ToJson, FromJson, Keys)]
pub struct Composite {
    /// The members, with different names.
    #[key(ASSERTIONS, "[{type: is-json}, {type: contains, value: paid}]")]
    #[key(name = "assertions", old("assert", "evaluators"), required, by_hand, codes(InvalidComposite))]
    pub members: Vec<Grader>,
    /// How the members become one score.
    #[key(Object(AggregatorKeys::TABLE), "{type: threshold, threshold: 0.5}", required, by_hand)]
    pub aggregator: Aggregator,
}

impl GraderSettings for Composite {
    fn asked_judge(&self) -> Option<AskedJudge<'_>> {
        matches!(self.aggregator, Aggregator::LlmGrader { .. }).then_some(AskedJudge::Default)
    }

    fn command(&self) -> Option<&Command> {
        if let Aggregator::CodeGrader { run, .. } = &self.aggregator { Some(&run.command) } else { None }
    }

    fn members(&self) -> &[Grader] {
        &self.members
    }

    fn members_mut(&mut self) -> &mut [Grader] {
        &mut self.members
    }
}

/// How the members of a composite become one score.
#[derive(Keys)]
#[keys(id = "aggregator", missing = MissingGraderSetting, by_hand)]
#[also(type: OneOf(&[Choice(Aggregator::WORDS), Choice(&["code_grader", "llm_grader"])]), "threshold",
    "The weighted mean of the members; the share of members that pass, of those with a weight above 0, compared with `threshold`; a command; or a judge. `_` and `-` are the same in `code-grader` and `llm-grader`.",
    required, codes(MissingGraderSetting, InvalidComposite))]
#[also(weights: Map(&Number(&NOT_NEGATIVE)), "{is-json: 2}", "Weights of members by name, with `weighted_average`.",
    default = "the members' own", codes(InvalidComposite, InvalidWeight, SettingConflict))]
#[also(threshold: Number(&PASS_MARK), "0.5", "Lowest share of passing members, with `threshold`, which needs it.",
    codes(MissingGraderSetting, SettingConflict))]
#[also(command: Command, "[./combine.py]", "What runs, with `code-grader`, which needs it.", or = "path",
    codes(MissingGraderSetting, InvalidCommand, SettingConflict))]
#[also(cwd: Directory, "./graders", "Working directory of the command, with `code-grader`.", default = "the directory of the eval file",
    codes(SettingConflict))]
#[also(result: Choice(ResultSource::WORDS), "status", "Where the result of the command is read, as in `code-grader`.",
    default = "`output`", codes(SettingConflict))]
#[also(prompt: Text, "file://combine.md", "Prompt with `{{EVALUATOR_RESULTS_JSON}}`, or `file://` with its path, with `llm-grader`.",
    default = "a built-in one", codes(SettingConflict, UnknownTemplateVariable, PathLikePrompt, MissingPath))]
#[also(model: Text, "gpt-5-mini", "Model that the judge is asked for, with `llm-grader`.", codes(SettingConflict))]
pub struct AggregatorKeys;

/// How the members of a composite become one score.
#[derive(Debug, Clone, PartialEq, ToJson, FromJson)]
#[json(rename_all = "kebab-case")]
pub enum Aggregator {
    /// Weighted mean of the members' values.
    #[json(rename = "weighted_average")]
    WeightedAverage {
        /// Weight by member name, where it differs from the member's own, in the order written.
        #[json(default, skip_if = "Vec::is_empty")]
        weights: Vec<(String, f64)>,
    },
    /// Share of passing members, compared with a threshold.
    Threshold {
        /// The threshold, in (0, 1].
        threshold: f64,
    },
    /// A command decides.
    CodeGrader {
        /// What runs.
        run: PreparedCommand,
        /// Where its result is read.
        #[json(default, skip_if = "crate::is_default")]
        result: ResultSource,
    },
    /// A model decides.
    LlmGrader {
        /// Prompt with `{{EVALUATOR_RESULTS_JSON}}`; `None`: the built-in one.
        #[json(default, skip_if = "Option::is_none")]
        prompt: Option<Prompt>,
        /// Model handed to the judge.
        #[json(default, skip_if = "Option::is_none")]
        model: Option<String>,
    },
}

impl Aggregator {
    /// The words that select a type, in the order of the variants.
    pub const WORDS: &'static [&'static str] = &["weighted_average", "threshold", "code-grader", "llm-grader"];
}

crate::keys::made!(Aggregator, Grader);
