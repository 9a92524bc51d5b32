//! Settings of graders: one file per family, and what all of them share.

pub(crate) mod assertions;
mod code;
mod composite;
mod criteria;
mod field_accuracy;
pub(crate) mod json_schema;
mod judge;
mod metrics;
mod preprocessors;
mod prompt;
mod score_ranges;
mod text;
mod trajectory;

#[cfg(test)]
pub(crate) mod tests;

use std::path::Path;

use evalsuite_schema::grader::GraderConfig;

use crate::diagnostic::{Code, Diagnostics};
use crate::fields;
use crate::fields::Fields;
use crate::fields::paths::Scope;
use crate::keys::{Table, grader, range};
use crate::read::node::{Data, Entry, Node};
use crate::source::Span;

pub(crate) use criteria::{list as criteria, plain as plain_criterion};
pub(crate) use preprocessors::read as preprocessors;

/// Where a grader is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GraderContext<'a> {
    pub(crate) scope: Scope<'a>,
    /// Composites around it.
    pub(crate) depth: usize,
    /// Templates around it, the innermost first.
    pub(crate) templates: Option<&'a IncludedTemplate<'a>>,
}

/// A template that is being included.
#[derive(Debug, Clone, Copy)]
pub(crate) struct IncludedTemplate<'a> {
    pub(crate) path: &'a Path,
    pub(crate) parent: Option<&'a IncludedTemplate<'a>>,
}

impl<'a> GraderContext<'a> {
    /// The place of a list in a file of the suite.
    pub(crate) fn new(scope: Scope<'a>) -> Self {
        Self { scope, depth: 0, templates: None }
    }

    /// Whether variables are resolved in this file: not in the tasks layout.
    fn interpolates(&self) -> bool {
        !self.scope.roots.only_root
    }
}

/// What is known about a grader in addition to its settings.
#[derive(Debug, Clone, Default)]
pub(crate) struct GraderNotes {
    /// Graders registered in Rust that it uses, and where they are named.
    pub(crate) users: Vec<(String, Span)>,
    /// Paths of `field-accuracy`, and where they are written.
    pub(crate) fields: Vec<(String, Span)>,
    /// Whether it compares with a reference.
    pub(crate) needs_reference: bool,
    /// Judge graders without a prompt or criteria of their own.
    pub(crate) bare_judges: Vec<Span>,
    /// Graders without a text of their own to compare with: their type, the key that has the text, and the place.
    pub(crate) bare_comparisons: Vec<(&'static str, &'static str, Span)>,
    /// A pass mark that is a setting of the type.
    pub(crate) pass_mark: Option<f64>,
}

impl GraderNotes {
    /// Adds what is known about a member.
    fn extend(&mut self, member: &GraderNotes) {
        self.users.extend_from_slice(&member.users);
        self.fields.extend_from_slice(&member.fields);
        self.needs_reference |= member.needs_reference;
        self.bare_judges.extend_from_slice(&member.bare_judges);
        self.bare_comparisons.extend_from_slice(&member.bare_comparisons);
    }
}

type SettingsReader =
    fn(&mut Fields<'_>, GraderContext<'_>, &mut GraderNotes, &mut Diagnostics) -> Option<GraderConfig>;

/// A built-in type.
pub(crate) struct GraderType {
    /// Its table of keys; the id is its name.
    pub(crate) object: &'static Table,
    /// Reads the settings of the type. `None`: a problem was reported.
    pub(crate) read: SettingsReader,
}

macro_rules! types {
    ($($object:ident => $read:expr;)*) => {
        const TYPES: &[GraderType] = &[$(GraderType { object: &grader::$object, read: $read },)*];
    };
}

