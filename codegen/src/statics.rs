//! A checked suite as the text of a `static` and of test functions.
//!
//! The JSON of a suite and of its cases, in a module of its own.
//!
//! After the edit of a case, rustc checks and translates only the items whose tokens changed, and the modules around them: so what
//! changes with every edit is apart from what seldom does. For 2,000 cases that saves half of the time after an edit.

use std::collections::BTreeSet;

use evalsuite_loader::{LoadedCase, LoadedSuite, SuiteFiles, Test};
use evalsuite_schema::digest::{CaseDigests, hexadecimal};
use evalsuite_schema::discovery::{in_parts, processors};
use evalsuite_schema::json::ToJson;
use evalsuite_schema::json::writer::{Spacing, written};
use evalsuite_schema::sorting::{set, sort_by};
use evalsuite_schema::{Calibration, Case, Location};

use crate::rust_literals::{escape_bidirectional, option_literal, push_lines, push_raw, string_literal};

/// Short names of what stands in every case: rustc resolves each path anew.
const NAMES: &str = "#[allow(unused_imports)]\nuse ::core::option::Option::{None as __None, Some as __Some};\n\
                     #[allow(unused_imports)]\nuse __evalsuite::EvalCase as __Case;\n\
                     #[allow(unused_imports)]\nuse __evalsuite::__private::CompiledJson::Case as __Json;\n";

const SOME: &str = "::core::option::Option::Some";
const NONE: &str = "::core::option::Option::None";

/// The code that depends on nothing but the suite.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Body {
    /// The `static` suite.
    pub(crate) statics: String,
    /// What the files say.
    pub(crate) texts: SuiteTexts,
    /// The tests, without `suite_check`.
    pub(crate) tests: String,
}

impl Body {
    /// The code of a checked suite.
    pub(crate) fn new(suite: &LoadedSuite) -> serde_json::Result<Self> {
        // Growing in steps would copy the text several times.
        let statics = String::with_capacity(512 * (suite.tests.len() + 1));
        let mut body = Self { statics, texts: SuiteTexts::new(suite)?, tests: String::new() };
        push_suite(&mut body.statics, suite)?;
        push_tests(&mut body.tests, suite);
        Ok(body)
    }

    /// A suite without cases and tests, for code that uses a suite which cannot be loaded.
    pub(crate) fn empty() -> Self {
        let mut statics = String::new();
        push_start(&mut statics, "Empty: the suite cannot be used.", ["\"\"", NONE, "\"\"", "Text(\"{}\")", "", NONE]);
        statics.push_str(END);
        Self { statics, texts: SuiteTexts::default(), tests: String::new() }
    }

    /// The texts that hold the suite and its cases as JSON.
    pub(crate) fn json(&self) -> [&str; 3] {
        [&self.statics, &self.texts.suite, &self.texts.cases]
    }

    /// The tests, ignored if there is a reason to.
    pub(crate) fn tests(&self, ignore: Option<&str>) -> String {
        let Some(reason) = ignore else { return self.tests.clone() };
        let reason = string_literal(reason);
        self.tests.replace("#[test]", &format!("#[test]\n#[ignore = {reason}]"))
    }
}

/// Adds `pub static SUITE`.
fn push_suite(out: &mut String, suite: &LoadedSuite) -> serde_json::Result<()> {
    let about = &suite.suite;
    let (name, root) = (string_literal(&about.name), string_literal(&about.root));
    let agent_name = option_literal(about.agent_name.as_deref(), (SOME, NONE));
    let source = |(kind, path): &(String, String)| format!("({}, {}), ", string_literal(kind), string_literal(path));
    let mut sources: String = suite.sources.iter().map(source).collect();
    // With these and the files of cases, a program computes the digest of the suite again.
    let of_cases: BTreeSet<&str> = set(suite.cases.iter().map(|loaded| loaded.source.as_str()));
    let others = suite.files.keys().filter(|path| !of_cases.contains(path.as_str()));
    others.for_each(|path| sources.push_str(&source(&("file".to_owned(), path.clone()))));
    let mut calibration = NONE.to_owned();
    if let Some(found) = &suite.calibration {
        calibration = format!("{SOME}(");
        push_raw(&mut calibration, &escape_bidirectional(one_sample_a_line(found)?));
        calibration.push(')');
    }
    out.push_str(NAMES);
    let values = [&*name, &agent_name, &root, "Suite(&__texts::TEXTS)", &sources, &calibration];
    push_start(out, "The suite with all its cases.", values);
    for test in &suite.tests {
        push_case(out, suite, test);
    }
    out.push_str(END);
    Ok(())
}

