//! The JSON Schemas of files accept what the loader accepts, and refuse what one file can say wrong by itself.

use std::collections::{BTreeMap, BTreeSet};

use evalsuite_loader::key_tables::{FILES, json_schema};
use evalsuite_needs::slow;
use evalsuite_schema::diagnostics::Code;
use jsonschema::Validator;
use serde_json::Value;

use crate::breaks;
use crate::choices::Choices;
use crate::generate;
use crate::project::{Data, Layout, Project};
use crate::tree::{Body, Node};
use crate::{VARIANTS, one_of_each_kind};

/// What can be wrong with the keys, types, words and numbers of a file.
const EXPRESSIBLE: &[Code] = &[
    Code::UnknownKey,
    Code::WrongType,
    Code::MissingKey,
    Code::BlankValue,
    Code::InvalidChoice,
    Code::OutOfRange,
    Code::UnsupportedKey,
    Code::InterpolationNotAllowed,
    Code::InvalidId,
    Code::InvalidSuiteName,
    Code::InvalidInput,
    Code::InvalidMessage,
    Code::InvalidContentPart,
    Code::InvalidExpectedOutput,
    Code::NoGraders,
    Code::RemovedGraderType,
    Code::MissingGraderSetting,
    Code::InvalidWeight,
    Code::InvalidHook,
    Code::InvalidRepo,
    Code::InvalidTests,
];

/// Breaks with these codes that a schema does not see, and why.
const BEYOND_A_SCHEMA: &[(&str, &str)] = &[
    ("E022 blank-value a part that is blank", "it is written as an assertion"),
    ("E023 invalid-choice a grader that asks no judge", "the type is one of graders"),
    ("E024 out-of-range a version that is not this one", "the version is that of the reader"),
    ("E027 interpolation-not-allowed a prompt file by a variable", "a prompt is text or the path of a file"),
    ("E027 interpolation-not-allowed part", "`type` says whether `value` is a path"),
    ("E035 invalid-input an input that names a file", "the text is looked at"),
    ("E035 invalid-input content that names a file", "the text is looked at"),
    ("E037 invalid-message a message without", "`tool_calls` or `content`"),
    ("E037 invalid-message no calls and no content", "`tool_calls` or `content`"),
    ("E038 invalid-content-part an image that is none", "the file is looked at"),
    ("E039 invalid-expected-output an element that is not a message", "the first element says what the others are"),
    ("E042 invalid-tests a directory of cases beside a list", "directories are looked at"),
    ("E042 invalid-tests a bad element of `tests`", "text has to start with `file://`"),
    ("E052 missing-grader-setting `", "`mode` or `type` says which keys are needed"),
    ("E052 missing-grader-setting no ", "`mode` or `type` says which keys are needed"),
    ("E052 missing-grader-setting a grader without limits", "one of several keys is needed"),
    ("E052 missing-grader-setting a sample with nothing to judge by", "one of several keys is needed"),
    ("E067 invalid-repo `path` is null in Keys(\"`source`", "`type` says which keys are needed"),
    ("E067 invalid-repo `url` is null in Keys(\"`source`", "`type` says which keys are needed"),
    ("E067 invalid-repo no `path` in Keys(\"`source`", "`type` says which keys are needed"),
    ("E067 invalid-repo no `url` in Keys(\"`source`", "`type` says which keys are needed"),
    ("E067 invalid-repo a source of two types", "`type` says which keys are needed"),
    ("E067 invalid-repo a repo at", "paths are followed"),
    ("E067 invalid-repo local source", "paths are followed"),
    ("E067 invalid-repo two repos at one place", "paths are followed"),
    ("E068 invalid-hook a hook without a command", "`command` or `reset`"),
];

