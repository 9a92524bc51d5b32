//! The agent under test is the agent in production: no dependency of evalsuite changes what it sends.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use evalsuite_needs::slow;
use evalsuite_tests::http_service::serve;
use evalsuite_tests::throwaway::{Package, suites, workspace};

/// Features that evalsuite enables for crates that an agent may share with it, and why each is harmless.
const ADDITIVE: &str = include_str!("../../../cli/assets/additive_features.txt");

/// The page with the features that are not harmless.
const RUNS: &str = include_str!("../../../docs/runs.md");

/// An agent that knows nothing of evalsuite. What it sends shows the order of keys and the last bits of numbers.
const CLIENT: &str = r##"
use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::{Value, json};

/// The body of a request.
pub fn request(prompt: &str) -> String {
    let schema: Value = serde_json::from_str(r#"{"type":"object","properties":{"to":{"type":"string"},"city":{}},"additionalProperties":false}"#).unwrap();
    let mut bits = 1_u64;
    let numbers: Vec<f64> = (0..500)
        .map(|_| {
            bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let text = format!("{:.17e}", (bits >> 11) as f64 / 1e10);
            serde_json::from_str(&text).unwrap()
        })
        .collect();
    let body = json!({
        "model": "small",
        "messages": [{"role": "user", "content": prompt}],
        "tools": [{"type": "function", "function": {"name": "send", "parameters": schema}}],
        "numbers": numbers,
        "sum": 0.1 + 0.2,
        "directory": std::env::current_dir().unwrap(),
    });
    body.to_string()
}

/// Asks a model on loopback.
pub fn ask(prompt: &str) -> String {
    let (url, body) = (std::env::var("MODEL_ADDRESS").unwrap(), request(prompt));
    let mut stream = TcpStream::connect(url).unwrap();
    write!(stream, "POST /v1 HTTP/1.1\r\nContent-Length: {}\r\n\r\n{body}", body.len()).unwrap();
    let mut reply = String::new();
    stream.read_to_string(&mut reply).unwrap();
    reply.split_once("\r\n\r\n").unwrap().1.to_owned()
}
"##;

/// What agents have sent.
static SENT: Mutex<Vec<String>> = Mutex::new(Vec::new());

fn sent() -> Vec<String> {
    SENT.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// A package with an agent that depends on evalsuite for its tests only, with all features.
fn package(name: &str) -> Package {
    let package = Package::new(name);
    let path = |folder: &str| format!("{:?}", workspace().join(folder));
    package.write(
        "Cargo.toml",
        &format!(
            "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n\n\
             [dependencies]\nserde_json = \"1\"\n\n\
             [dev-dependencies]\nevalsuite = {{ path = {}, features = [\"cli-agents\", \"json-schema\", \"judge\", \"reload\"] }}\n\n\
             [build-dependencies]\nevalsuite-build = {{ path = {}, features = [\"generate\"] }}\n",
            path("runtime"),
            path("build"),
        ),
    );
    package
}

#[slow(builds)]
#[test]
fn an_agent_sends_the_same_bytes_under_test_as_in_production() {
    let package = package("same_agent");
    package
        .write("build.rs", suites::BUILD_SCRIPT)
        .write("src/lib.rs", CLIENT)
        .write("src/main.rs", "fn main() { println!(\"{}\", same_agent::ask(\"What is new?\")); }\n")
        .write("suites/news/EVAL.yaml", suites::EVAL_YAML)
        .write("suites/news/cases/new/case.yaml", &suites::case("What is new?", "nothing"))
        .write(
            "tests/evals.rs",
            "fn agent(trial: &mut evalsuite::Trial<'_>) -> Result<String, std::convert::Infallible> {\n    \
             Ok(same_agent::ask(trial.prompt()))\n}\n\nevalsuite::include_eval_suite!(\"suites/news\");\n",
        );
    let url = serve(|body| {
        SENT.lock().unwrap_or_else(PoisonError::into_inner).push(body.to_owned());
        "nothing".to_owned()
    });
    let address = url.trim_start_matches("http://").trim_end_matches("/v1");
    package.cargo(["run"]).env("MODEL_ADDRESS", address).run().succeeds("the agent runs").says("nothing");
    package.cargo(["test"]).env("MODEL_ADDRESS", address).run().succeeds("the case passes").says("news::new ... ok");
    let sent = sent();
    let [in_production, under_test] = &sent[..] else { panic!("expected two requests: {sent:?}") };
    assert!(in_production.contains(r#""properties":{"city":"#), "expected sorted keys: {in_production}");
    assert_eq!(under_test, in_production);
}

#[slow(builds)]
#[test]
fn a_pattern_of_the_agent_fails_in_its_tests_as_in_production() {
    let package = Package::new("same_pattern");
    let path = |folder: &str| format!("{:?}", workspace().join(folder));
    package
        .write(
            "Cargo.toml",
            &format!(
                "[package]\nname = \"same_pattern\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n\n\
                 [dependencies]\nregex = {{ version = \"1\", default-features = false, features = [\"std\"] }}\n\n\
                 [dev-dependencies]\nevalsuite = {{ path = {} }}\n",
                path("runtime"),
            ),
        )
        .write("src/lib.rs", "pub fn problem() -> String { regex::Regex::new(r\"\\w+\").unwrap_err().to_string() }\n")
        .write("src/main.rs", "fn main() { println!(\"{}\", same_pattern::problem()); }\n")
        .write(
            "suites/words/EVAL.yaml",
            "tests:\n  - { id: word, input: hello, assertions: [{ type: contains, value: unicode-perl }] }\n",
        )
        .write(
            "tests/evals.rs",
            "fn agent(_: &mut evalsuite::Trial<'_>) -> Result<String, std::convert::Infallible> {\n    \
             Ok(same_pattern::problem())\n}\n\nevalsuite::include_eval_suite!(\"suites/words\", agent = agent);\n",
        );
    package.cargo(["run"]).run().succeeds("the agent runs").says("unicode-perl");
    package.cargo(["test"]).run().succeeds("the case passes").says("words::word ... ok");
    package.write(
        "suites/words/EVAL.yaml",
        "tests:\n  - { id: word, input: hello, assertions: [{ type: regex, value: '\\d' }] }\n",
    );
    let ran = package.cargo(["test"]).run().fails("the pattern needs a feature");
    ran.says("[E079 missing-feature] patterns with classes of Unicode")
        .says("need the feature `unicode-patterns` of evalsuite");
}

#[slow(builds)]
#[test]
fn suites_without_patterns_need_no_engine_for_them() {
    let package = Package::new("without_patterns");
    let manifest = Package::manifest_with("without_patterns", &[])
        .replace("runtime\" }", "runtime\", default-features = false, features = [\"macros\"] }");
    let case = |assertion: &str| format!("tests:\n  - {{ id: word, input: hello, assertions: [{assertion}] }}\n");
    package
        .write("Cargo.toml", &format!("{manifest}\n[workspace]\n"))
        .write("src/lib.rs", "")
        .write("suites/words/EVAL.yaml", &case("{ type: icontains, value: HELLO }"))
        .write(
            "tests/evals.rs",
            "fn agent(trial: &mut evalsuite::Trial<'_>) -> Result<String, std::convert::Infallible> {\n    \
             Ok(trial.prompt().to_owned())\n}\n\nevalsuite::include_eval_suite!(\"suites/words\", agent = agent);\n",
        );
    package.cargo(["test"]).run().succeeds("the case passes").says("words::word ... ok");
    let tree = package.cargo(["tree", "-e", "normal,build"]).run().succeeds("cargo lists dependencies");
    assert!(!tree.stdout.contains("regex"), "{}", tree.stdout);
    for assertion in
        ["{ type: regex, value: 'h.*' }", "{ type: contains, value: x, transform: [{ replace: h, with: x }] }"]
    {
        package.write("suites/words/EVAL.yaml", &case(assertion));
        let ran = package.cargo(["test"]).run().fails("the grader needs a feature");
        ran.says("[E079 missing-feature] graders with patterns need the feature `patterns` of evalsuite")
            .says("`cargo add evalsuite --features patterns`");
    }
}

/// A feature of a crate.
type Feature = (String, String);

/// What a package gets through one of our crates with some of its features: the features of all crates.
fn features(krate: &str, folder: &str, enabled: &[&str]) -> BTreeSet<Feature> {
    let package = Package::new("features");
    let path = workspace().join(folder);
    let manifest = format!(
        "[package]\nname = \"features\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n\n\
         [dependencies]\n{krate} = {{ path = {path:?}, features = {enabled:?} }}\n"
    );
    package.write("Cargo.toml", &manifest).write("src/lib.rs", "");
    let targets = ["x86_64-unknown-linux-gnu", "aarch64-apple-darwin", "x86_64-pc-windows-msvc"];
    let arguments = ["tree", "--edges", "features,normal,no-proc-macro", "--prefix", "none", "--no-dedupe"];
    let arguments = arguments.into_iter().chain(targets.into_iter().flat_map(|target| ["--target", target]));
    let tree = package.cargo(arguments).run().succeeds("cargo shows the tree");
    let feature = |line: &str| {
        let (krate, feature) = line.split_once(" feature \"")?;
        Some((krate.to_owned(), feature.split_once('"')?.0.to_owned()))
    };
    tree.stdout.lines().filter_map(feature).collect()
}

/// The features of evalsuite.
fn features_of_evalsuite() -> Vec<String> {
    let manifest = std::fs::read_to_string(workspace().join("runtime/Cargo.toml")).unwrap();
    let features = manifest.split_once("[features]\n").unwrap().1.split_once("\n[").unwrap().0;
    let names = features.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once(" = "));
    names.map(|(name, _)| name.to_owned()).filter(|name| name != "default").collect()
}

/// Whether a feature is in the list of those that change nothing. Its lines are a crate and its features, below comments with the reason.
fn is_additive((krate, feature): &Feature) -> bool {
    let is_in = |name: &str| {
        let lines = ADDITIVE.lines().filter_map(|line| line.split_once(": ")).filter(|(line, _)| *line == name);
        lines.flat_map(|(_, features)| features.split(' ')).any(|listed| match listed.strip_suffix('*') {
            Some(prefix) => feature.starts_with(prefix),
            None => listed == feature,
        })
    };
    (is_in(krate) || is_in("*")) && !is_in(&format!("not {krate}"))
}

/// The features that docs/runs.md lists, by the feature of evalsuite that enables them.
fn documented() -> BTreeMap<String, BTreeSet<Feature>> {
    let table = RUNS.split_once("| feature of evalsuite |").unwrap().1.split_once("\n\n").unwrap().0;
    let words = |cell: &str| cell.split('`').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>();
    let mut documented: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
    for row in table.lines().skip(2) {
        let cells: Vec<Vec<String>> = row.split('|').map(words).collect();
        let listed = documented.entry(cells[1][0].clone()).or_default();
        for krate in &cells[2] {
            listed.extend(cells[3].iter().map(|feature| (krate.clone(), feature.clone())));
        }
    }
    documented
}

#[slow(builds)]
#[test]
fn the_features_that_evalsuite_enables_are_documented_or_change_nothing() {
    let documented = documented();
    let features_of_evalsuite = features_of_evalsuite();
    for feature in &features_of_evalsuite {
        let found = features("evalsuite", "runtime", &[feature]);
        assert!(found.len() > 50, "expected cargo to list features: {found:?}");
        let is_enabled = |name: &str| found.contains(&("evalsuite".to_owned(), name.to_owned()));
        let enabled = features_of_evalsuite.iter().filter(|name| is_enabled(name));
        let listed: BTreeSet<Feature> = enabled.filter_map(|name| documented.get(name)).flatten().cloned().collect();
        let ours = |(krate, _): &Feature| krate.starts_with("evalsuite");
        let changing: BTreeSet<Feature> = found.iter().filter(|it| !ours(it) && !is_additive(it)).cloned().collect();
        // A row may name several crates and features.
        let listed: BTreeSet<Feature> = listed.intersection(&found).cloned().collect();
        let (missing, extra): (Vec<_>, Vec<_>) =
            (changing.difference(&listed).collect(), listed.difference(&changing).collect());
        assert!(
            missing.is_empty() && extra.is_empty(),
            "the feature `{feature}` of evalsuite enables {missing:?}, which neither cli/assets/additive_features.txt nor the table in \
             docs/runs.md lists; both list {extra:?}.\nAn agent that has the crate gets the feature in its tests. Leave it out, or list it \
             with what changes"
        );
    }
    let mut all: BTreeSet<Feature> = BTreeSet::new();
    for feature in &features_of_evalsuite {
        all.extend(features("evalsuite", "runtime", &[feature]));
    }
    for (feature, listed) in &documented {
        assert!(features_of_evalsuite.contains(feature), "docs/runs.md names a feature `{feature}` of evalsuite");
        for krate in listed.iter().map(|(krate, _)| krate).collect::<BTreeSet<_>>() {
            let is_found = listed.iter().any(|it| it.0 == *krate && all.contains(it));
            assert!(is_found, "docs/runs.md lists features of `{krate}`, which evalsuite does not enable");
        }
    }
}

#[slow(builds)]
#[test]
fn no_other_crate_of_ours_enables_a_feature_that_changes_an_agent() {
    // The crates `evalsuite-report` and `evalsuite-convert` are those of the command line, and of no agent.
    let crates = [
        ("evalsuite-build", "build"),
        ("evalsuite-dynamic", "dynamic"),
        ("evalsuite-loader", "loader"),
        ("evalsuite-records", "records"),
        ("evalsuite-schema", "schema"),
    ];
    for (krate, folder) in crates {
        let mut found = features(krate, folder, &[]);
        found.retain(|it| !it.0.starts_with("evalsuite") && !is_additive(it));
        assert!(found.is_empty(), "`{krate}` enables {found:?}");
    }
}

#[slow(builds)]
#[test]
fn every_additive_feature_has_a_reason() {
    let mut has_reason = false;
    for line in ADDITIVE.lines() {
        has_reason = line.starts_with('#') || (has_reason && !line.is_empty());
        assert!(line.is_empty() || has_reason, "expected a comment with the reason before `{line}`");
    }
}
