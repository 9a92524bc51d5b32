//! The patterns of real suites, in any format: where JavaScript or Python decides otherwise, the table of `docs/patterns.md` has the reason,
//! and a conversion of the pattern from promptfoo decides as JavaScript, or says that it may not.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use evalsuite::Verdict;
use evalsuite_conformance::test_data::Corpus;
use evalsuite_convert::{CasePlacement, Outcome, from_promptfoo};
use evalsuite_loader::{Request, document, load};
use evalsuite_needs::needs;
use evalsuite_schema::json::{Value, from_str, json};
use evalsuite_schema::{Grader, GraderConfig};
use proptest::sample::Index;
use proptest::strategy::{Strategy, ValueTree};
use proptest::string::string_regex;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use crate::compared::{answered, graded, seed};
use crate::engines::{Found, Input, Row, by, by_evalsuite, rows};

/// Texts that are made of a pattern, before they are changed.
const GENERATED: usize = 8;

/// Texts of a suite that a pattern is tried with.
const OF_SUITE: usize = 40;

/// Keys whose texts are patterns.
const KEYS: &[&str] = &["pattern", "patterns", "regex", "regexp", "expected_pattern", "expected_patterns", "matches"];

/// Patterns with their flags, and texts of the files that have them.
type Patterns = BTreeMap<(String, String), BTreeSet<String>>;

/// The cell of an engine.
type Cell = fn(&Row) -> &str;

/// The files below a directory whose values can be read, with these values.
fn values(directory: &Path, found: &mut Vec<Value>) {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            values(&path, found);
            continue;
        }
        let lines = || fs::read_to_string(&path).unwrap_or_default();
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("yaml" | "yml" | "json") => {
                found.extend(document::read_js_yaml(&path, directory).map(|document| document.root.to_json()));
            }
            Some("jsonl") => found.push(lines().lines().filter_map(|line| from_str::<Value>(line).ok()).collect()),
            // The cells of `__expected` in promptfoo's tests.
            Some("csv") => {
                found.push(lines().split([',', '\n', '"']).map(|cell| Value::String(cell.trim().to_owned())).collect())
            }
            _ => {}
        }
    }
}

fn collect(value: &Value, patterns: &mut BTreeSet<(String, String)>, texts: &mut BTreeSet<String>) {
    let mut add = |pattern: &str, flags: &str| patterns.insert((pattern.to_owned(), flags.to_owned()));
    match value {
        Value::String(text) => {
            let assertion = text.strip_prefix("not-").unwrap_or(text);
            if let Some(pattern) = assertion.strip_prefix("regex:") {
                add(pattern.trim(), "");
            }
            if text.len() <= 2_000 {
                texts.insert(text.clone());
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, patterns, texts)),
        Value::Object(entries) => {
            let is_regex = entries.get("type").and_then(Value::as_str).is_some_and(|kind| kind.contains("regex"));
            for (key, value) in entries {
                let is_pattern = KEYS.contains(&key.as_str()) || is_regex && key == "value";
                let flags = entries.get("flags").and_then(Value::as_str).unwrap_or_default();
                for pattern in [value].into_iter().chain(value.as_array().into_iter().flatten()) {
                    if let (true, Some(pattern)) = (is_pattern, pattern.as_str()) {
                        patterns.insert((pattern.to_owned(), flags.to_owned()));
                    }
                }
                if key == "patternProperties" {
                    let names = value.as_object().into_iter().flatten();
                    patterns.extend(names.map(|(pattern, _)| (pattern.clone(), String::new())));
                }
                collect(value, patterns, texts);
            }
        }
        _ => {}
    }
}