struct Schemas(BTreeMap<&'static str, Validator>);

impl Schemas {
    fn new() -> Self {
        let build = |kind| jsonschema::draft7::new(&json_schema(kind).unwrap().into()).unwrap();
        Self(FILES.iter().map(|(kind, _)| (*kind, build(kind))).collect())
    }

    /// What the schema says about a file; nothing about one that is no file of a suite.
    fn problems(&self, data: &Data) -> Vec<String> {
        let Some((kind, value)) = kind(&data.root).zip(json(&data.root)) else { return Vec::new() };
        self.0[kind].iter_errors(&value).map(|problem| format!("{} at {}", problem, problem.instance_path())).collect()
    }
}

/// The kind of a file, by what its root is.
fn kind(root: &Node) -> Option<&'static str> {
    Some(match root.tag {
        "eval file" => "eval",
        "case" => "case",
        "case list" => "cases",
        "suite.json" => "suite",
        "task" => "task",
        "calibration" => "calibration",
        "sample list" => "samples",
        "template file" => "template",
        "workspace file root" => "workspace",
        _ => return None,
    })
}

/// A value; `None` for characters that are no value.
fn json(node: &Node) -> Option<Value> {
    Some(match &node.body {
        Body::Null => Value::Null,
        Body::Bool(value) => Value::Bool(*value),
        Body::Number(text) => serde_json::from_str(text).ok()?,
        Body::Text(text) => Value::String(text.clone()),
        Body::List(items) => Value::Array(items.iter().map(json).collect::<Option<_>>()?),
        Body::Map(entries) => {
            let pairs = entries.iter().map(|entry| Some((entry.key.clone(), json(&entry.value)?)));
            Value::Object(pairs.collect::<Option<_>>()?)
        }
        Body::Raw(_) => return None,
    })
}

fn files(project: &Project) -> impl Iterator<Item = (&String, &Data)> {
    project.files.keys().filter_map(|name| Some((name, project.data(name)?)))
}

#[slow(hostile)]
#[test]
fn a_valid_file_conforms_to_its_schema() {
    let (schemas, mut seen) = (Schemas::new(), BTreeSet::new());
    let mut problems = Vec::new();
    for layout in Layout::ALL {
        for start in 0..VARIANTS {
            let project = generate::project(Choices::full(start), *layout);
            for (name, data) in files(&project) {
                seen.extend(kind(&data.root));
                let found = schemas.problems(data);
                problems.extend(found.into_iter().map(|problem| format!("{layout:?} {start} {name}: {problem}")));
            }
        }
    }
    assert_eq!(problems, Vec::<String>::new());
    // Skills are not generated, and targets files are loaded by themselves.
    let unseen: Vec<&str> = FILES.iter().map(|(kind, _)| *kind).filter(|kind| !seen.contains(kind)).collect();
    assert_eq!(unseen, ["evals", "skill", "targets"]);
}

#[slow(hostile)]
#[test]
fn a_broken_file_is_refused_by_its_schema() {
    let (schemas, mut seen) = (Schemas::new(), BTreeSet::new());
    let mut accepted = BTreeSet::new();
    for layout in Layout::ALL {
        for start in 0..VARIANTS {
            let project = generate::project(Choices::full(start), *layout);
            for each in one_of_each_kind(breaks::all(&project), &mut seen) {
                if !EXPRESSIBLE.contains(&each.code) {
                    continue;
                }
                let mut broken = project.clone();
                each.apply(&mut broken);
                let is_readable =
                    files(&broken).all(|(_, data)| kind(&data.root).is_none() || json(&data.root).is_some());
                let is_refused = files(&broken).any(|(_, data)| !schemas.problems(data).is_empty());
                if is_readable && !is_refused {
                    accepted.insert(format!("{} {}", each.code, each.what));
                }
            }
        }
    }
    let is_beyond = |what: &str| BEYOND_A_SCHEMA.iter().any(|(start, _)| what.starts_with(start));
    let unexpected: Vec<&String> = accepted.iter().filter(|what| !is_beyond(what)).collect();
    assert_eq!(unexpected, Vec::<&String>::new(), "breaks that a schema accepts");
    for (start, _) in BEYOND_A_SCHEMA {
        assert!(accepted.iter().any(|what| what.starts_with(start)), "`{start}` is refused by a schema");
    }
}
