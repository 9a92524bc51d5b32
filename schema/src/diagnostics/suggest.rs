//! Names that were probably meant: the one place that decides what "did you mean" suggests.

/// Keys, and what other tools call them.
const SYNONYMS: &[(&str, &[&str])] = &[
    (
        "assertions",
        &["assert", "asserts", "evaluators", "graders", "checks", "scorer", "scorers", "metrics", "evaluation"],
    ),
    ("tests", &["cases"]),
    ("input", &["prompt", "question", "messages", "input_messages", "query", "inputs"]),
    ("expected_output", &["expected", "expect", "answer", "reference", "ideal", "target"]),
    ("expected_output", &["expected_answer", "expected_messages", "expected_result", "reference_answer"]),
    ("criteria", &["outcome", "rubric", "rubrics"]),
    ("name", &["dataset", "metric", "type"]),
    ("timeout_seconds", &["timeout", "timeout_ms"]),
    ("trials", &["repeat", "epochs", "runs"]),
    ("min_score", &["threshold"]),
    ("id", &["name"]),
    ("tool", &["name", "tool_name", "function"]),
    ("args", &["arguments", "parameters"]),
    ("value", &["values", "text", "pattern"]),
    ("input_files", &["files", "attachments"]),
    ("count", &["n", "times"]),
    ("threshold", &["max_ms", "max_duration_ms"]),
    ("budget", &["threshold", "max_cost", "max_cost_usd"]),
    ("outcome", &["description"]),
    ("content", &["text"]),
    ("expected", &["tools", "calls", "expected_calls"]),
    ("target", &["provider"]),
    ("targets", &["providers"]),
    ("config", &["settings"]),
    ("trials_per_run", &["trials"]),
];

/// Keys with one meaning, and what to do instead of writing one of them.
type Instead = (&'static [&'static str], &'static str);

/// Keys that mean what no file says, and where it is said.
const ELSEWHERE: &[Instead] = &[(
    &["retries", "max_retries", "retry"],
    "EVALSUITE_RETRIES sets the attempts after infrastructure errors; `trials` repeats a case to measure it",
)];

/// Keys of suites and cases in other tools, and what is written here in their place.
const NOT_IN_FILES: &[Instead] = &[
    (&["skip", "disabled"], "cases are chosen when they run: give the case `tags`, and run with `--exclude-tag`"),
    (&["only"], "cases are chosen when they run: by name, or with `--tag` and the key `tags`"),
    (&["judge"], "the macro names the judge: `judge = …`; docs/judging.md describes it"),
    (&["judges"], "the macro names the judges: `judges = [\"name\" => …]`; docs/judging.md describes them"),
    (&["model", "models"], "the agent chooses its model; several of them are `execution: { targets: [small, large] }`"),
    (&["agent"], "the macro names the agent: `agent = my_agent`"),
    (&["description"], "write a comment, or `metadata: { description: … }`"),
    (&["prompts"], "write the text in `input` of each case; what comes before all of them in `input` of the suite"),
    (
        &["default_test", "defaultTest"],
        "write what all cases share next to `tests`: `input`, `assertions`, `execution`",
    ),
];

/// What is written in place of a key that other tools have in suites and cases.
pub fn said_elsewhere(written: &str) -> Option<&'static str> {
    instead(NOT_IN_FILES, written).or_else(|| instead(ELSEWHERE, written))
}

fn instead(table: &[Instead], written: &str) -> Option<&'static str> {
    table.iter().find(|(names, _)| names.contains(&written)).map(|(_, help)| *help)
}

/// Names longer than this, in characters, are not typos; comparing them is slow.
const LONGEST: usize = 100;

/// Maximum number of known names that are compared.
const MOST: usize = 10_000;

/// Maximum number of known names that are all listed.
const LISTED: usize = 20;

/// The keys with the meaning that `written` has in other tools.
pub fn synonyms(written: &str) -> impl Iterator<Item = &'static str> {
    SYNONYMS.iter().filter(move |(_, from)| from.contains(&written)).map(|(to, _)| *to)
}

/// The known names closest to `written`: its synonym, then names by edit distance, at most three.
pub fn nearest<'k>(written: &str, known: impl IntoIterator<Item = &'k str>) -> Vec<&'k str> {
    let length = written.chars().count();
    if length > LONGEST {
        return Vec::new();
    }
    // Of one or two letters, any other ones are one or two edits away.
    let (limit, most) = ((length / 3).max(1), length / 3);
    let synonyms: Vec<&str> = synonyms(written).collect();
    let folded = fold(written);
    let mut found: Vec<(usize, &str)> = Vec::new();
    for name in known.into_iter().take(MOST) {
        let distance = if synonyms.contains(&name) {
            0
        } else if name.len().abs_diff(written.len()) > 4 * limit {
            continue;
        } else {
            // Case is the most common mistake, and `-` and `_` are the same in many names: these cost nothing.
            let edits = strsim::osa_distance(&folded, &fold(name));
            if edits > most {
                continue;
            }
            edits.max(1)
        };
        if distance <= limit {
            found.push((distance, name));
        }
    }
    found.sort();
    found.dedup();
    found.truncate(3);
    found.into_iter().map(|(_, name)| name).collect()
}

