//! Settings of `llm-grader` and `rubrics`, and of all graders that ask a judge.

use evalsuite_derive::{Keys, Words, skip_empty};

use super::{AskedJudge, GraderSettings, PreparedCommand};
use crate::json::{FromJson, FromJsonOverDefault, ToJson};
use crate::keys::{Keys as _, Type};
use crate::{Command, Object, PathRef};

/// A list of criteria.
pub(crate) const CRITERIA: Type = Type::List(&Type::OneOf(&[Type::Text, Type::Object(Criterion::TABLE)]));

/// As [`CRITERIA`], at least one.
const SOME_CRITERIA: Type = Type::Some(&Type::OneOf(&[Type::Text, Type::Object(Criterion::TABLE)]));

/// A judge passes the answer. Without `prompt` and `rubrics`, it grades by the case's `criteria` and reference answer.
#[skip_empty(.., judge)]
#[derive(Debug, Clone, Default, PartialEq, ToJson, FromJsonOverDefault, Keys)]
pub struct LlmGrader {
    /// The prompt: text, `file://` with its path, or a command that prints it. A prompt with `{{ output }}` is sent as it is; any other
    /// text is what the built-in prompt asks for.
    #[key(OneOf(&[Text, Object(PromptCommand::TABLE)]), "Is the tone of the answer friendly?", default = "a built-in one",
        codes(PromptWithoutAnswer, UnknownTemplateVariable, PathLikePrompt, EmptyFile, MissingPath), by_hand)]
    pub prompt: Option<Prompt>,
    /// Criteria that are judged one by one.
    #[key(CRITERIA, "[Names the order number]", codes(InvalidRubric), by_hand)]
    pub rubrics: Vec<Criterion>,
    /// What is handed to the judge.
    #[key(flatten)]
    pub judge: JudgeSettings,
}

impl GraderSettings for LlmGrader {
    fn texts(&self) -> Vec<&str> {
        self.rubrics.iter().filter_map(|one| one.outcome.as_deref()).collect()
    }

    fn asked_judge(&self) -> Option<AskedJudge<'_>> {
        Some(self.judge.asked())
    }
}

/// A judge checks the answer criterion by criterion. Plain texts among assertions are one such grader.
#[derive(Debug, Clone, Default, PartialEq, ToJson, FromJsonOverDefault, Keys)]
pub struct Rubrics {
    /// The criteria, at least one; a single one may be written as text.
    #[key(OneOf(&[Text, SOME_CRITERIA]), "[Names the order number, {id: tone, outcome: Polite, weight: 2}]", required,
        codes(InvalidRubric), by_hand)]
    pub criteria: Vec<Criterion>,
    /// What is handed to the judge.
    #[key(flatten)]
    #[json(default, skip_if = "crate::is_default")]
    pub judge: JudgeSettings,
}

impl GraderSettings for Rubrics {
    fn texts(&self) -> Vec<&str> {
        self.criteria.iter().filter_map(|one| one.outcome.as_deref()).collect()
    }

    fn asked_judge(&self) -> Option<AskedJudge<'_>> {
        Some(self.judge.asked())
    }
}

/// Settings of `rubric`, the old name of `rubrics`.
#[derive(Keys)]
#[keys(by_hand)]
#[also(rubrics: OneOf(&[Text, SOME_CRITERIA]), "[Names the order number]", "The criteria, at least one.", or = "criteria", required, by_hand)]
pub struct OldRubric {
    #[key(flatten)]
    _judge: JudgeSettings,
}

/// What is handed to a judge.
#[skip_empty]
#[derive(Debug, Clone, Default, PartialEq, ToJson, FromJsonOverDefault, Keys)]
pub struct JudgeSettings {
    /// Name of the judge.
    #[key(Literal, "strict", default = "the default judge", codes(UnknownJudge))]
    pub target: Option<String>,
    /// Model that the judge is asked for.
    #[key(Text, "gpt-5-mini", default = "the judge's own")]
    pub model: Option<String>,
    /// Temperature.
    #[key(Number(&TEMPERATURE), "0.5", default = "`EVALSUITE_JUDGE_TEMPERATURE`, else 0")]
    pub temperature: Option<f64>,
    /// Maximum number of steps of a judge that is an agent.
    #[key(Integer(1, 50), "5", old("maxSteps"), default = "10")]
    pub max_steps: Option<u32>,
    /// Time limit of one call.
    #[key(Number(&POSITIVE), "60", default = "`EVALSUITE_JUDGE_TIMEOUT_SECONDS`, else 120", unit = "seconds")]
    pub timeout_seconds: Option<f64>,
    /// How many judgements follow a failing one; the majority decides.
    #[key(Number(&CONFIRM), "4", default = "`EVALSUITE_JUDGE_CONFIRM`, else `judge_confirm` of the macro, else 2")]
    pub confirm: Option<u32>,
    /// Free-form data that the judge gets.
    #[key(Data, "{strict: true}")]
    pub config: Object,
    /// Commands that turn files in the answer into text, tried before the suite's.
    #[key(List(&Object(Preprocessor::TABLE)), "[{type: pdf, command: [./pdf_to_text.sh]}]", by_hand)]
    pub preprocessors: Option<Vec<Preprocessor>>,
}

