//! Rules about a single value of a test.

use std::path::Path;

use evalsuite_schema::json::{Value, from_str, json};

use super::{RuleContext, interpolation, lists, source_documents, text, uses_merge_keys};
use crate::difference::Difference;

type Rule = fn(&Difference, RuleContext<'_>) -> bool;

/// The first rule whose condition holds explains a difference.
const RULES: &[(&str, Rule)] = &[
    ("interpolation-at-run-time", interpolated),
    ("suite-name-from-directory", suite_name),
    ("category-from-directory", category),
    ("duplicate-grader-name", repeated_name),
    ("hook-string-runs-in-shell", hook_line),
    ("hook-shorthand", hook_shorthand),
    ("case-directory-first", case_directory),
    ("path-search-order", |difference, cx| {
        let (Some(expected), Some(ours)) = (text(&difference.expected), text(&difference.ours)) else { return false };
        let place = |path: &str| path.strip_prefix("{ROOT}/").map(|path| cx.root().join(path));
        let (Some(there), Some(here)) = (place(expected), place(ours)) else { return false };
        let above = Path::new(cx.paths.eval_dir).ancestors().skip(1).map(|directory| cx.root().join(directory));
        !there.exists() && here.exists() && above.into_iter().any(|directory| here.starts_with(directory))
    }),
    ("whitespace-around-paths", spaces),
    ("own-template-is-not-shared", |difference, cx| {
        let case = cx.written_case().unwrap_or_default();
        let changes = difference.expected == Some(json!("shared")) && difference.ours == Some(json!("per_test"));
        difference.path == "workspace.isolation" && changes && !case["workspace"].is_null()
    }),
    ("tool-calls-without-content", tool_calls),
    ("reference-list-is-data", lists::reference_list),
    ("empty-parts", |difference, _| lists::empty_parts(difference)),
    ("reference-files", |difference, cx| {
        // In the reference, the text of a reference answer includes the contents of its files.
        let has_file = |mapping: &evalsuite_schema::Object| {
            mapping.get("type").is_some_and(|kind| kind == "file" || kind == "image")
        };
        difference.path == "reference_answer" && source_documents::any_mapping(cx.record, &has_file)
    }),
    ("deprecated-assertion-keys", lists::old_spellings),
    ("turn-assertions-checked", |difference, cx| {
        // The reference keeps them as written: includes are not read, and old types keep their names.
        let turns = cx.written_case().unwrap_or_default()["turns"].clone();
        let written = |entry: &Value| entry.get("include").is_some() || entry["type"] == "rubric";
        let mut entries =
            turns.as_array().into_iter().flatten().filter_map(|turn| turn["assertions"].as_array()).flatten();
        difference.path.starts_with("turns.") && difference.path.contains(".graders") && entries.any(written)
    }),
    ("custom-grader-settings", |difference, _| {
        // In the reference, `config` of a custom grader is one of its settings; here it contains all of them.
        difference.path.contains(".config")
            && (difference.path.ends_with(".config.config") && difference.ours.is_none()
                || difference.path.contains(".config.") && difference.expected.is_none()
                || difference.expected.as_ref().zip(difference.ours.as_ref()).is_some_and(|(there, here)| {
                    !there["config"].is_null() && crate::difference::between(&there["config"], here).is_empty()
                }))
    }),
    ("hook-working-directory", |difference, cx| {
        // In the reference, all hooks of a merged workspace run next to the case's workspace file.
        let workspace = |value: &Value| value["workspace"].is_string();
        let is_file = source_documents::cases(cx.record).iter().any(|(_, case)| workspace(case))
            || cx.suite_file().is_some_and(|suite| workspace(&suite));
        difference.path.starts_with("workspace.hooks.") && difference.path.ends_with(".cwd") && is_file
    }),
    ("case-target", |difference, cx| {
        let case = cx.written_case().unwrap_or_default();
        let target = case["execution"]["target"].as_str().map(str::trim);
        difference.path == "targets"
            && difference.expected.is_none()
            && target.is_some_and(|target| difference.ours == Some(json!([target])))
    }),
    ("binary-files", |difference, _| {
        let is_text = difference.path.ends_with(".text") && difference.ours == Some(Value::Null);
        is_text && text(&difference.expected).is_some_and(|text| text.contains('\u{fffd}'))
    }),
    ("ignored-regex-flag", |difference, _| {
        let kept = text(&difference.expected).map(|flags| flags.replace(['g', 'y'], ""));
        difference.path.ends_with(".flags") && kept.as_deref() == Some(text(&difference.ours).unwrap_or_default())
    }),
    ("command-timeouts", |difference, cx| lists::limits(difference) || lists::hook_limits(difference, cx)),
    ("arguments-as-written", |difference, cx| {
        // In the reference, the last element of a command is a path, whatever it looks like.
        let path = text(&difference.expected).and_then(|path| path.strip_prefix("{ROOT}/"));
        let is_last = difference.path.contains("esolvedCommand.") || difference.path.contains("promptCommand.");
        is_last
            && path
                .zip(text(&difference.ours))
                .is_some_and(|(path, word)| path.ends_with(word) && cx.root().join(path).exists())
    }),
    ("jsonl-lines-are-cases", |difference, cx| {
        const KEYS: &[&str] = &[
            "metadata",
            "workspace",
            "depends_on",
            "on_dependency_failure",
            "targets",
            "threshold",
            "mode",
            "turns",
            "aggregation",
            "on_turn_failure",
            "window_size",
        ];
        // In the reference, graders in its `execution` count twice.
        let twice = match (&difference.expected, &difference.ours) {
            (Some(Value::Array(expected)), Some(Value::Array(ours))) => {
                let doubled: Value = ours.iter().chain(ours).cloned().collect();
                difference.path == "graders" && crate::difference::between(&json!(expected), &doubled).is_empty()
            }
            _ => false,
        };
        cx.is_jsonl() && (twice || KEYS.contains(&difference.path.split('.').next().unwrap_or_default()))
    }),
    ("duplicate-dependency", |difference, _| {
        let (Some(Value::Array(expected)), Some(Value::Array(ours))) = (&difference.expected, &difference.ours) else {
            return false;
        };
        let mut once: Vec<&Value> = Vec::new();
        expected.iter().for_each(|id| {
            if !once.contains(&id) {
                once.push(id)
            }
        });
        matches!(difference.path.as_str(), "depends_on" | "targets") && once == ours.iter().collect::<Vec<_>>()
    }),
    ("other-files-are-not-read", sidecar),
    ("cache-settings", |difference, _| difference.path == "cacheConfig" && difference.ours.is_none()),
    ("exact-integers", |difference, _| {
        let (Some(Value::Number(expected)), Some(Value::Number(ours))) = (&difference.expected, &difference.ours)
        else {
            return false;
        };
        ours.as_f64() == expected.as_f64()
    }),
    ("decimals-as-written", |difference, _| {
        let read = |value: &Option<Value>| text(value).and_then(|text| from_str::<Value>(text).ok());
        let (Some(expected), Some(ours)) = (read(&difference.expected), read(&difference.ours)) else { return false };
        crate::difference::between(&expected, &ours).is_empty()
    }),
    ("merge-keys-applied", |difference, cx| {
        // Merged keys are new, the merge key is gone, and texts made from both differ.
        let is_key = difference.path.ends_with("<<") && difference.ours.is_none();
        let says = |value: &Option<Value>| text(value).is_some_and(|text| text.contains("\"<<\""));
        let is_graders = difference.path == "graders";
        uses_merge_keys(cx.record)
            && (is_key || difference.expected.is_none() || says(&difference.expected) || is_graders)
    }),
    ("tagged-scalars", |difference, cx| {
        let is_number = difference.ours.as_ref().is_some_and(Value::is_number);
        let tagged = cx.record.texts().any(|(_, text)| text.contains("!!float") || text.contains("!!int"));
        is_number && tagged && text(&difference.expected).is_some_and(|text| text.parse::<f64>().is_ok())
    }),
    ("json-keys-kept", |difference, _| {
        // In the reference, a null key is ""; `__proto__` sets the prototype of a JavaScript object.
        let last = difference.path.rsplit('.').next().unwrap_or_default();
        match last {
            "__proto__" | "null" => difference.expected.is_none(),
            "" => difference.ours.is_none(),
            _ => false,
        }
    }),
];

/// The rule that explains a difference.
pub fn explain(difference: &Difference, cx: RuleContext<'_>) -> Option<&'static str> {
    let rule = RULES.iter().find(|(_, holds)| holds(difference, cx)).map(|(name, _)| *name);
    rule.or_else(|| lists::dropped(difference, cx))
}

fn interpolated(difference: &Difference, cx: RuleContext<'_>) -> bool {
    let Some(mut resolved) = difference.ours.clone() else { return false };
    let is_changed = interpolation::apply(&mut resolved, cx.record);
    if let (Some(expected), Some(ours)) = (text(&difference.expected), text(&difference.ours)) {
        // A text made from data, or a trimmed line.
        let mut data = evalsuite_schema::json::from_str::<Value>(ours).unwrap_or_default();
        let is_data =
            interpolation::apply(&mut data, cx.record) && evalsuite_schema::json::from_str(expected).ok() == Some(data);
        if is_data || is_changed && resolved.as_str().is_some_and(|resolved| resolved.trim() == expected) {
            return true;
        }
    }
    if !is_changed {
        return false;
    }
    if difference.path == "question" {
        // Empty texts are not part of it.
        let words =
            |text: Option<&str>| text.map(|text| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>());
        return words(text(&difference.expected)) == words(resolved.as_str());
    }
    let hook = Difference { ours: Some(resolved.clone()), ..difference.clone() };
    if hook_line(&hook, cx) {
        return true;
    }
    // Records of single graders contain only the name of a dropped one.
    let is_dropped = difference.expected == Some(json!([])) && cx.record.expected().get("kept").is_some();
    if is_dropped && cx.record.texts().any(|(_, text)| interpolation::leaves_blank(text, cx.record)) {
        return true;
    }
    interpolation::without_blank(&mut resolved);
    let nothing = match &resolved {
        Value::Array(_) => json!([]),
        Value::Object(_) => json!({}),
        _ => json!(""),
    };
    // An empty workspace counts as no workspace.
    if difference.expected.is_none() && resolved == json!({ "isolation": "per_test" }) {
        return true;
    }
    let mut expected = difference.expected.clone().unwrap_or(nothing);
    if difference.path.ends_with("content") {
        // Some empty parts are dropped.
        interpolation::without_blank(&mut expected);
    }
    crate::difference::between(&expected, &resolved).is_empty()
}

fn suite_name(difference: &Difference, cx: RuleContext<'_>) -> bool {
    let Some(eval) = cx.record.eval.as_deref().map(Path::new) else { return false };
    let name =
        |path: Option<&std::ffi::OsStr>| path.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let (file, stem) = (name(eval.file_name()), name(eval.file_stem()));
    let directory = name(cx.root().join(cx.paths.eval_dir).file_name());
    let (expected, ours) = (text(&difference.expected), text(&difference.ours));
    let by_directory = stem.eq_ignore_ascii_case("eval") && expected == Some(&stem) && ours == Some(&directory);
    // The extension is removed in any letter case; a name that consists only of an extension is kept.
    let by_ending = expected == Some(&file) && ours == Some(&stem) || file.starts_with('.') && expected == Some("eval");
    difference.path == "suite" && (by_directory || by_ending)
}

fn category(difference: &Difference, cx: RuleContext<'_>) -> bool {
    let parts = cx.paths.eval_dir.split('/').filter(|part| !part.is_empty() && *part != "evals");
    let parts: Vec<&str> = parts.collect();
    let derived = if parts.is_empty() { "Uncategorized".to_owned() } else { parts.join("/") };
    // The reference's caller may pass one.
    let passed = cx.record.json["category"].as_str();
    difference.path == "category" && text(&difference.expected) == passed && text(&difference.ours) == Some(&derived)
}

fn repeated_name(difference: &Difference, _: RuleContext<'_>) -> bool {
    let (Some(expected), Some(ours)) = (text(&difference.expected), text(&difference.ours)) else { return false };
    let number = ours.strip_prefix(expected).and_then(|rest| rest.strip_prefix('#'));
    difference.path.starts_with("graders.")
        && difference.path.ends_with(".name")
        && number.and_then(|number| number.parse::<u32>().ok()).is_some_and(|number| number >= 2)
}

fn hook_line(difference: &Difference, _: RuleContext<'_>) -> bool {
    let (Some(Value::Array(words)), Some(line)) = (&difference.expected, text(&difference.ours)) else { return false };
    let words: Option<Vec<&str>> = words.iter().map(Value::as_str).collect();
    difference.path.starts_with("workspace.hooks.")
        && difference.path.ends_with(".command")
        && words.is_some_and(|words| words == line.split_whitespace().collect::<Vec<_>>())
}

/// The additional hook is written as a bare command.
fn hook_shorthand(difference: &Difference, cx: RuleContext<'_>) -> bool {
    let (None, Some(ours)) = (&difference.expected, &difference.ours) else { return false };
    let one;
    let hooks = match difference.path.as_str() {
        "workspace" => ours["hooks"].as_object(),
        "workspace.hooks" => ours.as_object(),
        path => match path.strip_prefix("workspace.hooks.") {
            Some(name) => {
                one = json!({ name: ours });
                one.as_object()
            }
            None => None,
        },
    };
    let bare = |(name, hook): (&String, &Value)| {
        source_documents::any_mapping(cx.record, &|mapping| {
            let there = mapping.get("hooks").map_or(&Value::Null, |hooks| &hooks[name.as_str()]);
            !there.is_object() && !there.is_null() && there == &hook["command"]
        })
    };
    hooks.is_some_and(|hooks| !hooks.is_empty() && hooks.iter().all(bare))
}

/// A path found next to the case's file; the reference searches only from the suite file upwards.
fn case_directory(difference: &Difference, cx: RuleContext<'_>) -> bool {
    let own = |path: &str| {
        let relative = path.strip_prefix("{ROOT}/").and_then(|path| path.strip_prefix(cx.case_dir)?.strip_prefix('/'));
        relative.filter(|_| cx.root().join(path.trim_start_matches("{ROOT}/")).exists()).map(str::to_owned)
    };
    let is_own_part = |part: &Value| part["resolvedPath"].as_str().is_some_and(|path| own(path).is_some());
    let has_templates = cx.record.texts().any(|(path, _)| {
        let inside = path.strip_prefix(cx.case_dir).and_then(|rest| rest.strip_prefix('/'));
        cx.case_dir != cx.paths.eval_dir && inside.is_some_and(|path| path.contains("/templates/"))
    });
    if has_templates && difference.path.starts_with("graders") {
        return true;
    }
    match (&difference.expected, &difference.ours) {
        (Some(Value::String(expected)), Some(Value::String(ours))) if difference.path.ends_with(".text") => {
            // The text of the other file with the same name.
            let read = |path: &str| {
                cx.record.texts().find(|(known, _)| *known == path).map(|(_, text)| text.replace("\r\n", "\n"))
            };
            cx.record.texts().any(|(path, text)| {
                let name = path.strip_prefix(cx.case_dir).and_then(|rest| rest.strip_prefix('/'));
                let above = name.map(|name| format!("{}/{name}", cx.paths.eval_dir).trim_start_matches('/').to_owned());
                text.replace("\r\n", "\n") == *ours
                    && above.is_some_and(|above| read(&above).as_ref() == Some(expected))
            })
        }
        (Some(Value::String(expected)), Some(Value::String(ours))) => {
            let from_case = |written: &str| {
                let joined = Path::new("{ROOT}").join(cx.case_dir).join(written);
                crate::claim::resolve(&joined) == Path::new(ours)
            };
            let is_path = |mapping: &evalsuite_schema::Object| {
                ["template", "cwd", "value"].iter().any(|key| {
                    let written = mapping.get(key).and_then(Value::as_str);
                    written.is_some_and(|written| written.starts_with("..") && from_case(written))
                })
            };
            if cx.case_dir != cx.paths.eval_dir && source_documents::any_mapping(cx.record, &is_path) {
                return true;
            }
            // Next to a template or a list of cases that names it.
            let beside =
                ours.rsplit_once('/').and_then(|(directory, name)| Some((directory.strip_prefix("{ROOT}/")?, name)));
            let is_beside = beside.is_some_and(|(directory, name)| {
                let lists = cx.record.texts().map(|(path, _)| path).filter(|path| path.ends_with("ml"));
                let in_directory = |path: &str| path.rsplit_once('/').is_some_and(|(parent, _)| parent == directory);
                expected.ends_with(name) && lists.into_iter().any(in_directory)
            });
            if is_beside {
                return true;
            }
            let above = format!("{{ROOT}}/{}", cx.paths.eval_dir);
            let above = expected.strip_prefix(above.trim_end_matches('/')).and_then(|rest| rest.strip_prefix('/'));
            above.is_some_and(|above| own(ours).as_deref() == Some(above))
        }
        // Parts, or paths of files, that the reference did not find.
        (expected, Some(Value::Array(ours))) => {
            let kept: Vec<Value> = ours
                .iter()
                .filter(|item| !is_own_part(item) && item.as_str().is_none_or(|path| own(path).is_none()))
                .cloned()
                .collect();
            let expected = expected.clone().unwrap_or_else(|| json!([]));
            kept.len() < ours.len() && expected == Value::Array(kept)
        }
        _ => false,
    }
}

/// A path that the reference searches with the spaces around it: it is spelled differently, or finds nothing.
fn spaces(difference: &Difference, cx: RuleContext<'_>) -> bool {
    let blank = |path: &Value| path.as_str().is_some_and(|path| path.trim() != path);
    let is_written = |mapping: &evalsuite_schema::Object| {
        ["template", "cwd", "value"].iter().any(|key| mapping.get(key).is_some_and(blank))
            || mapping.get("input_files").and_then(Value::as_array).is_some_and(|files| files.iter().any(blank))
    };
    let is_same = match (&difference.expected, &difference.ours) {
        (Some(Value::String(expected)), Some(Value::String(ours))) => {
            let inner = expected.strip_prefix("{ROOT}/").map(|path| Path::new("{ROOT}").join(path.trim()));
            inner.is_some_and(|path| crate::claim::resolve(&path) == Path::new(ours))
        }
        (expected, Some(Value::Array(ours))) => {
            let none = Vec::new();
            let expected = expected.as_ref().and_then(Value::as_array).unwrap_or(&none);
            let found = ours.iter().filter(|item| !expected.contains(item));
            found.clone().count() > 0 && found.into_iter().all(|item| item.is_string() || item["type"] == "file")
        }
        _ => false,
    };
    is_same && source_documents::any_mapping(cx.record, &is_written)
}

/// The reference drops input messages that contain only tool calls.
fn tool_calls(difference: &Difference, _: RuleContext<'_>) -> bool {
    let (Some(Value::Array(ours)), true) = (&difference.ours, difference.path == "input") else { return false };
    let says_something = |message: &&Value| message.get("content").is_some() || message.get("tool_calls").is_none();
    let kept: Vec<Value> = ours.iter().filter(says_something).cloned().collect();
    let expected = difference.expected.clone().unwrap_or_else(|| json!([]));
    kept.len() < ours.len() && expected == Value::Array(kept)
}

/// A YAML file next to a JSONL entry sets graders of each case, and the suite's name.
fn sidecar(difference: &Difference, cx: RuleContext<'_>) -> bool {
    let Some(stem) = cx.record.eval.as_deref().and_then(|eval| eval.strip_suffix(".jsonl")) else { return false };
    let file = cx.record.texts().find(|(path, _)| *path == format!("{stem}.yaml"));
    let Some(root) = file.and_then(|(_, text)| crate::source_excerpt::from_yaml(text)) else { return false };
    match (difference.path.as_str(), &difference.expected) {
        ("suite", Some(expected)) => {
            let mut name = root["name"].clone();
            interpolation::apply(&mut name, cx.record);
            name == *expected
        }
        ("graders", Some(Value::Array(expected))) => {
            let none = Vec::new();
            let ours = difference.ours.as_ref().and_then(Value::as_array).unwrap_or(&none);
            let lists = ["assertions", "assert", "evaluators"].map(|key| root["execution"][key].as_array());
            let written: Vec<&Value> = lists.into_iter().flatten().flatten().collect();
            let from_file =
                |grader: &Value| written.iter().any(|entry| entry["type"] == grader["type"] || entry.is_string());
            let rest = &expected[ours.len().min(expected.len())..];
            let same =
                ours.iter().zip(expected).all(|(ours, expected)| crate::difference::between(expected, ours).is_empty());
            same && !rest.is_empty() && rest.iter().all(from_file)
        }
        _ => false,
    }
}
