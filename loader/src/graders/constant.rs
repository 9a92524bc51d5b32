//! Graders that pass, or fail, whatever the agent does. Such a grader is a mistake of its author.

use evalsuite_schema::Grader;
use evalsuite_schema::grader::{AnswerStep, GraderConfig, trim};
use evalsuite_schema::placeholder::Syntax;

use super::FAMILIES;
use crate::diagnostic::{Code, Diagnostics};
use crate::fields::control_character;
use crate::read::node::Node;

/// What a grader always says, before `negate`.
pub(super) struct Constant {
    pub(super) passes: bool,
    /// The key that is to blame.
    pub(super) key: &'static str,
    pub(super) reason: String,
    pub(super) help: String,
}

/// Reports a grader that cannot fail or cannot pass. `node`: the mapping with its settings.
pub(crate) fn check(grader: &Grader, node: &Node, d: &mut Diagnostics) {
    check_texts(grader, node, d);
    let Some(Constant { passes, key, reason, help }) = FAMILIES
        .iter()
        .find_map(|family| (family.constant)(&grader.config))
        .or_else(|| by_transform(&grader.transform, &grader.config))
    else {
        return;
    };
    let can_lack_text = grader.transform.iter().any(|step| matches!(step, AnswerStep::Json(_)));
    let place = node.entry(key).map_or(node.span, |entry| entry.value.span);
    let inverted = if grader.negate { ", and `negate` inverts the result" } else { "" };
    match passes != grader.negate {
        // An answer without the text that `json` looks for fails.
        true if can_lack_text => {}
        true => d.report(Code::GraderCannotFail, place, format!("the grader cannot fail: {reason}{inverted}"), help),
        false => d.report(Code::GraderCannotPass, place, format!("the grader cannot pass: {reason}{inverted}"), help),
    }
}

/// A text with letters that `transform` removes from the answer.
fn by_transform(steps: &[AnswerStep], config: &GraderConfig) -> Option<Constant> {
    let last = steps.iter().rev().find(|step| !matches!(step, AnswerStep::Trim))?;
    let (is_gone, letters): (fn(char) -> bool, _) = match last {
        AnswerStep::Lowercase => (|letter| !letter.to_lowercase().eq([letter]), ["upper", "lower"]),
        AnswerStep::Uppercase => (|letter| !letter.to_uppercase().eq([letter]), ["lower", "upper"]),
        _ => return None,
    };
    let gone = |text: &String| text.chars().find(|letter| is_gone(*letter)).filter(|_| !Syntax::Variable.is_in(text));
    let letter = match config {
        GraderConfig::Contains(text)
        | GraderConfig::Equals(text)
        | GraderConfig::StartsWith(text)
        | GraderConfig::EndsWith(text) => gone(&text.value),
        GraderConfig::ContainsAll(texts) => texts.value.iter().find_map(gone),
        GraderConfig::ContainsAny(texts) => texts.value.iter().map(gone).min().flatten(),
        _ => None,
    }?;
    let reason = format!("`transform` leaves no {} case letter in the answer, and `value` has `{letter}`", letters[0]);
    Some(Constant { passes: false, key: "value", reason, help: format!("write `value` in {} case", letters[1]) })
}

/// Reports texts to look for that cannot be meant as they are: blank ones where blanks are ignored, and control characters.
fn check_texts(grader: &Grader, node: &Node, d: &mut Diagnostics) {
    let (texts, kind) = (grader.config.settings().texts(), grader.config.type_name());
    let blank = matches!(kind, "equals" | "similar") && texts.iter().any(|text| trim(text).is_empty());
    let Some(entry) = node.entry("value").filter(|_| !texts.is_empty()) else { return };
    if blank {
        let help = "write the text; an answer that has to be empty is `type: regex` with `'\\A\\s*\\z'`";
        d.report(
            Code::BlankValue,
            entry.value.span,
            "`value` is blank, and blanks around both texts are ignored",
            help,
        );
    }
    for text in entry.value.as_sequence().unwrap_or(std::slice::from_ref(&entry.value)) {
        control_character(text, "`value`", d);
    }
}

#[cfg(test)]
mod tests {
    use crate::diagnostic::Diagnostics;
    use crate::graders::assertions;
    use crate::tests::Package;

    /// Codes and messages of the problems of a grader.
    fn problems(grader: &str) -> Vec<String> {
        let package = Package::new(&[("suite/no.json", "false"), ("suite/yes.json", "true")]);
        let mut d = Diagnostics::new();
        assertions::read(&package.node(&format!("[{grader}]")), package.scope(), &mut d);
        package.lines(&d).iter().map(|line| line.split_once(' ').expect("a place").1.to_owned()).collect()
    }

    /// Checks the code of a grader and that of its inverse.
    #[track_caller]
    fn check(grader: &str, code: &str) {
        let [first, inverse] = if code == "E095" { ["E095", "E096"] } else { ["E096", "E095"] };
        let starts = |grader: &str, code: &str| {
            let found = problems(grader);
            assert!(matches!(found.as_slice(), [only] if only.starts_with(code)), "{grader}: {found:?}");
        };
        starts(grader, first);
        starts(&grader.replacen('{', "{negate: true, ", 1), inverse);
    }

    #[test]
    fn graders_that_cannot_fail() {
        for grader in [
            r#"{type: ends-with, value: "\n"}"#,
            r#"{type: starts-with, value: " "}"#,
            r#"{type: starts_with, value: "\uFEFF\_\t"}"#,
            "{type: regex, value: '.*'}",
            "{type: regex, value: '^'}",
            "{type: regex, value: 'refund?|'}",
            "{type: regex, value: '^.*$', flags: s}",
            "{type: tool-trajectory, mode: subset, expected: [{tool: '*'}]}",
            "{type: tool-trajectory, mode: subset, expected: [{tool: read}, {tool: '**', args: any}]}",
            "{type: tool-trajectory, mode: subset, args_match: ignore, expected: [{tool: '*', args: {a: 1}}]}",
            "{type: tool-trajectory, mode: any_order, minimums: {search: 0, read: 0}}",
            "{type: execution-metrics, min_tool_calls: 0}",
            "{type: execution-metrics, min_tool_calls: 0, min_llm_calls: 0}",
        ] {
            check(grader, "E095");
        }
    }

