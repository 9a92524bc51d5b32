//! Assertions in JavaScript and Python, which a small program runs as a `code-grader`.

use std::path::Path;
use std::sync::LazyLock;

use evalsuite_loader::document::Value;
use evalsuite_schema::json::{Value as Json, json};
use fancy_regex::Regex;

use super::{CaseContext, Check, Grader, transforms};
use crate::promptfoo::source_files::{FILE_SCHEME, unreadable};
use crate::yaml_writer::{number, without_nulls};

/// Where the program is that runs JavaScript.
const PROGRAM: &str = "graders/javascript.mjs";

/// Runs JavaScript.
const JAVASCRIPT: &str = include_str!("../../../assets/javascript.mjs");

/// Runs Python.
const PYTHON: &str = include_str!("../../../assets/python.py");

/// The edit distance of two texts, in UTF-16 units.
const DISTANCE: &str = "\
const distance = (one, other) => {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let i = 1; i <= one.length; i++) {
    const next = [i];
    for (let j = 1; j <= other.length; j++) {
      next.push(Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + (one[i - 1] === other[j - 1] ? 0 : 1)));
    }
    row = next;
  }
  return row[other.length];
};
";

/// A result without a reason.
static EMPTY_REASON: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r#"\breason['"]?\s*[:=]\s*(?:''|""|``)"#).expect("the pattern is valid"));

/// A comparison of texts with what a `transform` makes of the answer.
pub(super) fn comparison(check: &Check<'_>, context: &mut CaseContext<'_>) -> Result<Grader, String> {
    if check.kind == "is-json" {
        return match check.value {
            Some(_) => Err("nothing checks the schema of what its transform makes".to_owned()),
            None => script("try {\n  JSON.parse(text);\n  return true;\n} catch {\n  return false;\n}", check, context),
        };
    }
    let value = check.value.as_ref().ok_or("it has no value")?;
    let is_list = check.kind.ends_with("-any") || check.kind.ends_with("-all");
    let value = match is_list {
        true => json!(check.texts()?),
        false if value.items().is_some() || !value.entries().is_empty() => {
            return Err("its value is not text".to_owned());
        }
        false => json!(check.text().unwrap_or_default()),
    };
    if value == "" && !matches!(check.kind, "equals" | "levenshtein") {
        return Err("its value is empty".to_owned());
    }
    let (answer, value) = match check.kind.strip_prefix('i') {
        Some(_) => ("text.toLowerCase()", Json::to_string(&value).to_lowercase()),
        None => ("text", value.to_string()),
    };
    let expression = match check.kind {
        "equals" => format!("text === {value}"),
        "starts-with" => format!("text.startsWith({value})"),
        "regex" => format!("new RegExp({value}).test(text)"),
        "levenshtein" => {
            let threshold = check.largest_distance(context)?;
            return script(&format!("{DISTANCE}return distance(text, {value}) <= {threshold};"), check, context);
        }
        kind if kind.ends_with("-any") => format!("{value}.some((part) => {answer}.includes(part))"),
        kind if kind.ends_with("-all") => format!("{value}.every((part) => {answer}.includes(part))"),
        _ => format!("{answer}.includes({value})"),
    };
    script(&format!("return {expression};"), check, context)
}

/// A check of `text`, which is the transformed answer or its JSON.
fn script(check_text: &str, check: &Check<'_>, context: &mut CaseContext<'_>) -> Result<Grader, String> {
    let code = format!("const text = typeof output === 'string' ? output : JSON.stringify(output);\n{check_text}");
    let (kind, is_negated, threshold, assertion) = ("javascript", check.is_negated, None, check.assertion);
    map(&Check { kind, is_negated, value: Some(Value::text(code)), script: None, threshold, assertion }, context)
}

/// What code reads that is not there.
fn note_absent(code: &str, check: &Check<'_>, context: &mut CaseContext<'_>) {
    let absent = ["provider", "providerResponse", "logProbs", "trace", "metadata"];
    let accesses = [("context.", ""), ("context?.", ""), ("['", "']"), ("[\"", "\"]"), ("get('", "'")];
    let of_tests = ["assert", "options", "threshold", "provider"];
    let accesses_of_tests = [("test.", ""), ("test?.", ""), ("test']['", "']"), ("test\"][\"", "\"]")];
    let reads = |names: &[&'static str], accesses: &[(&str, &str)]| {
        let is_read = |name: &&&str| accesses.iter().any(|(start, end)| code.contains(&format!("{start}{name}{end}")));
        names.iter().find(is_read).copied()
    };
    if let Some(name) = reads(&absent, &accesses) {
        context.different(check, format!("its context has no `{name}`"));
    }
    if let Some(name) = reads(&of_tests, &accesses_of_tests) {
        context.different(check, format!("the `test` of its context has no `{name}`"));
    }
}

