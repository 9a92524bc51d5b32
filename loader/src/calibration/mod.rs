//! `calibration.yaml` next to a suite: answers rated by people, used to measure judges.

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use evalsuite_schema::diagnostics::suggest;
use evalsuite_schema::grader::{Grader, GraderConfig, LlmGrader};
use evalsuite_schema::keys::Keys;
use evalsuite_schema::{Calibration, Case, GraderKind, Input, Location, Requires, Sample, Trials};

use crate::cases::{self, input};
use crate::diagnostic::{Code, Diagnostics, are_many, report_both, resolve};
use crate::fields::paths::{self, PathKind, Roots, Scope, SearchFailure, SharedFiles};
use crate::fields::{self, Fields, values};
use crate::graders::{CaseFacts, GraderNotes, ParsedGrader, assertions};
use crate::read;
use crate::read::node::{Data, Entry, Node};
use crate::request::Request;
use crate::source::{Files, Span};

/// Maximum number of samples in one file: each is a call of the judge.
const MAX_SAMPLES: usize = 1000;

/// Minimum number of samples: fewer cannot measure a judge.
const MIN_SAMPLES: usize = 2;

/// Cases by id.
type Cases<'c> = HashMap<&'c str, &'c Case>;

/// The result of [`load_calibration`].
#[derive(Debug)]
#[non_exhaustive]
pub struct LoadedCalibration {
    /// The samples; `None` if one of the diagnostics is an error.
    pub calibration: Option<Calibration>,
    /// All problems, by position.
    pub diagnostics: evalsuite_schema::diagnostics::Diagnostics,
    /// The files that were looked at.
    pub files: Files,
}

/// Reads and checks the calibration at `path`, a mapping in YAML or a sample per line in JSONL, that belongs to no suite: no
/// sample can name a case. Only the package root and workspace root of `request` matter.
pub fn load_calibration(path: &Path, request: &Request) -> LoadedCalibration {
    let (files, shared) = (Files::new(&request.workspace_root).with_texts(&request.texts), SharedFiles::default());
    let mut d = Diagnostics::new();
    let roots = Roots::of_file(path, &request.package_root);
    let scope = Scope { request, roots: &roots, files: &files, shared: &shared, dir: &roots.suite_root, vars: None };
    let calibration = read(path, Some(Cases::new()), scope, &mut d);
    let diagnostics = resolve(d, &files);
    LoadedCalibration { calibration: calibration.filter(|_| !diagnostics.has_errors()), diagnostics, files }
}

/// Finds the calibration of the suite in `root`, whose own file is `file` where there may be several.
pub(crate) fn find(root: &Path, file: Option<&str>, scope: Scope<'_>, d: &mut Diagnostics) -> Option<PathBuf> {
    // A broken link exists too, and is reported when it is read.
    let is_there = |path: &PathBuf| path.symlink_metadata().is_ok();
    let names = evalsuite_schema::discovery::calibration_names(file);
    let mut found = names.into_iter().map(|name| root.join(name)).filter(is_there);
    let first = found.next()?;
    // `one.calibration.yaml` is one suite's, and `calibration.yaml` that of the others.
    if let Some(second) = found.find(|path| path.file_stem() == first.file_stem()) {
        let (taken, left) = (scope.files.shown(&first), scope.files.shown(&second));
        let place = Span::whole(scope.files.add(&second));
        let message = format!("`{left}` has no effect: `{taken}` is read");
        d.report(Code::NoEffect, place, message, "delete one");
    }
    match scope.search(&paths::file_name(&first), PathKind::File, &[root.to_path_buf()]) {
        // What is not a file is reported when it is read.
        Ok(_) | Err(SearchFailure::WrongKind(_) | SearchFailure::Missing(_)) => Some(first),
        Err(SearchFailure::Escape(reason)) => {
            let place = Span::whole(scope.files.add(&first));
            fields::reject(Code::PathEscape, place, reason, "copy the file into the suite", d)
        }
    }
}

/// Reads the file at `path`. Its samples may name `cases`; `None` where cases are missing because they have problems.
pub(crate) fn read(
    path: &Path,
    cases: Option<Cases<'_>>,
    scope: Scope<'_>,
    d: &mut Diagnostics,
) -> Option<Calibration> {
    let (file, text) = read::read_text(path, scope.files, d)?;
    let cx = SampleContext { scope, cases, grader: None };
    if cases::is_lines(path) {
        let before = d.len();
        let nodes = read::parse_jsonl(file, &text, d);
        let place = Span::whole(file);
        let samples = (nodes.len() >= MIN_SAMPLES || d.len() == before).then(|| list(&nodes, place, &cx, d))?;
        let mut calibration = Calibration::new(scope.files.location(place));
        calibration.samples = samples;
        return Some(calibration);
    }
    let root = read::parse_yaml(file, &text, d)?;
    mapping(&root, cx, d)
}