    #[test]
    fn graders_that_cannot_pass() {
        for grader in [
            "{type: regex, value: $19.90}",
            "{type: regex, value: 'total^', flags: i}",
            "{type: regex, value: '(?!)'}",
            "{type: json-schema, schema: {not: {}}}",
            "{type: json-schema, schema: ./no.json}",
            "{type: contains-json, schema: ./no.json}",
            "{type: contains-json, schema: {type: array}}",
            "{type: contains-json, schema: {type: [string, 'null']}}",
            "{type: contains-json, schema: {enum: [a, 1]}}",
            "{type: contains, value: Refund, transform: [lowercase]}",
            "{type: equals, value: refund, transform: [trim, uppercase, trim]}",
            "{type: contains-any, value: [A, B], transform: [lowercase]}",
            "{type: contains-all, value: [a, B], transform: [lowercase]}",
        ] {
            check(grader, "E096");
        }
    }

    #[test]
    fn graders_that_can_do_both() {
        for grader in [
            "{type: contains, value: ' '}",
            "{type: contains, value: \"\\n\"}",
            "{type: starts-with, value: '. '}",
            "{type: regex, value: '^.*$'}",
            "{type: regex, value: '(?!.*sorry)x'}",
            "{type: regex, value: '${{ PATTERN }}'}",
            "{type: regex, value: '.*', transform: [{json: total}]}",
            "{type: regex, value: '$1', negate: true, transform: [{json: total}]}",
            "{type: tool-trajectory, mode: subset, expected: [{tool: '*', args: {a: 1}}]}",
            "{type: tool-trajectory, mode: subset, expected: [{tool: 'read*'}]}",
            "{type: tool-trajectory, mode: superset, expected: [{tool: '*'}]}",
            "{type: tool-trajectory, mode: any_order, minimums: {a: 0, b: 1}}",
            "{type: tool-trajectory, mode: any_order, minimums: {a: 0}, maximums: {a: 3}}",
            "{type: execution-metrics, min_tool_calls: 0, max_tool_calls: 0}",
            "{type: json-schema, schema: {}}",
            "{type: json-schema, schema: ./yes.json}",
            "{type: contains-json, schema: {type: [object, 'null']}}",
            "{type: contains-any, value: [A, b], transform: [lowercase]}",
            "{type: contains, value: Refund, transform: [lowercase, {replace: r, with: R}]}",
            "{type: icontains, value: Refund, transform: [lowercase]}",
        ] {
            let found: Vec<String> = problems(grader).into_iter().filter(|line| !line.starts_with("W010")).collect();
            assert!(found.is_empty(), "{grader}: {found:?}");
        }
    }

    #[test]
    fn members_of_composites_are_checked_and_its_threshold_is_above_0() {
        let composite = |threshold: &str, member: &str| {
            problems(&format!(
                "{{type: composite, aggregator: {{type: threshold, threshold: {threshold}}}, assertions: [{member}]}}"
            ))
        };
        assert!(composite("0.5", "{type: regex, value: a*}")[0].starts_with("E095"));
        let problem = "E024 `threshold` is 0, which is not a number greater than 0 and at most 1";
        assert_eq!(composite("0", "{type: regex, value: a}"), [problem]);
    }

    #[test]
    fn blank_texts_and_control_characters() {
        for grader in [r#"{type: equals, value: " \n"}"#, "{type: similar, value: ' '}"] {
            assert!(problems(grader)[0].starts_with("E022"), "{grader}");
        }
        for value in [r"\bfoo", r"a\0", r"\e[31m", r"\v", r"\f", r"\a", r"\x7f", r"\P{L}", r"\N", r"\L"] {
            for grader in [
                format!("{{type: regex, value: \"{value}\"}}"),
                format!("{{type: contains, value: \"{value}\", negate: true}}"),
                format!("{{type: icontains-any, value: [a, \"x{value}\"]}}"),
                format!("{{type: equals, value: \"x{value}\"}}"),
                format!("{{type: similar, value: \"x{value}\"}}"),
                format!("{{type: contains, value: a, transform: [{{replace: \"{value}\"}}]}}"),
                format!("{{type: json-schema, schema: {{pattern: \"{value}\"}}}}"),
            ] {
                let found = problems(&grader);
                assert!(matches!(found.as_slice(), [only] if only.starts_with("E097")), "{grader}: {found:?}");
            }
        }
        for value in [r"a\tb", r"a\nb", r"a\r\nb", r"\u00e9", r"\\b"] {
            assert_eq!(problems(&format!("{{type: regex, value: \"{value}\"}}")), [""; 0]);
        }
        assert_eq!(problems(r"{type: regex, value: '\x08\bfoo'}"), [""; 0]);
    }

    #[test]
    fn a_smallest_number_of_calls_is_at_most_the_largest() {
        let found = problems("{type: execution-metrics, min_llm_calls: 3, max_llm_calls: 2}");
        assert_eq!(found, ["E028 `min_llm_calls` is 3, and `max_llm_calls` is 2"]);
        let found = problems("{type: execution-metrics, min_llm_calls: 3, max_llm_calls: -1}");
        assert_eq!(found, ["E024 `max_llm_calls` is -1, which is not a number of at least 0"]);
    }
}
