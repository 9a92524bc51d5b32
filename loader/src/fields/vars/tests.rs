//! Variables in the texts of a case.

use super::*;
use crate::tests::Package;

/// The case with its variables filled in, as JSON, and the problems.
fn filled(case: &str) -> (String, Vec<String>) {
    let package = Package::new(&[]);
    let mut d = Diagnostics::new();
    let node = package.node(case);
    let mut filled = fill(&node, Scope { vars: of(&node), ..package.scope() }, &mut d).to_json();
    filled.as_object_mut().expect("a case").remove("vars");
    (filled.to_string(), package.lines(&d))
}

#[track_caller]
fn check(case: &str, expected: &str) {
    assert_eq!(filled(case), (expected.to_owned(), Vec::new()));
}

#[test]
fn a_text_that_is_one_reference_becomes_the_value() {
    check(
        "{vars: {order: {id: 1182, lines: [a, b]}, files: [x.txt]}, input: '{{order.id}}', input_files: '{{ files }}', \
         expected_output: {total: '{{ order }}', last: '{{ order.lines.1 }}'}}",
        "{\"input\":1182,\"input_files\":[\"x.txt\"],\
         \"expected_output\":{\"total\":{\"id\":1182,\"lines\":[\"a\",\"b\"]},\"last\":\"b\"}}",
    );
}

#[test]
fn inside_of_text_other_values_are_json() {
    check(
        "{vars: {a: x, b: [1, two], c: null}, criteria: 'Says {{ a }}, {{b}} and {{ c }} ', expected_outcome: '{{ a }}{{ a }}'}",
        "{\"criteria\":\"Says x, [1,\\\"two\\\"] and null \",\"expected_outcome\":\"xx\"}",
    );
}

#[test]
fn turns_graders_and_examples_are_filled() {
    check(
        "{vars: {a: x, n: 7}, turns: [{input: '{{ a }}', expected_output: '{{ a }}!', assertions: ['{{ a }}']}], \
         assertions: ['Says {{ a }}', {type: contains, value: '{{ a }}'}, {type: composite, assertions: [{type: equals, \
         value: '{{ a }}{{ n }}'}]}, {type: tool-trajectory, expected: [{tool: t, args: {command: '{{ n }}'}}]}], \
         examples: [{answer: '{{ a }}'}]}",
        "{\"turns\":[{\"input\":\"x\",\"expected_output\":\"x!\",\"assertions\":[\"x\"]}],\
         \"assertions\":[\"Says x\",{\"type\":\"contains\",\"value\":\"x\"},{\"type\":\"composite\",\"assertions\":[{\"type\":\"equals\",\
         \"value\":\"x7\"}]},{\"type\":\"tool-trajectory\",\"expected\":[{\"tool\":\"t\",\"args\":{\"command\":7}}]}],\
         \"examples\":[{\"answer\":\"x\"}]}",
    );
}

#[test]
fn values_and_variables_of_the_environment_are_not_searched() {
    check(
        "{vars: {a: '{{ b }}', b: x}, input: '{{ a }} ${{ b }} ${{ c }}'}",
        "{\"input\":\"{{ b }} ${{ b }} ${{ c }}\"}",
    );
    check(
        "{input: '{{ a }}', assertions: [{type: contains, value: '{{ a }'}]}",
        "{\"input\":\"{{ a }}\",\"assertions\":[{\"type\":\"contains\",\"value\":\"{{ a }\"}]}",
    );
}

#[test]
fn braces_are_written_as_a_reference_and_code_stays() {
    check(
        r#"{vars: {a: x, color: red}, input: "{{ '{{' }} a }} is {{ a }}", criteria: '{{ "{{" }}'}"#,
        "{\"input\":\"{{ a }} is x\",\"criteria\":\"{{\"}",
    );
    let code = "<p style={{color: 'red'}}> {{1, 2}, {3, 4}} {{ 1 }} {{}} {{ }} {{.Field}} {{ 'text' }} {{\"a\": 1}}";
    let case = serde_json::json!({"vars": {"a": "x", "color": "red"}, "input": code}).to_string();
    check(&case, &serde_json::json!({"input": code}).to_string());
}

#[test]
fn columns_may_have_any_name() {
    check(
        "{vars: {Order ID: 7, größe: L, a.b: c}, input: '{{ Order ID }} {{größe}} {{ a.b }}'}",
        "{\"input\":\"7 L c\"}",
    );
}

