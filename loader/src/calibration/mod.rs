//! `calibration.yaml` next to a suite: answers rated by people, by which judges are measured.

mod sample;

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use evalsuite_schema::keys::Keys;
use evalsuite_schema::{Calibration, Case, GraderKind};

use self::sample::SampleContext;
use crate::diagnostic::{Code, Diagnostics, resolve};
use crate::fields::paths::{PathKind, Roots, Scope, SearchFailure};
use crate::fields::shared_files::SharedFiles;
use crate::fields::{Fields, paths};
use crate::graders::assertions::{self, ParsedGrader};
use crate::read::node::{Data, Entry, Node};
use crate::request::Request;
use crate::source::{Files, Span};
use crate::{cases, fields, read};

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
    let names = evalsuite_discovery::calibration_names(file);
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
    nodes.iter().filter_map(|node| sample::read(node, &mut ids, cx, d)).collect()
}
