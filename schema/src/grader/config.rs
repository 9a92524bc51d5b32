//! The types of graders: one table with the name, settings and kind of each built-in type.

use serde::{Deserialize, Serialize};

use super::{
    Aggregator, CodeGrader, Composite, Cost, ExecutionMetrics, FieldAccuracy, Grader, JsonSchema, Latency, LlmGrader,
    Regex, Rubrics, Similar, SkillTrigger, TextList, TextValue, TokenUsage, ToolTrajectory,
};
use crate::{Object, record::GraderKind};

macro_rules! built_in_graders {
    ($($(#[$doc:meta])* $variant:ident $(($settings:ty))? = $name:literal, $kind:ident;)*) => {
        /// The type of a grader and its settings.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        #[non_exhaustive]
        pub enum GraderConfig {
            $($(#[$doc])* #[serde(rename = $name)] $variant $(($settings))?,)*
            /// A grader registered in Rust decides.
            #[serde(rename = "user")]
            User {
                /// The registered name, as the file writes it.
                grader: String,
                /// Its settings.
                #[serde(default, skip_serializing_if = "Object::is_empty")]
                config: Object,
            },
        }

        /// Names of all built-in grader types, in the order in which they are documented.
        pub const BUILT_IN: &[&str] = &[$($name,)*];

        /// The [kind](GraderConfig::kind) of a built-in type; `None` for other names.
        pub fn built_in_kind(type_name: &str) -> Option<GraderKind> {
            match type_name {
                $($name => Some(GraderKind::$kind),)*
                _ => None,
            }
        }

        impl GraderConfig {
            /// The type as files and records name it: a built-in type, or the name of a registered grader.
            pub fn type_name(&self) -> &str {
                match self {
                    $(Self::$variant { .. } => $name,)*
                    Self::User { grader, .. } => grader,
                }
            }

            /// Who decides: the judge for [`GraderKind::Model`]. A registered grader may be of another kind.
            pub fn kind(&self) -> GraderKind {
                match self {
                    $(Self::$variant { .. } => GraderKind::$kind,)*
                    Self::User { .. } => GraderKind::Code,
                }
            }
        }
    };
}

built_in_graders! {
    /// The answer contains a text.
    Contains(TextValue) = "contains", Code;
    /// The answer contains one of several texts.
    ContainsAny(TextList) = "contains-any", Code;
    /// The answer contains several texts.
    ContainsAll(TextList) = "contains-all", Code;
    /// As `contains`, ignoring case.
    Icontains(TextValue) = "icontains", Code;
    /// As `contains-any`, ignoring case.
    IcontainsAny(TextList) = "icontains-any", Code;
    /// As `contains-all`, ignoring case.
    IcontainsAll(TextList) = "icontains-all", Code;
    /// The answer starts with a text.
    StartsWith(TextValue) = "starts-with", Code;
    /// The answer ends with a text.
    EndsWith(TextValue) = "ends-with", Code;
    /// The answer is a text.
    Equals(TextValue) = "equals", Code;
    /// A pattern matches somewhere in the answer.
    Regex(Regex) = "regex", Code;
    /// The answer is close to a text.
    Similar(Similar) = "similar", Code;
    /// The answer is JSON.
    IsJson = "is-json", Code;
    /// The answer is JSON of a given shape.
    JsonSchema(JsonSchema) = "json-schema", Code;
    /// The agent was fast enough.
    Latency(Latency) = "latency", Code;
    /// The agent was cheap enough.
    Cost(Cost) = "cost", Code;
    /// The agent used few enough tokens.
    TokenUsage(TokenUsage) = "token-usage", Code;
    /// The agent needed few enough calls, tokens, dollars and milliseconds.
    ExecutionMetrics(ExecutionMetrics) = "execution-metrics", Code;
    /// The agent called the right tools.
    ToolTrajectory(ToolTrajectory) = "tool-trajectory", Code;
    /// The agent used a skill, or left it alone.
    SkillTrigger(SkillTrigger) = "skill-trigger", Code;
    /// Fields of the answer agree with the reference.
    FieldAccuracy(FieldAccuracy) = "field-accuracy", Code;
    /// A command decides.
    CodeGrader(CodeGrader) = "code-grader", Command;
    /// Several graders in one.
    Composite(Composite) = "composite", Code;
    /// A model decides.
    LlmGrader(LlmGrader) = "llm-grader", Model;
    /// A model decides criterion by criterion.
    Rubrics(Rubrics) = "rubrics", Model;
}

/// A judge that a grader asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AskedJudge<'g> {
    /// The default judge.
    Default,
    /// The judge with this name.
    Named(&'g str),
}

impl GraderConfig {
    /// The judge that the grader itself asks, without what the members of a composite ask. Whether a registered grader asks
    /// one is not known here.
    pub fn asked_judge(&self) -> Option<AskedJudge<'_>> {
        let settings = match self {
            Self::LlmGrader(config) => &config.judge,
            Self::Rubrics(config) => &config.judge,
            Self::Composite(Composite { aggregator: Aggregator::LlmGrader { .. }, .. }) => {
                return Some(AskedJudge::Default);
            }
            _ => return None,
        };
        Some(settings.target.as_deref().map_or(AskedJudge::Default, AskedJudge::Named))
    }
}

impl Grader {
    /// The grader and all graders in it, a composite before its members.
    pub fn with_members(&self) -> impl Iterator<Item = &Self> {
        let mut waiting = vec![self];
        std::iter::from_fn(move || {
            let grader = waiting.pop()?;
            if let GraderConfig::Composite(composite) = &grader.config {
                waiting.extend(composite.members.iter().rev());
            }
            Some(grader)
        })
    }
}
