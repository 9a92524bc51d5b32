//! Rules about complaints of the reference without a diagnostic of ours.

use std::path::Path;

use evalsuite_schema::json::{Value, json};

use super::{RuleContext, interpolation, source_documents, uses_merge_keys};
use crate::complaint::{Complaint, Effect};

type Rule = fn(&Complaint, RuleContext<'_>) -> bool;

const RULES: &[(&str, Rule)] = &[
    ("byte-order-mark", |complaint, cx| {
        let marks = cx.record.texts().map(|(_, text)| text.chars().take_while(|c| *c == '\u{feff}').count()).max();
        let at_first = cx.record.expected()["error_kind"] == "yaml" && complaint.text.contains("line 1");
        marks >= Some(1) && at_first || marks >= Some(2) && complaint.effect == Effect::Suite
    }),
    ("carriage-return-line-ends", |complaint, cx| {
        let is_old = |text: &str| text.contains('\r') && !text.contains('\n');
        complaint.effect == Effect::Suite && cx.record.texts().any(|(_, text)| is_old(text))
    }),
    ("cases-directory", |complaint, cx| {
        complaint.text.contains("missing 'tests' field") && cx.root().join(cx.paths.eval_dir).join("cases").is_dir()
    }),
    ("whitespace-around-paths", |complaint, cx| {
        let about =
            ["external test file", "invalid test entry", "Workspace file", "emplate not found", "ile not found"];
        let blank = |path: &str| {
            let inner = path.trim().trim_start_matches("file://");
            !inner.trim().is_empty() && (path.trim() != path || inner.trim() != inner)
        };
        let holds = |mapping: &evalsuite_schema::Object| {
            mapping.values().any(|value| match value {
                Value::String(text) => blank(text),
                Value::Array(items) => items.iter().filter_map(Value::as_str).any(blank),
                _ => false,
            })
        };
        about.iter().any(|part| complaint.text.contains(part)) && source_documents::any_mapping(cx.record, &holds)
    }),
    ("characters-not-units", |complaint, cx| {
        let suite = cx.suite_file().unwrap_or_default();
        let text = suite["description"].as_str().unwrap_or_default();
        complaint.text.contains("1024") && text.encode_utf16().count() > 1024 && text.chars().count() <= 1024
    }),
    ("conversation-without-history", |complaint, cx| {
        let id = complaint.case.as_deref().unwrap_or_default();
        let case = (RuleContext { id, ..cx }).written_case().unwrap_or_default();
        complaint.text.contains("ncomplete") && case["turns"].is_array() && case["input"].is_null()
    }),
    ("interpolation-at-run-time", |complaint, cx| {
        // An unset variable leaves a blank value in the reference; here it is an error of the trial.
        let about_blank = ["ncomplete", "issing", "without", "empty", "no valid", "too_small", "requires", "not found"];
        about_blank.iter().any(|part| complaint.text.contains(part))
            && cx.record.texts().any(|(_, text)| interpolation::leaves_blank(text, cx.record))
    }),
    ("no-input-files", |complaint, cx| {
        let id = complaint.case.as_deref().unwrap_or_default();
        let case = (RuleContext { id, ..cx }).written_case().unwrap_or_default();
        let suite = cx.suite_file().unwrap_or_default();
        let own = &case["input_files"];
        !case["input"].is_null() && (*own == json!([]) || own.is_null() && suite["input_files"] == json!([]))
    }),
    ("merge-keys-applied", |complaint, cx| complaint.effect == Effect::Part && uses_merge_keys(cx.record)),
    ("glob-patterns", |complaint, cx| {
        complaint.text.contains("matched no files") && cx.record.texts().any(|(_, text)| text.contains(['{', '*']))
    }),
    ("path-search-order", |complaint, cx| {
        // It is in a directory above the suite file.
        let path = complaint.text.split("{ROOT}/").nth(1).unwrap_or_default();
        let path = path.trim_end_matches(')');
        let name = Path::new(path).strip_prefix(cx.paths.eval_dir).unwrap_or(Path::new(path));
        let above = Path::new(cx.paths.eval_dir).ancestors().skip(1);
        let about = ["Cannot read external", "Workspace file not found"];
        about.iter().any(|part| complaint.text.contains(part))
            && above.into_iter().any(|directory| cx.root().join(directory).join(name).exists())
    }),
    ("case-directory-first", found_beside_case),
    ("graders-are-enough", graders_are_enough),
    ("other-files-are-not-read", |complaint, cx| {
        let config = complaint.text.contains(".agentv/config.yaml") && cx.root().join(".agentv/config.yaml").is_file();
        let lines = cx.record.eval.as_deref().is_some_and(|eval| eval.ends_with(".jsonl"));
        let by_sidecar = lines
            && ["sidecar", "Unsupported grader", "Unknown grader"].iter().any(|part| complaint.text.contains(part));
        complaint.effect == Effect::OtherFile && config || by_sidecar
    }),
    ("links-are-followed", |complaint, cx| {
        complaint.text.contains("Skipping directory") && cx.record.links().next().is_some()
    }),
    ("ignored-directories", |complaint, cx| {
        let is_ignored = |name: &str| name.starts_with(['.', '_']);
        let is_directory = |id: &&str| cx.record.texts().any(|(file, _)| file.contains(&format!("/{id}/case.y")));
        let name = complaint.text.split('\'').nth(1).unwrap_or_default();
        complaint.text.contains("Skipping directory") && is_ignored(name)
            || complaint.case.as_deref().filter(is_directory).is_some_and(is_ignored)
    }),
    ("null-is-absent", |complaint, cx| {
        let about = |key: &String| {
            let words =
                key.chars().flat_map(|c| if c.is_uppercase() { vec!['_', c.to_ascii_lowercase()] } else { vec![c] });
            complaint.text.contains(key.as_str()) || complaint.text.contains(&words.collect::<String>())
        };
        source_documents::any_mapping(cx.record, &|mapping| {
            mapping.iter().any(|(key, value)| value.is_null() && about(key))
        })
    }),
    ("arguments-as-written", |complaint, _| {
        // In the reference, the last element of a command has to be a file, whatever it looks like.
        let name = complaint.text.rsplit(": ").next().unwrap_or_default().trim();
        let is_script = [".py", ".sh", ".bash", ".js", ".mjs", ".cjs", ".ts", ".rb", ".pl", ".ps1"]
            .iter()
            .any(|ending| name.ends_with(ending));
        let is_path = name.starts_with("./") || name.starts_with("../") || is_script && !name.contains(' ');
        complaint.text.contains("command file not found") && !is_path
    }),
    ("underscore-in-suite-name", |complaint, cx| {
        let root = cx.suite_file().unwrap_or_default();
        let name = root["name"].as_str().unwrap_or_default();
        let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_';
        complaint.text.contains("\"name\"") && name.contains('_') && name.chars().all(allowed) && name.len() <= 64
    }),
    ("composite-members", |complaint, cx| {
        let parts = ["Skipping invalid member", "Skipping member evaluator with invalid name", "no valid member"];
        let composite = cx.record.texts().any(|(_, text)| text.contains("composite"));
        composite && parts.iter().any(|part| complaint.text.contains(part))
    }),
    ("criteria-spellings", |complaint, cx| {
        let as_text = |grader: &evalsuite_schema::Object| {
            let rubrics = grader.get("rubrics").and_then(Value::as_array);
            rubrics.is_some_and(|list| list.iter().any(Value::is_string))
        };
        let old_type = |grader: &evalsuite_schema::Object| {
            grader.get("type").is_some_and(|name| name == "rubric")
                && grader.get("criteria").is_some_and(Value::is_array)
        };
        let one_text = |grader: &evalsuite_schema::Object| {
            grader.get("type").is_some_and(|name| name == "rubrics")
                && grader.get("criteria").is_some_and(Value::is_string)
        };
        let about = |part: &str| complaint.text.contains(part);
        about("criteria must be a non-empty array") && source_documents::any_mapping(cx.record, &one_text)
            || (about("invalid rubric entry") || about("missing rubrics array"))
                && source_documents::any_mapping(cx.record, &as_text)
            || about("missing rubrics array") && source_documents::any_mapping(cx.record, &old_type)
    }),
    ("aggregator-command", |complaint, cx| {
        let is_command = |aggregator: &evalsuite_schema::Object| {
            let command = ["path", "command"].iter().find_map(|key| aggregator.get(key));
            command.is_some_and(|command| command.is_array() || aggregator.contains_key("command"))
        };
        complaint.text.contains("aggregator missing path") && source_documents::any_mapping(cx.record, &is_command)
    }),
    ("filter-and-dependencies", |complaint, cx| {
        // Filters belong to the test runner; the dependency is still in the suite.
        complaint.text.contains("no test with that ID") && !cx.record.json["filter"].is_null()
    }),
];

/// The rule that explains why we report nothing.
pub fn excuse(complaint: &Complaint, cx: RuleContext<'_>) -> Option<&'static str> {
    RULES.iter().find(|(_, holds)| holds(complaint, cx)).map(|(name, _)| *name)
}

/// The missing file is next to the case or the template that names it.
fn found_beside_case(complaint: &Complaint, cx: RuleContext<'_>) -> bool {
    let Some((_, rest)) = complaint.text.split_once("not found: ") else { return false };
    let name = rest.lines().next().unwrap_or_default();
    let name = name.split(" (resolved to").next().unwrap_or_default().trim().trim_start_matches("./");
    let is_that_file = |path: &String| {
        path.strip_suffix(name).is_some_and(|directory| directory.len() > 1 && directory.ends_with('/'))
    };
    !name.is_empty() && cx.record.json["files"].as_object().is_some_and(|files| files.keys().any(is_that_file))
}

/// Keys other than `assertions` add graders, too, and so does the suite. The complaint is about a case with an input.
fn graders_are_enough(complaint: &Complaint, cx: RuleContext<'_>) -> bool {
    const KEYS: &[&str] = &["evaluators", "rubrics", "assert", "assertions"];
    let Some((_, rest)) = complaint.text.split_once(": ").and_then(|(_, rest)| rest.split_once(": ")) else {
        return false;
    };
    let id = rest.split_once(". Missing").map_or("", |(id, _)| id);
    let Some(case) = (RuleContext { id, ..cx }).written_case() else { return false };
    // As in a list, a line without any grader is a test that is skipped.
    let has_graders = |mapping: &Value| {
        KEYS.iter().any(|key| mapping[*key].as_array().is_some_and(|list| cx.is_jsonl() || !list.is_empty()))
    };
    let suite = cx.suite_file().unwrap_or_default();
    let graded = [&case, &case["execution"], &suite, &suite["execution"]].into_iter().any(has_graders);
    complaint.text.contains("incomplete") && graded && !case["input"].is_null()
}