/// Adds the start of `pub static SUITE`, up to its cases.
fn push_start(out: &mut String, doc: &str, [name, agent_name, root, json, sources, calibration]: [&str; 6]) {
    out.push_str(&format!(
        "/// {doc}\npub static SUITE: __evalsuite::EvalSuite = __evalsuite::EvalSuite {{\nname: {name},\nagent_name: {agent_name},\n\
         module_path: ::core::module_path!(),\npackage: ::core::env!(\"CARGO_PKG_NAME\"),\n\
         package_version: ::core::env!(\"CARGO_PKG_VERSION\"),\nmanifest_dir: ::core::env!(\"CARGO_MANIFEST_DIR\"),\nroot: {root},\n\
         json: __evalsuite::__private::CompiledJson::{json},\nsources: &[{sources}],\ndiagnostics: __DIAGNOSTICS,\n\
         embedded: __EMBEDDED,\norigin: __ORIGIN,\ncalibration: {calibration},\ncases: &[\n"
    ));
}

/// What follows the cases.
const END: &str = "],\n};\n";

/// As JSON that can be read in an editor.
fn one_sample_a_line(calibration: &Calibration) -> serde_json::Result<String> {
    let samples = calibration.samples.iter().map(evalsuite_schema::json::to_string).collect::<Result<Vec<_>, _>>()?;
    let mut without_samples = Calibration::new(calibration.location.clone());
    (without_samples.tolerance, without_samples.threshold) = (calibration.tolerance, calibration.threshold);
    without_samples.bar = calibration.bar;
    let text = evalsuite_schema::json::to_string(&without_samples)?;
    Ok(text.replacen("\"samples\":[]", &format!("\"samples\":[\n{}\n]", samples.join(",\n")), 1))
}

fn push_case(out: &mut String, suite: &LoadedSuite, test: &Test) {
    let loaded = &suite.cases[test.case];
    let (id, test_name) = (string_literal(&loaded.case.id), string_literal(&test.path.join("::")));
    let Location { file, line, column, .. } = &loaded.case.location;
    let (file, source) = (string_literal(file), string_literal(&loaded.source));
    let target = option_literal(test.target.as_deref(), ("__Some", "__None"));
    let tags: String = loaded.case.tags.iter().map(|tag| string_literal(tag) + ", ").collect();
    out.push_str(&format!(
        "__Case {{ id: {id}, test_name: {test_name}, file: {file}, line: {line}, column: {column}, source: {source}, \
         target: {target}, tags: &[{tags}], json: __Json(&__texts::TEXTS, {}) }},\n",
        test.case
    ));
}

/// Adds the test functions, each a call with an index: nothing is compiled per case but that call.
fn push_tests(out: &mut String, suite: &LoadedSuite) {
    let tests = suite.tests.iter().enumerate();
    let mut tests: Vec<(&[String], &String, usize)> = tests
        .filter_map(|(index, test)| test.path.split_last().map(|(function, folders)| (folders, function, index)))
        .collect();
    // Stable: within a folder tests stay in the order of the suite.
    sort_by(&mut tests, |a, b| a.0.cmp(b.0));
    let mut open: &[String] = &[];
    for (folders, function, index) in tests {
        if folders != open {
            open_modules(out, open, folders);
            open = folders;
        }
        let root = "super::".repeat(folders.len());
        out.push_str(&format!("#[test]\nfn {function}() {{\n{root}__run({index})\n}}\n"));
    }
    open_modules(out, open, &[]);
    if suite.calibration.is_some() {
        out.push_str("#[test]\nfn judge_calibration() {\n__evalsuite::__private::judge_calibration(evals)\n}\n");
    }
    if suite.cases.iter().any(|loaded| loaded.case.has_examples()) {
        out.push_str("#[test]\nfn grader_examples() {\n__evalsuite::__private::grader_examples(evals)\n}\n");
    }
}

