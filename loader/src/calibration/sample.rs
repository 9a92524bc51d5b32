//! One answer with its score.

use std::collections::HashMap;

use evalsuite_schema::grader::{Grader, GraderConfig, GraderKind, LlmGrader};
use evalsuite_schema::keys::Keys;
use evalsuite_schema::{Case, Input, Location, Requires, Sample, Trials};

use super::Cases;
use crate::cases::{expected_output, input};
use crate::diagnostic::{Code, Diagnostics, are_many, report_both};
use crate::fields::paths::Scope;
use crate::fields::{self, Fields, id};
use crate::graders::assertions::{CaseFacts, ParsedGrader};
use crate::graders::{GraderNotes, assertions};
use crate::read::node::{Entry, Node};
use crate::source::Span;
use evalsuite_schema::diagnostics::suggest;

/// What surrounds a sample.
pub(super) struct SampleContext<'a> {
    pub(super) scope: Scope<'a>,
    /// The cases by id; `None` where some are missing because they have problems.
    pub(super) cases: Option<Cases<'a>>,
    /// The grader of samples that name no case, if one is written.
    pub(super) grader: Option<ParsedGrader>,
}

impl SampleContext<'_> {
    /// Whether one more sample may have a copy of what is written as JSON.
    fn may_copy(&self, json: impl FnOnce() -> serde_json::Result<String>, span: Span, d: &mut Diagnostics) -> bool {
        let shared = self.scope.shared;
        !shared.is_full() && shared.may_copy(json().map_or(0, |text| text.len()), span, d)
    }
}

/// Keys that a sample cannot have if it names a case, which has them.
const OF_CASES: [&str; 3] = ["input", "criteria", "expected_output"];

/// Reads a sample. `ids` are those before it, which are others.
pub(super) fn read(
    node: &Node,
    ids: &mut HashMap<String, Span>,
    cx: &SampleContext<'_>,
    d: &mut Diagnostics,
) -> Option<Sample> {
    let mut fields = Fields::new(node, Sample::TABLE, d)?;
    let (id, id_span) = id::read(&mut fields, None, d);
    let mut parts = fields.parts(cx.scope, d);
    let case = match fields.get("case") {
        Some(entry) => of_suite(entry, &mut fields, cx, d),
        None => of_its_own(id.as_deref(), &mut fields, cx, d),
    };
    fields.finish(d);
    let id = id?;
    if let Some(first) = ids.get(&id) {
        let place = (id_span, format!("two samples have the id `{id}`"));
        report_both(Code::DuplicateId, place, (*first, "first here"), "rename one", d);
    } else {
        ids.insert(id.clone(), id_span);
    }
    let location = cx.scope.files.location(node.span);
    let mut sample = Sample::new(id, location, case?, parts.take("output")?, parts.take("human_score")?);
    sample.rationale = parts.take_written("rationale");
    Some(sample)
}

/// A case of the suite, with one of its judge graders.
fn of_suite(entry: &Entry, fields: &mut Fields<'_>, cx: &SampleContext<'_>, d: &mut Diagnostics) -> Option<Case> {
    let wanted = fields.get("grader");
    for key in OF_CASES {
        if let Some(other) = fields.get(key) {
            let message = format!("`case` and `{key}` contradict each other: the case has its own");
            let (place, case) = ((other.key_span, message), (entry.key_span, "`case` is here"));
            report_both(Code::ConflictingKeys, place, case, "keep one", d);
        }
    }
    let name = fields::literal_text(&entry.value, "`case`", d)?;
    let wanted = match wanted {
        Some(entry) => Some((fields::literal_text(&entry.value, "`grader`", d)?, entry.value.span)),
        None => None,
    };
    // If cases have problems, not all of them are known.
    let cases = cx.cases.as_ref()?;
    let unusable = |span, message: String, help: String, d: &mut Diagnostics| {
        fields::reject(Code::UnknownSampleCase, span, message, help, d)
    };
    let Some(case) = cases.get(name.as_str()) else {
        let near = if are_many(d) { None } else { suggest::did_you_mean(&name, cases.keys().copied()) };
        let help = near.unwrap_or_else(|| "name the id of a case of this suite, or write `input`".to_owned());
        return unusable(entry.value.span, format!("`case` names `{name}`, which is not a case"), help, d);
    };
    if case.conversation.is_some() {
        let message = format!("case `{name}` is a conversation, which is more than one answer");
        return unusable(entry.value.span, message, "write `input` and `criteria`".to_owned(), d);
    }
    let asks = |grader: &&Grader| grader.config.kind() == GraderKind::Model;
    let mut judges: Vec<&Grader> = case.graders.iter().flat_map(Grader::with_members).filter(asks).collect();
    let implicit = implicit(&case.location);
    if case.graders.is_empty() {
        judges.push(&implicit);
    }
    let names: Vec<&str> = judges.iter().map(|grader| grader.name.as_str()).collect();
    let chosen = match (&wanted, judges.as_slice()) {
        (_, []) => {
            let help = "name a case with an `llm-grader` or `rubrics`, or write `input` and `criteria`";
            return unusable(entry.value.span, format!("case `{name}` asks no judge"), help.to_owned(), d);
        }
        (None, [only]) => only,
        (None, _) => {
            let message = format!("case `{name}` has {} graders that ask a judge", judges.len());
            let help = format!("add `grader: NAME`, one of {}", suggest::quoted(&names, "and"));
            return unusable(entry.value.span, message, help, d);
        }
        (Some((wanted, span)), _) => match judges.iter().find(|grader| grader.name == *wanted) {
            Some(found) => found,
            None => {
                let message = format!("case `{name}` has no judge grader `{wanted}`");
                return unusable(*span, message, suggest::did_you_mean_or_known(wanted, &names), d);
            }
        },
    };
    cx.may_copy(|| evalsuite_schema::json::to_string(case), fields.node.span, d).then(|| alone(case, chosen))
}