types! {
    CONTAINS => |f, _, _, d| text::value(f, d).map(GraderConfig::Contains);
    CONTAINS_ANY => |f, _, _, d| text::values(f, d).map(GraderConfig::ContainsAny);
    CONTAINS_ALL => |f, _, _, d| text::values(f, d).map(GraderConfig::ContainsAll);
    ICONTAINS => |f, _, _, d| text::value(f, d).map(GraderConfig::Icontains);
    ICONTAINS_ANY => |f, _, _, d| text::values(f, d).map(GraderConfig::IcontainsAny);
    ICONTAINS_ALL => |f, _, _, d| text::values(f, d).map(GraderConfig::IcontainsAll);
    STARTS_WITH => |f, _, _, d| text::value(f, d).map(GraderConfig::StartsWith);
    ENDS_WITH => |f, _, _, d| text::value(f, d).map(GraderConfig::EndsWith);
    EQUALS => |f, _, _, d| text::value(f, d).map(GraderConfig::Equals);
    REGEX => |f, cx, _, d| text::regex(f, cx, d).map(GraderConfig::Regex);
    SIMILAR => |f, cx, notes, d| text::similar(f, cx, notes, d).map(GraderConfig::Similar);
    IS_JSON => |_, _, _, _| Some(GraderConfig::IsJson);
    CONTAINS_JSON => |f, cx, _, d| json_schema::read_optional(f, cx.scope, d).map(GraderConfig::ContainsJson);
    JSON_SCHEMA => |f, cx, _, d| json_schema::read(f, cx.scope, d).map(GraderConfig::JsonSchema);
    LATENCY => |f, _, _, d| metrics::latency(f, d).map(GraderConfig::Latency);
    COST => |f, _, _, d| metrics::cost(f, d).map(GraderConfig::Cost);
    TOKEN_USAGE => |f, _, _, d| metrics::token_usage(f, d).map(GraderConfig::TokenUsage);
    EXECUTION_METRICS => |f, _, _, d| metrics::execution_metrics(f, d).map(GraderConfig::ExecutionMetrics);
    TOOL_TRAJECTORY => |f, _, _, d| trajectory::tools(f, d).map(GraderConfig::ToolTrajectory);
    SKILL_TRIGGER => |f, _, _, d| trajectory::skill(f, d).map(GraderConfig::SkillTrigger);
    FIELD_ACCURACY => |f, _, notes, d| field_accuracy::read(f, notes, d).map(GraderConfig::FieldAccuracy);
    CODE_GRADER => |f, cx, _, d| code::read(f, cx.scope, d).map(GraderConfig::CodeGrader);
    COMPOSITE => |f, cx, notes, d| composite::read(f, cx, notes, d).map(GraderConfig::Composite);
    LLM_GRADER => |f, cx, notes, d| judge::llm_grader(f, cx, notes, d).map(GraderConfig::LlmGrader);
    RUBRICS => |f, cx, _, d| judge::rubrics(f, cx.scope, "criteria", d).map(GraderConfig::Rubrics);
    COMPARE => |f, cx, notes, d| judge::compare(f, cx, notes, d).map(GraderConfig::Compare);
}

/// The old type `rubric`.
pub(crate) const RUBRIC: GraderType = GraderType {
    object: &grader::RUBRIC,
    read: |f, cx, _, d| judge::rubrics(f, cx.scope, "rubrics", d).map(GraderConfig::Rubrics),
};

/// The built-in type with this name; `_` and `-` are the same.
pub(crate) fn built_in(name: &str) -> Option<&'static GraderType> {
    if name.contains('_') {
        let folded = name.replace('_', "-");
        return TYPES.iter().find(|known| known.object.id == folded);
    }
    TYPES.iter().find(|known| known.object.id == name)
}

/// The name of a grader without `name`; `written` is the type as written.
pub(crate) fn automatic_name(config: &GraderConfig, written: &str) -> String {
    match config {
        GraderConfig::Contains(text)
        | GraderConfig::Icontains(text)
        | GraderConfig::StartsWith(text)
        | GraderConfig::EndsWith(text)
        | GraderConfig::Equals(text) => format!("{}-{}", config.type_name(), text.value),
        GraderConfig::ContainsAny(list)
        | GraderConfig::ContainsAll(list)
        | GraderConfig::IcontainsAny(list)
        | GraderConfig::IcontainsAll(list) => format!("{}-{}", config.type_name(), list.value.len()),
        GraderConfig::Regex(regex) => {
            let end = regex.value.char_indices().nth(30).map_or(regex.value.len(), |(end, _)| end);
            format!("regex-{}", &regex.value[..end])
        }
        GraderConfig::SkillTrigger(trigger) => format!("skill-trigger-{}", trigger.skill),
        _ => written.replace('_', "-"),
    }
}

/// The value of a key that the type needs.
fn require<'n>(fields: &mut Fields<'n>, key: &'static str, d: &mut Diagnostics) -> Option<&'n Entry> {
    let found = fields.get(key);
    if found.is_none() {
        fields.missing(Code::MissingGraderSetting, key, d);
    }
    found
}

/// A share in a weighted mean.
pub(crate) fn weight(node: &Node, what: &str, d: &mut Diagnostics) -> Option<f64> {
    let found = match &node.data {
        Data::Number(number) => match number.as_f64() {
            Some(value) if value >= 0.0 && value.is_finite() => return Some(value),
            _ => format!("{what} is {number}"),
        },
        _ => format!("{what} is {}", node.kind()),
    };
    fields::reject(Code::InvalidWeight, node.span, found, "write a number of at least 0", d)
}

/// A pass mark.
pub(crate) fn min_score(node: &Node, d: &mut Diagnostics) -> Option<f64> {
    fields::number_in(node, "`min_score`", &range::PASS_MARK, d)
}