/// Closes modules of `open` and opens those of `wanted` until the latter are open.
fn open_modules(out: &mut String, open: &[String], wanted: &[String]) {
    let common = open.iter().zip(wanted).take_while(|(a, b)| a == b).count();
    out.push_str(&"}\n".repeat(open.len() - common));
    for (depth, name) in wanted.iter().enumerate().skip(common) {
        if depth == 0 {
            out.push_str("#[cfg(test)]\n");
        }
        out.push_str(&format!("mod {name} {{\n"));
    }
}

/// Fewer cases than this are written faster without another thread.
const CASES_PER_THREAD: usize = 128;

/// A suite and its cases as JSON.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct SuiteTexts {
    /// The suite without its cases.
    pub(crate) suite: String,
    /// The cases, one a line: the JSON and the digests of each.
    pub(crate) cases: String,
    /// Digest and path of each file that was read, one a line.
    pub(crate) files: String,
}

impl SuiteTexts {
    fn new(suite: &LoadedSuite) -> serde_json::Result<Self> {
        Ok(Self { suite: json_of(&suite.suite)?, cases: cases(&suite.cases)?, files: files(&suite.files) })
    }

    /// The module that holds the texts.
    pub(crate) fn code(&self) -> String {
        let mut out = String::with_capacity(self.cases.len() + self.files.len() + self.suite.len() + 1024);
        out.push_str("mod __texts {\npub(super) static FILES: &str = ");
        push_lines(&mut out, &self.files);
        out.push_str(
            ";\npub(super) static TEXTS: super::__evalsuite::__private::SuiteTexts = super::__evalsuite::__private::SuiteTexts {\nsuite: ",
        );
        push_raw(&mut out, &self.suite);
        out.push_str(",\ncases: ");
        push_raw(&mut out, &self.cases);
        out.push_str(",\nends: &[");
        for (newline, _) in self.cases.match_indices('\n') {
            out.push_str(&format!("{},", newline + 1));
        }
        out.push_str("],\n};\n}\n");
        out
    }
}

/// JSON that can stand in a raw string literal: it has no control characters, and outside of its strings nothing to escape.
pub(crate) fn json_of(value: &dyn ToJson) -> serde_json::Result<String> {
    Ok(escape_bidirectional(written(value, Spacing::Compact, None)?))
}

/// A case as a line: its JSON, and its digests, so that no run has to compute them.
pub(crate) fn case_line(case: &Case) -> serde_json::Result<String> {
    Ok(format!("{}{}\n", json_of(case)?, CaseDigests::of(case)))
}

/// Digest and path of each file, one a line.
pub(crate) fn files(files: &SuiteFiles) -> String {
    let mut text = String::with_capacity(128 * files.len());
    for (path, digest) in files {
        text.push_str(&format!("{} {path}\n", hexadecimal(*digest)));
    }
    text
}

/// The cases, written on several threads.
fn cases(cases: &[LoadedCase]) -> serde_json::Result<String> {
    let parts = in_parts(cases, CASES_PER_THREAD, processors, |cases| {
        let mut text = String::with_capacity(1024 * cases.len());
        for loaded in cases {
            text.push_str(&case_line(&loaded.case)?);
        }
        Ok(text)
    });
    parts.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use evalsuite_schema::json::json;
    use evalsuite_schema::{Grader, GraderConfig, Location};

    use super::*;

    #[test]
    fn the_digests_of_a_line_are_those_of_the_case_that_is_read_from_it() {
        let mut case = Case::new("right-to-left \u{202e}", Location::new("f", 1, 1));
        case.metadata.insert("z".to_owned(), json!({"number": 1.10, "large": u64::MAX, "text": "tab\t, line\n"}));
        case.metadata.insert("a".to_owned(), json!([null, -0.0, 1e300]));
        case.graders.push(Grader::new("g", Location::new("f", 2, 1), GraderConfig::IsJson));
        let line = case_line(&case).unwrap();
        let (json, digests) = CaseDigests::split(line.strip_suffix('\n').unwrap());
        assert_eq!(digests, Some(CaseDigests::of(&evalsuite_schema::json::from_str(json).unwrap())));
    }
}