impl JudgeSettings {
    /// The judge that is asked.
    pub fn asked(&self) -> AskedJudge<'_> {
        self.target.as_deref().map_or(AskedJudge::Default, AskedJudge::Named)
    }
}

/// A prompt of a judge.
#[derive(Debug, Clone, PartialEq, ToJson, FromJson)]
pub enum Prompt {
    /// Text written in the case.
    Text(String),
    /// A file, with its text at compile time.
    File {
        /// The file.
        file: PathRef,
        /// Its text.
        text: String,
    },
    /// A command whose output is the prompt.
    Command {
        /// The command.
        run: PreparedCommand,
        /// Handed to the command.
        #[json(default, skip_if = "Object::is_empty")]
        config: Object,
    },
}

/// A command that prints the prompt.
#[derive(Keys)]
#[keys(id = "prompt-command", what = "`prompt`", missing = MissingGraderSetting)]
pub struct PromptCommand {
    /// Program and arguments.
    #[key(Arguments, "[./prompt.py]", old("script"), required)]
    #[key(codes(MissingGraderSetting, InvalidCommand, MissingPath, ArgumentNotFound))]
    pub command: Command,
    /// Free-form data that the command gets.
    #[key(Data, "{strict: true}")]
    pub config: Object,
}

/// One criterion. A plain text is a required criterion, too.
#[skip_empty(.., operator)]
#[derive(Debug, Clone, PartialEq, ToJson, FromJson, Keys)]
#[keys(id = "criterion", what = "a criterion", by_hand)]
pub struct Criterion {
    /// Identifies the criterion in the grader.
    #[key(Literal, "tone", default = "`rubric-n`, with its position", codes(InvalidRubric))]
    pub id: String,
    /// What a good answer does. Optional with `score_ranges`.
    #[key(Text, "Is polite.", codes(InvalidRubric))]
    pub outcome: Option<String>,
    /// `correctness`: the answer has to satisfy the outcome. `contradiction`: the answer must not make a claim that is incompatible with the outcome;
    /// an answer that does not mention it passes.
    #[key(Choice(Operator::WORDS), "contradiction", default = "`correctness`", codes(SettingConflict))]
    pub operator: Operator,
    /// Share in the mean of the criteria.
    #[key(Number(&NOT_NEGATIVE), "2", default = "1", codes(InvalidWeight, ZeroTotalWeight))]
    pub weight: f64,
    /// Whether the grader fails if the criterion is not satisfied. One with a `min_score` is always required.
    #[key(Boolean, "false", default = "`true`; `false` with `score_ranges`", codes(SettingConflict))]
    pub required: bool,
    /// Lowest score that satisfies a criterion with `score_ranges`.
    #[key(Number(&PASS_MARK), "0.7", codes(InvalidRubric, SettingConflict, ConflictingKeys))]
    pub min_score: Option<f64>,
    /// What the scores from 0 to 10 mean: a list of ranges, or a mapping from the lowest score of each range to its meaning. Every
    /// score is covered once.
    #[also(required_min_score: Integer(0, TOP as u64), "7", "`min_score` out of 10: the old way to write it.",
        codes(DeprecatedValue, InvalidRubric))]
    #[key(OneOf(&[Some(&Object(ScoreRange::TABLE)), Map(&Text)]), "{0: rude, 5: neutral, 8: friendly}",
        default = "satisfied or not", codes(InvalidScoreRanges))]
    pub score_ranges: Vec<ScoreRange>,
}

/// How an answer is compared with the outcome of a [`Criterion`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, ToJson, FromJson, Words)]
pub enum Operator {
    /// It has to satisfy the outcome.
    #[default]
    Correctness,
    /// It must not contradict the outcome.
    Contradiction,
}

/// What a range of scores means.
#[derive(Debug, Clone, PartialEq, Eq, ToJson, FromJson, Keys)]
#[keys(id = "score-range", what = "a score range", by_hand)]
#[also(score_range: List(&Integer(0, TOP as u64)), "[0, 4]", "The lowest and the highest score.", required, codes(InvalidScoreRanges))]
pub struct ScoreRange {
    /// Lowest score of the range, 0 to 10.
    pub low: u8,
    /// Highest score of the range, 0 to 10.
    pub high: u8,
    /// What an answer with such a score looks like.
    #[key(Text, "Rude or dismissive.", required, codes(InvalidScoreRanges))]
    pub outcome: String,
}

/// A command that turns files of a type into text.
#[derive(Debug, Clone, PartialEq, Eq, ToJson, FromJson, Keys)]
#[keys(id = "preprocessor", what = "a preprocessor")]
pub struct Preprocessor {
    /// Media type, or ending of the file's name.
    #[key(Literal, "pdf", name = "type", required, codes(SettingConflict))]
    #[json(rename = "type")]
    pub media_type: String,
    /// Program and arguments; the path of the file is added.
    #[key(Arguments, "[pdftotext, -layout]", required, codes(InvalidCommand, MissingPath, ArgumentNotFound))]
    pub command: Command,
}

crate::keys::made!(Prompt);