fn note_differences(code: &str, check: &Check<'_>, context: &mut CaseContext<'_>) {
    note_absent(code, check, context);
    let has_empty_reason = EMPTY_REASON.is_match(code).unwrap_or_default();
    let reason = "an assertion that fails with an empty `reason` lets its test pass in promptfoo, whatever else fails";
    context.different_if(has_empty_reason, check, reason);
    context.different_if(code.contains("process.mainModule"), check, "`process.mainModule` is not there");
    transforms::note_object(check, context);
    let is_object = match check.kind {
        _ if !transforms::of(check, context).is_empty() => false,
        "python" => ["output['", "output[\"", "output.get("].iter().any(|text| code.contains(text)),
        _ => transforms::reads_an_object(code),
    };
    context.different_if(is_object, check, "the answer is text, also if a provider of promptfoo returns an object");
}

/// Whether a program imports files or packages, which are not copied.
fn imports_files(code: &str, kind: &str) -> bool {
    const OF_NODE: &[&str] = &["assert", "buffer", "crypto", "fs", "fs/promises", "os", "path", "url", "util"];
    if kind == "python" {
        return ["from .", "__file__"].iter().any(|text| code.contains(text));
    }
    let imported = ["require(", "import(", " from ", "import "].iter().flat_map(|start| code.split(start).skip(1));
    let mut names = imported.filter_map(|rest| {
        let quote = rest.chars().next().filter(|quote| matches!(quote, '\'' | '"' | '`'))?;
        rest[1..].split(quote).next()
    });
    names.any(|name| !name.starts_with("node:") && !OF_NODE.contains(&name)) || code.contains("__dirname")
}

pub(super) fn map(check: &Check<'_>, context: &mut CaseContext<'_>) -> Result<Grader, String> {
    let (program, name, text) = match check.kind {
        "python" => ("python3", "graders/python.py", PYTHON),
        _ => ("node", PROGRAM, JAVASCRIPT),
    };
    let (mut file, mut called, mut code) = (None, None, None);
    match (&check.script, &check.value) {
        (Some((path, function)), _) => {
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            let copy = format!("graders/files/{name}");
            let reference = context.files.shown(path);
            let code =
                context.files.text(path, &reference, check.place()).map_err(|error| unreadable(&name, &error))?;
            let known = context.output.files().get(Path::new(&copy));
            if known.is_some_and(|known| **known != *code.as_bytes()) {
                return Err(format!("another file is called `{name}`, too"));
            }
            context.output.add(copy.clone(), code.clone());
            let imports = imports_files(&code, check.kind);
            context.different_if(imports, check, "only this file is copied, not what it imports");
            let has_modules = ["import ", "export "].iter().any(|word| code.lines().any(|line| line.starts_with(word)));
            let extension = path.extension().unwrap_or_default().to_string_lossy();
            let is_module = has_modules && extension == "js";
            context.different_if(is_module, check, "`node` takes it for a CommonJS module before version 22.7");
            let is_typed = extension.ends_with("ts");
            context.different_if(is_typed, check, "`node` runs TypeScript since version 22.18 only");
            note_differences(&code, check, context);
            (file, called) = (Some(copy), function.as_ref());
        }
        (None, Some(value)) if !value.as_text().unwrap_or_default().trim().is_empty() => {
            // In Python, a line break at the end makes an expression the body of a function, as in promptfoo.
            let written = value.as_text().unwrap_or_default();
            let written = if check.kind == "python" { written } else { written.trim_end() };
            note_differences(written, check, context);
            code = Some(written);
        }
        _ => return Err("it has no code".to_owned()),
    }
    context.report.approximated(
        check.place(),
        format!("`{program}` runs it with the answer as text, and a context of `vars`, `test`, `prompt` and `config`"),
    );
    let transforms = transforms::of(check, context);
    for code in &transforms {
        note_absent(code, check, context);
        context.different_if(code.contains("context.prompt"), check, "`context.prompt` is a text, not an object");
    }
    let transform = match &transforms[..] {
        [] => None,
        codes if codes.iter().any(|code| code.starts_with(FILE_SCHEME)) => {
            return Err("a program makes the text that it checks".to_owned());
        }
        [code] => Some(json!(code)),
        codes => Some(json!(codes)),
    };
    let config = without_nulls(json!({
        "file": file,
        "function": called,
        "code": code,
        "transform": transform,
        "threshold": check.threshold.map(number),
        "negated": check.is_negated.then_some(true),
        "score": context.scores_decide.then_some("graded"),
        "config": check.assertion.value.get("config").map(Value::to_json),
    }));
    context.output.add(name, text);
    if config.get("transform").is_some() {
        context.output.add(PROGRAM, JAVASCRIPT);
    }
    let command = [program.to_owned(), format!("./{name}")];
    Ok(Grader::new(json!({"type": "code-grader", "command": command, "config": config})))
}