fn fold(name: &str) -> String {
    name.trim_matches(['“', '”', '„', '‘', '’']).to_lowercase().replace('_', "-")
}

/// The known name for a safe fix: one edit away, while all others are at least three edits away.
pub fn certain<'k>(written: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    let distance = |name: &str| strsim::osa_distance(&fold(written), &fold(name));
    match nearest(written, known)[..] {
        [first, ref others @ ..] if distance(first) <= 1 && others.iter().all(|other| distance(other) >= 3) => {
            Some(first)
        }
        _ => None,
    }
}

/// "did you mean `a` or `b`?", if something is close.
pub fn did_you_mean<'k>(written: &str, known: impl IntoIterator<Item = &'k str>) -> Option<String> {
    let nearest = nearest(written, known);
    (!nearest.is_empty()).then(|| format!("did you mean {}?", quoted(&nearest, "or")))
}

/// The place of the setting, if it does not belong in a file; else "did you mean …?" if a name is close, else the list
/// of known names.
pub fn did_you_mean_or_known(written: &str, known: &[&str]) -> String {
    instead(ELSEWHERE, written)
        .map(str::to_owned)
        .or_else(|| did_you_mean(written, known.iter().copied()))
        .unwrap_or_else(|| format!("known: {}", listed(known)))
}

/// `` `a`, `b` and `c` ``, or, of many, the first and how many others there are.
pub fn listed(names: &[&str]) -> String {
    match names.get(LISTED + 1..) {
        None | Some([]) => quoted(names, "and"),
        Some(_) => {
            let first: Vec<String> = names[..LISTED].iter().map(|name| format!("`{name}`")).collect();
            format!("{} and {} others", first.join(", "), names.len() - LISTED)
        }
    }
}

/// `` `a`, `b` and `c` ``.
pub fn quoted(names: &[&str], last: &str) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match quoted.split_last() {
        None => String::new(),
        Some((only, [])) => only.clone(),
        Some((end, rest)) => format!("{} {last} {end}", rest.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_synonym_goes_before_a_near_spelling() {
        assert_eq!(nearest("asserts", ["assert", "assertions"]), ["assertions", "assert"]);
        assert_eq!(nearest("timeout", ["timeout_seconds"]), ["timeout_seconds"]);
        assert_eq!(nearest("timeout_ms", ["timeout_seconds"]), ["timeout_seconds"]);
        assert_eq!(nearest("reference_answer", ["expected_output", "input"]), ["expected_output"]);
    }

    #[test]
    fn retries_are_not_trials() {
        let help = did_you_mean_or_known("retries", &["trials", "threshold"]);
        assert!(help.starts_with("EVALSUITE_RETRIES "), "{help}");
        assert_eq!(did_you_mean_or_known("repeat", &["trials"]), "did you mean `trials`?");
    }

    #[test]
    fn one_edit_is_certain_unless_another_name_is_near() {
        assert_eq!(certain("tiemout", ["timeout", "threshold"]), Some("timeout"));
        assert_eq!(certain("Max_Tool_Calls", ["max_tool_calls"]), Some("max_tool_calls"));
        assert_eq!(certain("timeot", ["timeout", "timeot1"]), None);
        assert_eq!(certain("max_tool_cals", ["max_tool_calls", "min_tool_calls"]), Some("max_tool_calls"));
        assert_eq!(certain("tmeot", ["timeout"]), None, "two edits");
        assert_eq!(certain("asserts", ["assertions"]), None, "a synonym");
    }

    #[test]
    fn a_transposition_costs_one() {
        assert_eq!(nearest("tiemout", ["timeout", "threshold"]), ["timeout"]);
    }

    #[test]
    fn other_short_names_are_not_near() {
        assert_eq!(nearest("b", ["a", "B"]), ["B"]);
        assert_eq!(nearest("ws", ["s", "us"]), Vec::<&str>::new());
    }

    #[test]
    fn upper_and_lower_case_are_near() {
        assert_eq!(nearest("Capability", ["capability", "regression"]), ["capability"]);
    }

    #[test]
    fn of_many_names_the_first_are_listed() {
        let names: Vec<String> = (0..30).map(|number| number.to_string()).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        assert!(listed(&names[..21]).ends_with("`19` and `20`"));
        assert!(listed(&names).ends_with("`18`, `19` and 10 others"));
    }

    #[test]
    fn nothing_far_away_is_suggested() {
        assert_eq!(nearest("zzz", ["criteria", "input"]), Vec::<&str>::new());
        assert_eq!(
            did_you_mean_or_known("zzz", &["a_long_name", "b_long_name"]),
            "known: `a_long_name` and `b_long_name`"
        );
    }
}
