//! Whatever an agent, a hook, a grader or a judge says, however it is quoted or encoded, and wherever it is cut: no secret is in
//! what the run wrote and printed.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use evalsuite::{
    AgentError, Assertion, CliAgents, Content, EvalSuite, Evals, Evidence, Judge, JudgeError, JudgeReply, JudgeRequest,
    Message, Role, Score, ToolCall, Trial,
};
use evalsuite_schema::json::{Value, json};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, TestCaseError};

use crate::common::{case_json, contains, grader, suite_with};

const SECRET: &str = "TEST_OF_EVALSUITE_SECRET";
/// A secret that only a hook of the target names.
const OF_HOOK: &str = "TEST_OF_EVALSUITE_OF_HOOK";
/// The directory of the package under test.
const PLACE: &str = "TEST_OF_EVALSUITE_PLACE";
/// Characters of a part of a secret that is a leak.
const PART: usize = 9;

fn place() -> PathBuf {
    std::env::var_os(PLACE).unwrap().into()
}

/// What everybody says.
fn said() -> String {
    fs::read_to_string(place().join("said")).unwrap()
}

/// The secrets as they are, for those who say it as JSON: what is encoded twice is not hidden.
fn said_as_it_is() -> String {
    fs::read_to_string(place().join("said_as_it_is")).unwrap()
}

/// Base64 as programs without a library have it.
fn base64(text: &str) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digits = text.as_bytes().chunks(3).flat_map(|group| {
        let bits = group.iter().fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - group.len()));
        (0..=group.len()).map(move |digit| char::from(DIGITS[(bits >> (18 - 6 * digit)) as usize & 63]))
    });
    digits.collect()
}

fn url(text: &str) -> String {
    text.bytes().fold(String::new(), |mut url, byte| {
        match byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            true => url.push(char::from(byte)),
            false => write!(url, "%{byte:02X}").unwrap(),
        }
        url
    })
}

/// A secret in every form that is hidden.
fn forms(secret: &str) -> Vec<String> {
    let json = Value::from(secret).to_string();
    let mut forms = vec![secret.to_owned(), json, format!("{secret:?}")];
    forms.extend([url(secret), url(secret).replace("%20", "+")]);
    forms.extend(["", "u", "us"].map(|before| base64(&format!("{before}{secret}\n"))));
    forms.push(secret.lines().map(|line| format!("  > {line}\n")).collect());
    forms
}

/// Parts of a secret that nobody may find.
fn parts(secret: &str) -> BTreeSet<String> {
    let lines = secret.lines().map(|line| line.trim().to_owned());
    let encoded = secret.lines().map(url);
    // Without the characters that depend on what is around the secret.
    let base64 = ["", "u", "us"].map(|before| {
        let all = base64(&format!("{before}{secret}"));
        all[4..all.len() - 4].to_owned()
    });
    let texts: Vec<Vec<char>> = lines.chain(encoded).chain(base64).map(|text| text.chars().collect()).collect();
    texts.iter().flat_map(|text| text.windows(PART)).map(|part| part.iter().collect()).collect()
}

async fn speaks(trial: &mut Trial<'_>) -> anyhow::Result<String> {
    let (secret, said) = (std::env::var(SECRET)?, said());
    match trial.case_id() {
        "panics" => panic!("{said}"),
        "fails" => Err(AgentError::new(said.clone()))?,
        "skips" => Err(AgentError::skip(said.clone()))?,
        _ => {}
    }
    trial.log(&said);
    trial.set_state(said.clone(), json!({&said: said}));
    trial.set_metadata(said.clone(), said.clone());
    trial.set_model(said.clone());
    let call = ToolCall::new("read").with_input(json!({&said: said})).with_output(json!([said, {&said: said}]));
    trial.message(Message::new(Role::User, Content::Text(said.clone())));
    trial.message(Message::new(Role::Assistant, Content::Data(json!({&said: said}))).with_tool_call(call));
    for (index, line) in secret.lines().filter(|line| !line.contains('/')).enumerate() {
        fs::write(trial.workspace().join(line), format!("{index}\n{said}"))?;
    }
    // In a record, the answer and the beginning of a file are cut.
    let padding: usize = std::env::var("TEST_OF_EVALSUITE_PADDING")?.parse()?;
    fs::write(trial.workspace().join("cut"), format!("{}{secret}", "x".repeat(4 * 1024 - padding)))?;
    fs::write(trial.workspace().join("binary"), format!("\0{said}"))?;
    Ok(format!("{}{secret}\n{said}", "x".repeat(64 * 1024 - padding)))
}

