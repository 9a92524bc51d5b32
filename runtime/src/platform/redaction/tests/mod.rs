//! Tests of what is hidden, and of what stays.

mod encoders;
mod forms;

use std::collections::BTreeMap;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use evalsuite_schema::json::json;

use super::*;

fn redactor<const N: usize>(values: [&str; N]) -> Redactor {
    Redactor::default().with_values(values.map(str::to_owned))
}

#[test]
fn values_are_hidden_wherever_they_stand() {
    let redactor = redactor(["secret", "secret-long", "short"]);
    assert_eq!(redactor.apply("a secret-long, a secret, a short"), "a ***, a ***, a short");
    let value = json!({"secret": ["my secret", 1]});
    assert_eq!(redactor.redacted(value.clone()).unwrap(), json!({"***": ["my ***", 1]}));
}

#[test]
fn values_that_overlap_are_hidden_as_one() {
    assert_eq!(redactor(["abcdef", "defghi"]).apply("<abcdefghi>"), "<***>");
    assert_eq!(redactor(["ababab"]).apply("<ababababa>"), "<***a>");
}

#[test]
fn an_error_says_which_variable_has_a_value() {
    let secrets = [
        ("/opt/python/3.12", Some("PYTHON")),
        ("token-token", Some("TOKEN")),
        ("12/token-t", None),
        ("plain-value", None),
    ];
    let secrets = secrets.map(|(value, name)| (value.to_owned(), name.map(str::to_owned)));
    let redactor = redactor(["/opt/python/3.12"]).with_secrets(secrets.into_iter());
    let error = |text: &str| redactor.name_in(text);
    assert_eq!(error("cannot run `/opt/python/3.12`: gone"), "cannot run `${{ PYTHON }}`: gone");
    assert_eq!(error("/opt/python/3.12/lib, token-token and plain-value"), "${{ PYTHON }}/lib, ${{ TOKEN }} and ***");
    assert_eq!(error("/opt/python/3.12/token-token"), "***", "values that overlap are hidden as one");
    assert_eq!(error("%2Fopt%2Fpython%2F3.12"), "***", "only the value as it is");
    assert_eq!(redactor.apply("/opt/python/3.12"), "***");
}

#[test]
fn names_of_fields_and_variants_stay() {
    #[derive(Debug, PartialEq, ToJson, FromJson)]
    struct Record {
        outcome: Outcome,
        details: BTreeMap<String, String>,
    }
    #[derive(Debug, PartialEq, ToJson, FromJson)]
    enum Outcome {
        Passed { answer: String },
    }
    let data = |text: &str| Record {
        outcome: Outcome::Passed { answer: text.to_owned() },
        details: [(text.to_owned(), text.to_owned())].into(),
    };
    let redactor = redactor(["outcome", "Passed", "details", "answer"]);
    assert_eq!(redactor.redacted(data("the answer")).unwrap(), data("the ***"));
}

#[test]
fn keys_that_become_the_same_are_all_kept() {
    let value = json!({"a secret": 1, "b": {"a secret": 2}, "a hidden": 3, "a ***": 4});
    let shown = redactor(["secret", "hidden"]).redacted(value.clone()).unwrap();
    assert_eq!(shown, json!({"a ***": 1, "b": {"a ***": 2}, "a *** (2)": 3, "a *** (3)": 4}));
}

#[test]
fn every_form_in_which_programs_write_a_secret_is_hidden() {
    let secret = "first \"line\" & ümlaut\n\tsecond 'line' /+=? it\nlast line";
    let redactor = redactor([secret]);
    let hidden = |text: &str| {
        let shown = redactor.apply(text).into_owned();
        let parts = ["first", "line", "mlaut", "second", "last", "bGFzdCB", "Zmlyc3"];
        assert!(!parts.iter().any(|part| shown.contains(part)), "{text} is shown as {shown}");
        shown
    };
    let json = serde_json::to_string(secret).unwrap();
    assert_eq!(hidden(&json), "\"***\"");
    assert_eq!(hidden(&format!("{secret:?}")), "\"***\"");
    #[cfg(unix)]
    assert_eq!(hidden(&crate::platform::shell_quoting::quoted(secret)), "'***'");
    assert_eq!(
        hidden("first%20%22line%22%20%26%20%C3%BCmlaut%0A%09second%20%27line%27%20%2F%2B%3D%3F%20it%0Alast%20line"),
        "***"
    );
    assert_eq!(hidden("first+%22line%22+%26+%c3%bcmlaut%0a%09second+%27line%27+%2f%2b%3d%3f+it%0alast+line"), "***");
    let diff: String = secret.lines().map(|line| format!("+{line}\n")).collect();
    assert_eq!(hidden(&diff), "+***\n+***\n+***\n");
    for around in ["", "u", "u:", "us:", "use:"] {
        hidden(&BASE64_STANDARD.encode(format!("{around}{secret}")));
        hidden(&BASE64_STANDARD.encode(format!("{around}{secret}\n{around}")));
    }
}

#[test]
fn a_short_line_of_a_secret_is_not_hidden_in_any_form() {
    let redactor = redactor(["first line\n\u{a0}é\nlast line"]);
    assert_eq!(
        redactor.apply("%C2%A0%C3%A9 \u{a0}é \\u00a0\\u00e9 first line"),
        "%C2%A0%C3%A9 \u{a0}é \\u00a0\\u00e9 ***"
    );
}

#[test]
fn a_secret_in_a_line_for_cmd_is_hidden() {
    let secret = "100% \"sure\" & %PATH%";
    let line = crate::platform::shell_quoting::quoted_for_cmd(secret);
    assert_eq!(redactor([secret]).apply(&line), "\"***\"");
}

#[test]
fn base64_in_lines_is_hidden() {
    let secret: String = (0..100).map(|number| char::from(b'!' + number % 90)).collect();
    let encoded = BASE64_STANDARD.encode(&secret);
    for width in [64, 76] {
        let lines: Vec<&str> =
            (0..encoded.len()).step_by(width).map(|at| &encoded[at..encoded.len().min(at + width)]).collect();
        let shown = Redactor::default().with_values([secret.clone()]).apply(&lines.join("\n")).into_owned();
        assert!(shown.strip_prefix("***").is_some_and(|rest| rest.len() < 5), "{shown}");
    }
}

#[test]
fn without_secrets_nothing_is_copied() {
    let text = "a secret";
    assert!(matches!(Redactor::default().apply(text), Cow::Borrowed(shown) if std::ptr::eq(shown, text)));
    assert!(matches!(redactor(["hidden"]).apply(text), Cow::Borrowed(shown) if std::ptr::eq(shown, text)));
    assert_eq!(Redactor::default().to_pretty_json(&text).unwrap(), "\"a secret\"");
}

#[test]
fn no_cut_goes_through_a_secret() {
    let redactor = redactor(["secret"]);
    assert_eq!((redactor.position_before("a secret", 5), redactor.position_after("a secret b", 5)), (2, 8));
    assert_eq!((redactor.position_before("a secret", 2), redactor.position_after("a secret", 8)), (2, 8));
    assert_eq!(redactor.length_without_broken_end(b"a secre"), 2);
    assert_eq!(redactor.length_without_broken_end(b"a secret"), 8);
    assert_eq!(Redactor::default().length_without_broken_end(b"a secre"), 7);
}