/// The problems of a text in every place in which it is filled in.
fn problems(text: &str) -> Vec<String> {
    let mut all: Vec<Vec<String>> = Vec::new();
    for place in [
        "input: TEXT",
        "input: [{role: user, content: [{type: text, value: TEXT}]}]",
        "input_files: [TEXT]",
        "criteria: TEXT",
        "expected_output: {a: [TEXT]}",
        "assertions: [TEXT]",
        "assertions: [{type: contains, value: TEXT, negate: true}]",
        "assertions: [{type: rubrics, criteria: [{outcome: TEXT}]}]",
        "assertions: [{type: max_words, config: {prompt: TEXT}}]",
        "execution: {assertions: [{type: contains, value: TEXT}]}",
        "rubrics: [TEXT]",
        "turns: [{input: TEXT}]",
        "turns: [{assertions: [{type: equals, value: TEXT}]}]",
        "examples: [{answer: TEXT}]",
    ] {
        let case = format!("{{vars: {{amount: 1, order: {{id: 2, lines: [x]}}}}, {place}}}");
        let quoted = format!("\"{}\"", text.replace('"', "\\\""));
        let found = filled(&case.replace("TEXT", &quoted)).1;
        all.push(found.iter().map(|line| line.split_once(' ').expect("a place").1.to_owned()).collect());
    }
    assert!(all.iter().all(|found| *found == all[0]), "{all:?}");
    all.swap_remove(0)
}

#[test]
fn a_name_that_is_not_a_variable_is_an_error() {
    for name in ["amout", "order.idd", "order.id.x", "order.lines.1", "a.b-c", "Order ID", "größe", "else", "a[0]", "_"]
    {
        let expected = || format!("E090 `{{{{ {name} }}}}` is not a variable of this case");
        assert_eq!(problems(&format!("x {{{{ {name} }}}} y")), [expected()], "{name}");
        assert_eq!(problems(&format!("{{{{{name}}}}}")), [expected()], "{name}");
    }
    for expression in ["amount | upper", "amount|default(1)", "order.id + 1", "#amount", "- amount -", "amount()"] {
        assert_eq!(problems(&format!("{{{{{expression}}}}}")).len(), 1, "{expression}");
    }
    assert_eq!(problems("{{ amount }"), ["E090 `{{ amount }` is not closed with `}}`"]);
    assert_eq!(problems("{{ amount }} {{ other } {{ amount"), [""; 0]);
    assert_eq!(problems("{{{ amount }}}"), [""; 0]);
}

#[test]
fn the_help_names_what_is_near_and_what_is_known() {
    let help = |text: &str| {
        let (package, mut d) = (Package::new(&[]), Diagnostics::new());
        let node = package.node(&format!("{{vars: {{amount: 1, order: {{id: 2, items: [x]}}}}, input: '{text}'}}"));
        fill(&node, Scope { vars: of(&node), ..package.scope() }, &mut d);
        let help = d.iter().next().and_then(|problem| problem.help.clone()).expect("a problem with help");
        help.split_once("; ").expect("the braces").0.to_owned()
    };
    assert_eq!(help("{{ amout }}"), "did you mean `amount`? known: `amount` and `order`");
    assert_eq!(help("{{ order.idd }}"), "did you mean `order.id`? known: `order.id` and `order.items`");
    assert_eq!(help("{{ order.items.7 }}"), "did you mean `order.items.0`? known: `order.items.0`");
    assert_eq!(help("{{ colour }}"), "known: `amount` and `order`");
}

#[test]
fn texts_that_are_not_filled_in_are_told() {
    let problems = |case: &str| filled(&format!("{{vars: {{a: 1}}, {case}}}")).1;
    let prompt = "assertions: [{type: llm-grader, prompt: '{{ input }} {{ a }} {{ ouput }}'}]";
    assert_eq!(problems(prompt), ["1:56 E090 `{{ a }}` is not filled in: `prompt` is not a text of the case"]);
    let line = "assertions: [{type: code-grader, command: 'x {{ a }} {{ .b }}'}]";
    assert_eq!(problems(line), ["1:58 E090 `{{ a }}` is not filled in: `command` is not a text of the case"]);
    for (key, column) in [("maximums: {'{{ a }}': 0}", 64), ("expected: [{args: {'x {{ a }}': 0}}]", 72)] {
        let tools = format!("assertions: [{{type: tool-trajectory, {key}}}]");
        assert_eq!(
            problems(&tools),
            [format!("1:{column} E090 `{{{{ a }}}}` is not filled in: it is in the name of a key")]
        );
    }
    let tags = problems("tags: ['{{ a }}', '{{ b }}']");
    assert_eq!(tags, ["1:23 W007 `{{ a }}` is not filled in here, and is left as it is"]);
    assert_eq!(problems("workspace: {hooks: {before_each: 'x {{ a }}'}}"), [""; 0]);
}

#[test]
fn many_braces_are_read_once() {
    let text = "{{ a ".repeat(1 << 17) + &"{".repeat(1 << 19) + "}";
    assert_eq!(filled(&format!("{{vars: {{a: 1}}, input: '{text}'}}")).1, [""; 0]);
}

#[test]
fn values_that_multiply_are_refused() {
    let value = "x".repeat(1 << 20);
    let (case, problems) = filled(&format!("{{vars: {{a: {value}}}, input: '{}'}}", "{{ a }} ".repeat(1000)));
    assert!(case.len() < 1 << 24, "{}", case.len());
    assert!(problems[0].contains("E008"), "{problems:?}");
}