fn accuses(_: &Evidence<'_>) -> Score {
    let said = said();
    let assertion = Assertion::new(&said, false).with_expected(&said).with_actual(&said).with_evidence(&said);
    Score::fail(&said).with_detail(said.clone(), json!({&said: said})).with_assertion(assertion)
}

fn breaks(_: &Evidence<'_>) -> Score {
    panic!("{}", said())
}

/// Replies with what everybody says, or fails with it.
struct Echoes;

impl Judge for Echoes {
    async fn judge(&self, request: JudgeRequest) -> Result<JudgeReply, JudgeError> {
        match request.user().contains("reply") {
            true => Ok(JudgeReply::new(
                json!({"score": 0.2, "reasoning": said_as_it_is(), "details": {said_as_it_is(): 1}}).to_string(),
            )),
            false => Err(JudgeError::permanent(said())),
        }
    }
}

fn hook(script: &str, variable: &str) -> Value {
    let words = ["sh", "-c", script, &format!("${{{{ {variable} }}}}")].map(|word| json!({"text": word}));
    json!({"command": {"argv": words}, "timeout_ms": 60_000, "reset": "none"})
}

/// The cases of both suites: their agents, hooks, graders and judges speak.
fn cases() -> Vec<Value> {
    let command = |script: &str| grader(script, 5, json!({"code-grader": {"run": {"command": {"shell": script}}}}));
    let asks =
        |name: &str| grader(name, 6, json!({"llm-grader": {"prompt": {"text": format!("{name}: {{{{ output }}}}")}}}));
    let graders = json!([
        contains(&format!("never ${{{{ {SECRET} }}}}")),
        grader("equals", 4, json!({"equals": {"value": "x"}})),
        grader("accuses", 3, json!({"user": {"grader": "accuses"}})),
        grader("breaks", 4, json!({"user": {"grader": "breaks"}})),
        command("cat \"$TEST_OF_EVALSUITE_PLACE/said\"; cat \"$TEST_OF_EVALSUITE_PLACE/said\" >&2; exit 1"),
        command("cat > /dev/null; cat \"$TEST_OF_EVALSUITE_PLACE/result\""),
        asks("reply"),
        asks("refuse"),
    ]);
    let print = "cat \"$TEST_OF_EVALSUITE_PLACE/said\"; cat \"$TEST_OF_EVALSUITE_PLACE/said\" >&2";
    let input = json!({"messages": [{"role": "user", "content": {"text": format!("say ${{{{ {SECRET} }}}}")}}]});
    let case = |id: &str, hooks: Value| {
        let workspace = json!({"template": {"written": "ws", "path": "suites/x/ws"}, "hooks": hooks});
        let more = json!({"input": input, "workspace": workspace, "requires": {"env": [SECRET]}, "criteria": "x"});
        case_json(id, graders.clone(), more)
    };
    let failing = format!("{print}; exit 3");
    vec![
        case("speaks", json!({"before_each": hook(print, SECRET), "after_each": hook(&failing, SECRET)})),
        case("panics", json!({})),
        case("fails", json!({})),
        case("skips", json!({})),
        case("unprepared", json!({"before_each": hook(&failing, SECRET)})),
    ]
}

fn evals(suite_of: &'static OnceLock<&'static EvalSuite>) -> Evals {
    let of_target = json!({"targets": [{"name": "default", "hooks": {"before_each": hook("true", OF_HOOK)}}]});
    let suite = suite_of.get_or_init(|| suite_with("cases", "mixed", &place(), &cases(), of_target));
    Evals::new(suite).with_grader("accuses", accuses).with_grader("breaks", breaks).with_judge(Echoes)
}

fn of_functions() -> Evals {
    static SUITE: OnceLock<&'static EvalSuite> = OnceLock::new();
    evals(&SUITE).with_agent(speaks)
}

fn of_commands() -> Evals {
    static SUITE: OnceLock<&'static EvalSuite> = OnceLock::new();
    evals(&SUITE).with_agent(CliAgents)
}

#[test]
#[ignore = "run by the test below"]
fn child() {
    let evals = if std::env::var_os("TEST_OF_EVALSUITE_COMMANDS").is_some() { of_commands } else { of_functions };
    for index in 0..cases().len() {
        let ran = catch_unwind(AssertUnwindSafe(|| evalsuite::__private::run_case(evals, index)));
        println!("case {index}: {}", ran.is_ok());
    }
    panic!("shows what was printed");
}