fn mapping(root: &Node, mut cx: SampleContext<'_>, d: &mut Diagnostics) -> Option<Calibration> {
    let scope = cx.scope;
    let help = "write `samples:` and a list of answers below it";
    let mut fields = Fields::of_root(root, Calibration::TABLE, help, d)?;
    let mut parts = fields.parts(scope, d);
    if let Some(entry) = fields.get("grader") {
        cx.grader = Some(judge_grader(&entry.value, scope, d));
    }
    let samples = fields.require("samples", d);
    fields.finish(d);
    let samples = samples.map(|entry| samples_of(entry, &cx, d)).unwrap_or_default();
    let mut calibration = Calibration::new(scope.files.location(root.span));
    calibration.fill(&mut parts);
    for object in ["minimum", "maximum"] {
        if let Some(mut keys) = parts.take_written(object) {
            calibration.bar.fill(&mut keys);
        }
    }
    calibration.samples = samples;
    Some(calibration)
}

/// The grader that is asked about samples that name no case.
fn judge_grader(node: &Node, scope: Scope<'_>, d: &mut Diagnostics) -> ParsedGrader {
    let mut parsed = assertions::single(node, scope, d);
    // Copied from a suite, where it may be one that only reports.
    parsed.grader.weight = 1.0;
    if !parsed.is_broken && parsed.grader.config.kind() != GraderKind::Model {
        let message = format!("`grader` is `{}`, which asks no judge", parsed.grader.config.type_name());
        let span = node.entry("type").map_or(node.span, |entry| entry.value.span);
        d.report(Code::InvalidChoice, span, message, "write `llm-grader` or `rubrics`");
        return ParsedGrader { is_broken: true, ..parsed };
    }
    parsed
}

fn samples_of(entry: &Entry, cx: &SampleContext<'_>, d: &mut Diagnostics) -> Vec<evalsuite_schema::Sample> {
    let node = &entry.value;
    match &node.data {
        Data::Sequence(items) => list(items, node.span, cx, d),
        Data::String(_) => from_file(node, cx, d).unwrap_or_default(),
        _ => fields::wrong_type(node, "`samples`", "a list, or the path of a `.jsonl` or `.yaml` file", d)
            .unwrap_or_default(),
    }
}

/// `None`: a problem was reported because of which samples are missing. That too few are left would be a misleading second one.
fn from_file(node: &Node, cx: &SampleContext<'_>, d: &mut Diagnostics) -> Option<Vec<evalsuite_schema::Sample>> {
    let found = cx.scope.find(node, "`samples`", PathKind::File, d)?;
    let before = d.len();
    let nodes = cases::list_in_file(&found.path, "sample", cx.scope, d)?;
    (nodes.len() >= MIN_SAMPLES || d.len() == before).then(|| list(&nodes, node.span, cx, d))
}

fn list(nodes: &[Node], place: Span, cx: &SampleContext<'_>, d: &mut Diagnostics) -> Vec<evalsuite_schema::Sample> {
    if nodes.len() > MAX_SAMPLES {
        let message = format!("{} samples in one calibration, more than {MAX_SAMPLES}", nodes.len());
        d.report(Code::LimitExceeded, place, message, "keep the samples that distinguish judges");
        return Vec::new();
    }
    if nodes.len() < MIN_SAMPLES {
        let count = if nodes.is_empty() { "no sample".to_owned() } else { "one sample".to_owned() };
        let message = format!("{count} in a calibration, too few to measure a judge");
        d.report(Code::TooFewSamples, place, message, "add answers and their scores, at least two");
    }
    let mut ids = HashMap::with_capacity(nodes.len());
    nodes.iter().filter_map(|node| read_sample(node, &mut ids, cx, d)).collect()
}

/// What surrounds a sample.
struct SampleContext<'a> {
    scope: Scope<'a>,
    /// The cases by id; `None` where some are missing because they have problems.
    cases: Option<Cases<'a>>,
    /// The grader of samples that name no case, if one is written.
    grader: Option<ParsedGrader>,
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
fn read_sample(
    node: &Node,
    ids: &mut HashMap<String, Span>,
    cx: &SampleContext<'_>,
    d: &mut Diagnostics,
) -> Option<Sample> {
    let mut fields = Fields::new(node, Sample::TABLE, d)?;
    let (id, id_span) = values::read_id(&mut fields, None, d);
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
    let expected_output = expected.map(|entry| input::read_expected_output(entry, scope, d)).unwrap_or_default();
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
