//! Quotes, lists, comments and numbers as they are written elsewhere.

use super::{CASE, SUITE, check};

#[test]
fn quotes_and_blanks_are_those_of_yaml() {
    check(
        "quotes",
        &[
            ("typographic quotes", case!("input: “Hello”\ncriteria: ‘It’s a greeting’\n")),
            ("typographic quotes in braces", case!("input: Hello\nassertions: [{ type: contains, value: „Hello“ }]\n")),
            ("typographic quotes in a text", case!("input: “Hello,” she said, “you.”\ncriteria: Greets.\n")),
            ("typographic quotes around a key", case!("“input”: Hello\ncriteria: Greets.\n")),
            ("a straight and a typographic quote", case!("input: \"Hello”\ncriteria: Greets.\n")),
            ("no space after a colon", case!("input:Hello\ncriteria: Greets.\n")),
            ("no space after the colons of two lines", case!("input:Hello\ncriteria:Greets.\n\ntags: [a]\n")),
            ("no space after the colon of the last line", case!("criteria: Greets.\ninput:Hello\n")),
            ("no space after the only colon", suite!("name:s\n")),
            ("no space after the colon of a nested key", suite!("execution:\n  threshold:1\n")),
            (
                "no space after the colon in a list",
                case!("input: Hello\nassertions:\n  - type:contains\n    value: Hello\n"),
            ),
            ("a colon in a text", case!("input: Answer: yes or no?\ncriteria: Greets.\n")),
            ("a text that starts with %", case!("input: %d apples\ncriteria: Greets.\n")),
            ("a text that starts with @", case!("input: @shop Hello\ncriteria: Greets.\n")),
            ("code in backticks", case!("input: `ls`\ncriteria: Greets.\n")),
        ],
    );
}

#[test]
fn lists_and_comments_are_those_of_yaml() {
    check(
        "lists",
        &[
            ("a dash of a word processor", case!("input: Hello\nassertions:\n  – type: contains\n    value: Hello\n")),
            ("a bullet", case!("input: Hello\nassertions:\n  • type: contains\n    value: Hello\n")),
            ("an asterisk", case!("input: Hello\nassertions:\n  * type: is-json\n")),
            ("a tab", case!("input: Hello\nassertions:\n\t- type: is-json\n")),
            (
                "a setting at the indentation of its dash",
                case!("input: Hello\nassertions:\n  - type: contains\n  value: x\n"),
            ),
            ("a missing dash", case!("input: Hello\nassertions:\n  type: contains\n  value: Hello\n")),
            ("a comment of JavaScript", case!("// greets\ninput: Hello\ncriteria: Greets.\n")),
            ("a comment of JavaScript below a key", case!("input: Hello\n// greets\ncriteria: Greets.\n")),
            ("a comment of C", case!("/* greets */\ninput: Hello\ncriteria: Greets.\n")),
            ("a comment of HTML", case!("<!-- greets -->\ninput: Hello\ncriteria: Greets.\n")),
            ("a list of one case", case!("- input: Hello\n  criteria: Greets.\n")),
            ("two documents", case!("input: Hello\ncriteria: Greets.\n---\ninput: Bye\ncriteria: Greets.\n")),
            ("an alias without an anchor", case!("input: Hello\nassertions: *common\n")),
            ("cases by id", &[("EVAL.yaml", "tests:\n  a:\n    input: Hello\n    criteria: Greets.\n")]),
            ("cases under another key", &[("EVAL.yaml", "cases:\n  - { id: a, input: Hello, criteria: Greets. }\n")]),
            (
                "a pattern without file://",
                &[
                    ("EVAL.yaml", "tests: ['lists/*.yaml']\n"),
                    ("lists/a.yaml", "- { id: a, input: Hello, criteria: Greets. }\n"),
                ],
            ),
            (
                "a case file with another name",
                &[SUITE, CASE, ("cases/b/cases.yaml", "input: Hello\ncriteria: Greets.\n")],
            ),
        ],
    );
}

#[test]
fn values_of_another_form_are_answered() {
    check(
        "forms",
        &[
            ("several texts", case!("input: Hello\nassertions: [{ type: contains, value: [a, b] }]\n")),
            (
                "several texts, ignoring case",
                case!("input: Hello\nassertions:\n  - type: icontains\n    value:\n      - a\n      - b\n"),
            ),
            ("several patterns", case!("input: Hello\nassertions: [{ type: regex, value: [a, b] }]\n")),
            ("a type as a key", case!("input: Hello\nassertions:\n  - type:\n      contains: Hello\n")),
            ("milliseconds", suite!("execution: { timeout_seconds: 500ms }\n")),
            ("a comma in a number", case!("input: Hello\nassertions: [{ type: cost, budget: \"0,05\" }]\n")),
            ("dollars", case!("input: Hello\nassertions: [{ type: cost, budget: $0.05 }]\n")),
            ("a boolean as text", case!("input: Hello\nassertions: [{ type: is-json, negate: \"true\" }]\n")),
            ("keys with capitals", case!("Input: Hello\nexpectedOutput: Hello\n")),
            ("criteria as a list", case!("input: Hello\ncriteria:\n  - Greets.\n  - Is short.\n")),
            ("roles as keys", case!("input:\n  - user: Hello\n  - { assistant: Hi }\ncriteria: Greets.\n")),
            (
                "a path of Windows",
                &[
                    SUITE,
                    ("cases/a/case.yaml", "input: Hello\ncriteria: Greets.\nworkspace: { template: .\\files\\x }\n"),
                    ("files/x/a.txt", ""),
                ],
            ),
            (
                "a step of JavaScript",
                case!("input: Hello\nassertions: [{ type: is-json, transform: [output.trim()] }]\n"),
            ),
            (
                "an unknown step",
                case!("input: Hello\nassertions: [{ type: is-json, transform: [tirm, { jsn: a }] }]\n"),
            ),
            (
                "steps without a pattern, with a broken one, and with two meanings",
                case!(
                    "input: Hello\nassertions:\n  - type: is-json\n    transform:\n      - { with: a }\n      - { replace: '(', with: '' }\n      \
                     - { json: a, replace: b }\n      - { json: a, with: b }\n      - {}\n"
                ),
            ),
        ],
    );
}