fn patterns_of(corpus: &Path) -> (usize, Patterns) {
    let mut files = Vec::new();
    values(corpus, &mut files);
    let (mut all, mut with_patterns) = (Patterns::new(), 0);
    for file in files {
        let (mut patterns, mut texts) = (BTreeSet::new(), BTreeSet::new());
        collect(&file, &mut patterns, &mut texts);
        with_patterns += usize::from(!patterns.is_empty());
        for pattern in patterns {
            let known: &mut BTreeSet<String> = all.entry(pattern).or_default();
            known.extend(texts.iter().take(OF_SUITE.saturating_sub(known.len())).cloned());
        }
    }
    (with_patterns, all)
}

/// The characters that patterns of the table find in one engine only.
fn special(rows: &[Row]) -> BTreeSet<char> {
    rows.iter().flat_map(|row| row.text.chars()).filter(|next| is_special(*next)).collect()
}

fn is_special(character: char) -> bool {
    !character.is_ascii() || character.is_control()
}

/// Texts that a pattern finds, and the same with special characters at their ends and in place of a character.
fn made_of(pattern: &str, special: &BTreeSet<char>, runner: &mut TestRunner) -> BTreeSet<String> {
    let mut bare = pattern.trim_start_matches("(?i)").trim_start_matches('^').trim_end_matches('$').to_owned();
    for place in ["\\b", "\\B"] {
        bare = bare.replace(place, "");
    }
    let mut texts = BTreeSet::from([pattern.to_owned(), String::new()]);
    if let Ok(strategy) = string_regex(&bare) {
        for _ in 0..GENERATED {
            let text = strategy.new_tree(runner).expect("a text").current();
            texts.insert(text.chars().map(|next| if is_special(next) { 'x' } else { next }).collect());
        }
    }
    let mut changed = texts.clone();
    for text in &texts {
        for next in special {
            let at = proptest::arbitrary::any::<Index>().new_tree(runner).expect("an index").current();
            let mut characters: Vec<char> = text.chars().collect();
            if !characters.is_empty() {
                let at = at.index(characters.len());
                characters[at] = *next;
            }
            changed.extend([characters.into_iter().collect(), format!("{text}{next}"), format!("{next}{text}")]);
        }
    }
    changed
}

/// Whether a row of the table says why an engine, whose cell `of` takes, decides otherwise about a text; any text if it refuses the pattern.
fn is_in_table(rows: &[Row], of: Cell, input: &Input, text: Option<&str>) -> bool {
    rows.iter().filter(|row| of(row) != row.evalsuite).any(|row| {
        let special = row.text.chars().find(|next| is_special(*next));
        let part = row.pattern.trim_start_matches('^').trim_end_matches('$').trim_matches(['a', 'b', 'k']);
        // A row without other parts is about the end, or about case.
        let part = if part.is_empty() || part == "[a-z]" { "$" } else { part };
        let has_part = if row.flags == "i" {
            input.flags.contains('i') || input.pattern.contains("(?i")
        } else {
            // The beginning names the construct: `(?>`, `\p{`, `[^`.
            let start: String =
                part.chars().take(if special.is_some() && part.starts_with('[') { 2 } else { 3 }).collect();
            input.pattern.to_lowercase().contains(&start.to_lowercase())
        };
        has_part && special.is_none_or(|special| text.is_some_and(|text| text.contains(special)))
    })
}

/// What a conversion from promptfoo makes of a pattern.
enum Converted {
    Grader(Box<Grader>),
    /// JavaScript decides there, too.
    Node,
    /// The report, or a diagnostic, says that it is another one.
    Reported,
}

fn converted(pattern: &str) -> Converted {
    let directory = tempfile::tempdir().expect("a directory");
    let source = directory.path().join("promptfooconfig.yaml");
    let config = json!({
        "prompts": ["x"],
        "providers": ["echo"],
        "tests": [{"vars": {}, "assert": [{"type": "regex", "value": pattern}]}],
    });
    fs::write(&source, config.to_string()).expect("a file");
    let Ok(suite) = from_promptfoo(&source) else { return Converted::Reported };
    let conversion = suite.in_layout(CasePlacement::File);
    if conversion.report.count(Outcome::Different) + conversion.report.count(Outcome::Dropped) > 0 {
        return Converted::Reported;
    }
    conversion.output.write(&directory.path().join("suite"), false).expect("a suite");
    let loaded = load(&Request::new("suite", directory.path()));
    let Some(mut suite) = loaded.suite else { return Converted::Reported };
    let grader = suite.cases.remove(0).case.graders[0].clone();
    match grader.config {
        GraderConfig::Regex(_) => Converted::Grader(Box::new(grader)),
        _ => Converted::Node,
    }
}