/// A case that only this sample has.
fn of_its_own(id: Option<&str>, fields: &mut Fields<'_>, cx: &SampleContext<'_>, d: &mut Diagnostics) -> Option<Case> {
    let scope = cx.scope;
    let [input, criteria, expected] = OF_CASES.map(|key| fields.get(key));
    if input.is_none() && !fields.misspells(&["input", "case"]) {
        fields.missing(Code::MissingInput, "input", d);
    }
    let messages = input.and_then(|entry| input::read(entry, &[], scope, d));
    let criteria = criteria.and_then(|entry| fields::text(&entry.value, "`criteria`", d).or(Some(String::new())));
    let expected_output = expected.map(|entry| expected_output::read(entry, scope, d)).unwrap_or_default();
    if let Some(grader) = fields.get("grader") {
        let message = "`grader` names a grader of a case, and the sample names no case";
        d.report(Code::SettingConflict, grader.key_span, message, "add `case`, or move it to the top of the file");
    }
    let place = scope.files.location(fields.node.span);
    let own = cx.grader.as_ref().map(|own| &own.grader);
    if own.is_some_and(|own| !cx.may_copy(|| evalsuite_schema::json::to_string(own), fields.node.span, d)) {
        return None;
    }
    let grader = cx.grader.clone().unwrap_or_else(|| ParsedGrader {
        notes: GraderNotes { bare_judges: vec![fields.node.span], ..GraderNotes::default() },
        ..ParsedGrader::new(implicit(&place), fields.node.span)
    });
    let is_broken = grader.is_broken;
    let facts = CaseFacts {
        expected_output: &expected_output,
        reference_is_broken: expected.is_some() && expected_output.is_empty(),
        has_criteria: criteria.is_some(),
        span: fields.node.span,
        tasks_layout: false,
    };
    let graders = assertions::merge(Vec::new(), &[grader], &facts, d);
    let mut case = Case::new(id?, place);
    case.dir = scope.roots.compiled(scope.dir);
    case.criteria = criteria.filter(|text| !text.is_empty());
    case.input = Input::Messages(messages?);
    case.expected_output = expected_output;
    graders.first().filter(|_| !is_broken).map(|grader| alone(&case, grader))
}

/// The case reduced to what its judge sees, with one grader whose score is the judge's own.
fn alone(case: &Case, grader: &Grader) -> Case {
    let mut grader = grader.clone();
    grader.weight = 1.0;
    grader.required = false;
    grader.min_score = None;
    grader.negate = false;
    let mut case = case.clone();
    case.graders = vec![grader];
    case.trials = Trials::default();
    case.threshold = None;
    case.timeout_seconds = None;
    case.target = None;
    case.targets = Vec::new();
    case.requires = Requires::default();
    case.depends_on = Vec::new();
    case.workspace = None;
    case
}

fn implicit(place: &Location) -> Grader {
    Grader::new("llm-grader", place.clone(), GraderConfig::LlmGrader(LlmGrader::default()))
}