/// A variable whose value names no program, directory or file.
const NOWHERE: &str = "TEST_OF_EVALSUITE_NOWHERE";

/// What is not there, by case: programs of graders, also in a line of a shell, a working directory, the program of a hook, and a template.
fn cases_with_missing_things() -> Vec<Value> {
    let value = format!("${{{{ {NOWHERE} }}}}");
    let of_grader = |run: Value| json!([grader("g", 5, json!({"code-grader": {"run": run}}))]);
    let path = json!({"written": value, "path": value});
    let hooks = json!({"before_each": {"command": {"argv": [{"text": value}]}, "timeout_ms": 60_000, "reset": "none"}});
    let case = |id: &str, graders: Value, workspace: Value| {
        case_json(id, graders, json!({"workspace": workspace, "requires": {"env": [NOWHERE]}}))
    };
    vec![
        case("program", of_grader(json!({"command": {"argv": [{"text": value}]}})), json!({})),
        case("line", of_grader(json!({"command": {"shell": format!("\"${NOWHERE}\" x.py")}})), json!({})),
        case("cwd", of_grader(json!({"command": {"shell": "true"}, "cwd": path})), json!({})),
        case("hook", json!([contains("x")]), json!({"hooks": hooks})),
        case("template", json!([contains("x")]), json!({"template": path})),
    ]
}

fn evals_with_missing_things() -> Evals {
    static SUITE: OnceLock<&'static EvalSuite> = OnceLock::new();
    let suite = SUITE.get_or_init(|| suite_with("cases", "mixed", &place(), &cases_with_missing_things(), json!({})));
    Evals::new(suite).with_agent(async |_: &mut Trial<'_>| anyhow::Ok("x".to_owned()))
}

#[test]
#[ignore = "run by the test below"]
fn child_with_missing_things() {
    for index in 0..cases_with_missing_things().len() {
        drop(catch_unwind(AssertUnwindSafe(|| evalsuite::__private::run_case(evals_with_missing_things, index))));
    }
    panic!("shows what was printed");
}

/// An error that shows `***` in place of what is missing helps nobody.
#[test]
fn an_error_about_something_missing_names_its_variable() {
    let package = tempfile::tempdir().unwrap();
    let nowhere = "/nowhere/of-evalsuite/bin";
    fs::create_dir_all(package.path().join("suites/x")).unwrap();
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "secrets::child_with_missing_things", "--ignored"]);
    child.env(NOWHERE, nowhere).env(PLACE, package.path()).env_remove("NEXTEST_RUN_ID");
    child.env("EVALSUITE_OUTPUT", package.path().join("out"));
    let output = child.output().unwrap();
    let mut found = Vec::new();
    written(&package.path().join("out"), &mut found);
    found.push(("standard output".to_owned(), String::from_utf8_lossy(&output.stdout).into_owned()));
    for (name, text) in &found {
        assert!(!text.contains(nowhere), "{name}: {text}");
    }
    let (_, printed) = &found[found.len() - 1];
    let variable = format!("${{{{ {NOWHERE} }}}}");
    for error in [
        format!("cannot run `{variable}`: "),
        format!("{variable}: not found"),
        format!("the working directory {variable} does not exist"),
        format!("hook `before_each` of the case cannot run `{variable}`: "),
        format!("the directory `{variable}` does not exist ({variable})"),
    ] {
        assert!(printed.contains(&error), "{error}: {printed}");
    }
}

