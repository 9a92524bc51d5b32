//! The public API of the libraries for users, and of those whose types they export, as committed listings: a change of the surface is seen in
//! review. The other libraries promise no API.

mod expansion;
mod listing;
mod names;
mod re_exported_types;
mod signature;
mod small_sources;

use std::collections::BTreeSet;
use std::{env, fs};

use evalsuite_tests::source::{CrateSource, read_source_files, workspace_root};

use self::re_exported_types::PublicType;

/// Folders of the libraries and the names they are imported by.
const LIBRARIES: &[(&str, &str)] = &[
    ("build", "evalsuite_build"),
    ("dynamic", "evalsuite_dynamic"),
    ("macros", "evalsuite_macros"),
    ("records", "evalsuite_records"),
    // Tests compare its types with the schemas of what they are written as.
    ("report", "evalsuite_report"),
    ("runtime", "evalsuite"),
    ("schema", "evalsuite_schema"),
];

const UPDATE: &str = "UPDATE_PUBLIC_API";

#[test]
fn the_public_api_is_the_committed_one() {
    let mut problems = Vec::new();
    for (folder, name) in LIBRARIES {
        let sources = format!("{folder}/src");
        let krate = CrateSource::parse(&read_source_files(workspace_root(), &sources), &sources);
        let listing = listing::public_api(krate, name);
        let shown = format!("tests/public-api/{name}.txt");
        let path = workspace_root().join(&shown);
        if env::var_os(UPDATE).is_some() {
            fs::write(&path, listing).unwrap_or_else(|error| panic!("cannot write {shown}: {error}"));
            continue;
        }
        let committed = fs::read_to_string(&path).unwrap_or_default();
        if committed != listing {
            let diff = similar::TextDiff::from_lines(&committed, &listing);
            let diff = diff.unified_diff().context_radius(0).header(&shown, &format!("{folder}/src")).to_string();
            problems.push(diff);
        }
    }
    assert!(
        problems.is_empty(),
        "the public API is not the committed one\n\n{}\nIf the change is intended, run `{UPDATE}=1 cargo test -p \
         evalsuite-tests --test public_api` and commit the listing.",
        problems.join("\n")
    );
}

/// The users' crate, and the crates of which it exports types.
fn users_crate() -> (CrateSource, [(&'static str, CrateSource); 2]) {
    let parse = |sources: &str| CrateSource::parse(&read_source_files(workspace_root(), sources), sources);
    let parts = [("evalsuite_records", parse("records/src")), ("evalsuite_schema", parse("schema/src"))];
    (parse("runtime/src"), parts)
}

/// Public types without an example, and why.
const WITHOUT_EXAMPLE: &[(&str, &str)] = &[
    ("evalsuite::AgentResult", "inferred; the examples of `IntoAgent` use it"),
    ("evalsuite::JudgeResult", "inferred; the examples of `IntoJudge` use it"),
    ("evalsuite::UserResult", "inferred; the examples of `IntoUser` use it"),
];

/// One test of all types: parsing the crates takes nearly all of its time.
#[test]
fn every_type_that_users_meet_has_an_example_that_compiles_and_can_grow() {
    let (users, parts) = users_crate();
    let types = re_exported_types::exported_by(&users, &parts, &users.root);
    every_type_has_an_example_that_compiles(&types);
    types_can_grow(&types);
    suites_cases_and_graders_can_grow(&re_exported_types::exported_by(&users, &parts, &users.root.modules["schema"]));
}

fn every_type_has_an_example_that_compiles(types: &[PublicType<'_>]) {
    assert!(types.len() > 40, "expected to find the types of the crate, found {}", types.len());
    let without = types.iter().filter(|found| !found.has_compiled_example()).map(|found| found.path.as_str());
    let allowed = WITHOUT_EXAMPLE.iter().map(|(path, _)| *path);
    assert_eq!(without.collect::<BTreeSet<_>>(), allowed.collect(), "public types without a compiled example");
}

/// Types at the root of the users' crate that cannot get a field or a variant without a breaking release, and why.
const EXHAUSTIVE: &[(&str, &str)] = &[
    ("evalsuite::Status", "programs match on the four outcomes; a fifth would change what a run means"),
    ("evalsuite::Content", "agents match on content; other kinds of content are parts, and `Part` can grow"),
    ("evalsuite::EvalCase", "constructed by generated code of the same version; its fields are hidden"),
    ("evalsuite::EvalSuite", "constructed by generated code of the same version; its fields are hidden"),
    ("evalsuite::Role", "agents match on the four roles, which are those of every chat API"),
    ("evalsuite::Value", "JSON has these six kinds of values"),
    ("evalsuite::Verdict", "a verdict is pass or fail"),
];

fn types_can_grow(types: &[PublicType<'_>]) {
    let exhaustive = types.iter().filter(|found| !found.can_grow()).map(|found| found.path.as_str());
    let allowed = EXHAUSTIVE.iter().map(|(path, _)| *path);
    assert_eq!(exhaustive.collect::<BTreeSet<_>>(), allowed.collect(), "types without #[non_exhaustive]");
}

fn suites_cases_and_graders_can_grow(types: &[PublicType<'_>]) {
    for name in
        ["Suite", "Case", "Grader", "Calibration", "Sample", "Conversation", "Turn", "Trials", "ReferenceSolution"]
    {
        let path = format!("evalsuite::schema::{name}");
        let found = types.iter().find(|found| found.path == path).unwrap_or_else(|| panic!("{path} is not exported"));
        assert!(found.can_grow(), "{path} is what new keys are added to, and is exhaustive");
    }
}