#[needs(corpus, node, python)]
#[test]
fn patterns_of_suites_differ_as_the_table_says_and_are_converted_or_reported() {
    let Ok(Corpus::Present { path, .. }) = Corpus::find() else { panic!("a directory of suites") };
    let (files, patterns) = patterns_of(&path);
    let rows = rows();
    let special = special(&rows);
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed().to_le_bytes());
    let mut runner = TestRunner::new_with_rng(Config::default(), TestRng::from_seed(RngAlgorithm::ChaCha, &bytes));
    let inputs: Vec<Input> = patterns
        .into_iter()
        .map(|((pattern, flags), texts)| {
            let texts = texts.into_iter().chain(made_of(&pattern, &special, &mut runner)).collect();
            Input { pattern, flags, texts }
        })
        .collect();
    let ours: Vec<Found> = inputs.iter().map(by_evalsuite).collect();
    let javascript = by("node", "engines.mjs", &inputs);
    let mut silent = Vec::new();
    let engines: [(&str, Vec<Found>, Cell); 2] = [
        ("JavaScript", javascript.clone(), |row| &row.javascript),
        ("Python", by("python3", "engines.py", &inputs), |row| &row.python),
    ];
    for (engine, found, of) in engines {
        let mut different = 0;
        for ((input, ours), found) in inputs.iter().zip(&ours).zip(&found) {
            let texts: Vec<Option<&str>> = match (ours, found) {
                (Some(ours), Some(found)) => {
                    let pairs = input.texts.iter().zip(ours.iter().zip(found));
                    pairs.filter(|(_, (ours, found))| ours != found).map(|(text, _)| Some(text.as_str())).collect()
                }
                (None, None) => Vec::new(),
                _ => vec![None],
            };
            different += usize::from(!texts.is_empty());
            if let Some(text) = texts.iter().find(|text| !is_in_table(&rows, of, input, **text)) {
                silent.push(format!("{engine}: `{}` {} {text:?}, {}", input.pattern, input.flags, found.is_some()));
            }
        }
        println!("{engine} may decide otherwise about {different} patterns");
    }
    let (mut same, mut node, mut reported) = (0, 0, 0);
    for (input, javascript) in inputs.iter().zip(&javascript).filter(|(input, _)| input.flags.is_empty()) {
        // A template, which is not a pattern yet.
        if ["{{", "{%", "{#"].iter().any(|start| input.pattern.contains(start)) {
            continue;
        }
        match converted(&input.pattern) {
            Converted::Reported => reported += 1,
            Converted::Node => node += 1,
            Converted::Grader(grader) => {
                same += 1;
                let decides = |text: &String| graded(&grader, answered(text)).verdict == Some(Verdict::Pass);
                let javascript = javascript.as_deref().unwrap_or_default();
                if javascript.is_empty() {
                    silent.push(format!("JavaScript refuses `{}`, which is converted", input.pattern));
                }
                let other = input.texts.iter().zip(javascript).find(|(text, found)| decides(text) != **found);
                silent.extend(other.map(|(text, _)| format!("converted: `{}` {text:?}", input.pattern)));
            }
        }
    }
    let texts: usize = inputs.iter().map(|input| input.texts.len()).sum();
    println!("{} patterns of {files} files, {texts} texts", inputs.len());
    println!("converted: {same} with the same meaning, {node} that node decides, {reported} reported");
    assert!(!inputs.is_empty() && silent.is_empty(), "{}", silent.join("\n"));
}