/// A package in which everybody says both secrets in all its forms.
fn package(secrets: [&str; 2], padding: usize) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| {
        let path = directory.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    let said: String = secrets.iter().flat_map(|secret| forms(secret)).map(|form| format!("<{form}>\n")).collect();
    write("suites/x/ws/old", "x");
    write("said", &said);
    let said: String = secrets.iter().map(|secret| format!("<{secret}>\n")).collect();
    write("said_as_it_is", &said);
    write("tail", &format!("{}{}", secrets[0], "y".repeat(2_000 - padding)));
    let assertion = json!({"text": said, "passed": false});
    write(
        "result",
        &json!({"score": 0.2, "rationale": said, "assertions": [assertion], "details": {&said: said}}).to_string(),
    );
    write("answer", &json!({"text": said, "state": {&said: said}, "metadata": {&said: said}}).to_string());
    write("trajectory", &json!({"schema_version": "ATIF-v1.4", "session_id": said, "agent": {"name": said, "version": "1"}, "steps": [
        {"step_id": 1, "source": "user", "message": said},
        {"step_id": 2, "source": "agent", "message": said, "tool_calls": [{"tool_call_id": "1", "function_name": "read", "arguments": {&said: said}}]},
    ]}).to_string());
    write(
        "agent.sh",
        r#"
cat "$TEST_OF_EVALSUITE_PLACE/said" "$TEST_OF_EVALSUITE_PLACE/tail"; cat "$TEST_OF_EVALSUITE_PLACE/said" "$TEST_OF_EVALSUITE_PLACE/tail" >&2
cp "$TEST_OF_EVALSUITE_PLACE/said" made
case "$EVALSUITE_CASE_ID" in
speaks) cp "$TEST_OF_EVALSUITE_PLACE/answer" "$1"; cp "$TEST_OF_EVALSUITE_PLACE/trajectory" "$EVALSUITE_TRAJECTORY_PATH" ;;
panics) cp "$TEST_OF_EVALSUITE_PLACE/said" "$1"; printf '[{' | cat - "$TEST_OF_EVALSUITE_PLACE/said" > "$EVALSUITE_TRAJECTORY_PATH" ;;
fails) exit 1 ;;
*) cp "$TEST_OF_EVALSUITE_PLACE/said" "$1" ;;
esac
"#,
    );
    let command = format!("sh {}/agent.sh {{OUTPUT_FILE}}", directory.path().display());
    write(
        "targets.yaml",
        &format!("targets:\n  - {{ name: default, provider: cli, verbose: true, command: '{command}' }}\n"),
    );
    directory
}

/// Every file below a directory that is not in the workspace of an agent.
fn written(directory: &Path, found: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            if !path.ends_with("workspace") {
                written(&path, found);
            }
        } else {
            found.push((path.display().to_string(), String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned()));
        }
    }
}

fn check(secrets: [&str; 2], padding: usize, commands: bool, mode: &str) -> Result<(), TestCaseError> {
    let package = package(secrets, padding);
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "secrets::child", "--ignored"]);
    child.envs([(SECRET, secrets[0]), (OF_HOOK, secrets[1]), ("EVALSUITE_MODE", mode), ("EVALSUITE_VERBOSE", "1")]);
    child.env(PLACE, package.path()).env("TEST_OF_EVALSUITE_PADDING", padding.to_string());
    child.env("EVALSUITE_OUTPUT", package.path().join("out")).env_remove("NEXTEST_RUN_ID");
    child.env("EVALSUITE_PROGRESS", package.path().join("out/progress.jsonl"));
    child.env("EVALSUITE_CASSETTES", package.path().join("out/cassettes"));
    if commands {
        child.env("TEST_OF_EVALSUITE_COMMANDS", "1");
    }
    fs::create_dir(package.path().join("out")).unwrap();
    let output = child.output().unwrap();
    let mut found = Vec::new();
    written(&package.path().join("out"), &mut found);
    for (name, stream) in [("standard output", output.stdout), ("standard error", output.stderr)] {
        found.push((name.to_owned(), String::from_utf8_lossy(&stream).into_owned()));
    }
    let printed = &found[found.len() - 2].1;
    prop_assert!(printed.contains("shows what was printed") && printed.contains("***"), "{}", printed);
    prop_assert!(found.iter().filter(|(name, _)| name.ends_with("result.json")).count() == 5, "{:?}", found);
    for part in secrets.iter().flat_map(|secret| parts(secret)) {
        for (name, text) in &found {
            if let Some(at) = text.find(&part) {
                let around: String = text[..at].chars().rev().take(60).collect::<Vec<_>>().into_iter().rev().collect();
                let message = format!("{part:?} of {secrets:?} is in {name} after {around:?}");
                return Err(TestCaseError::fail(message));
            }
        }
    }
    Ok(())
}

fn secret() -> impl Strategy<Value = String> {
    let letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    let characters: Vec<char> = letters.chars().chain("\"'\\ &+/=%<>$ü".chars()).collect();
    let line = vec(select(characters), 12..70).prop_map(|line| format!("Q{}Q", line.into_iter().collect::<String>()));
    vec(line, 1..4).prop_map(|lines| lines.join("\n"))
}

proptest! {
    #![proptest_config(Config { cases: 6, failure_persistence: None, max_shrink_iters: 0, ..Config::default() })]

    #[test]
    fn no_secret_is_written_or_printed(
        secret in secret(), of_hook in secret(), padding in 0_usize..60, commands in any::<bool>(), mode in select(vec!["live", "record"]),
    ) {
        check([&secret, &of_hook], padding, commands, mode)?;
    }
}
