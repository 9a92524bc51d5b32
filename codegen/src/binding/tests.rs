//! Tests of what is wrong with a binding by itself.

use proc_macro2::Span;
use syn::{LitInt, LitStr};

use super::{Binding, Judge, NamedExpr, Problem, names};

fn literal(text: &str) -> LitStr {
    LitStr::new(text, Span::call_site())
}

fn named(name: &str) -> NamedExpr {
    NamedExpr { name: literal(name), value: syn::parse_str("path").expect("an expression") }
}

/// The problems of a binding after a change.
fn problems(change: impl FnOnce(&mut Binding)) -> Vec<String> {
    let mut binding = Binding::new(literal("suites/a"));
    change(&mut binding);
    binding.problems().iter().map(Problem::text).collect()
}

#[test]
fn a_grader_is_registered_once_and_not_under_the_name_of_a_built_in_type() {
    let found =
        problems(|binding| binding.graders = ["contains", "is_nice", "is-nice", "polite", "polite"].map(named).into());
    let expected = [
        "[E063 grader-registration] `contains` is a built-in grader type\n = help: register it under another name: `\"my-contains\" => contains`",
        "[E063 grader-registration] grader `is-nice` is registered twice, which is the same as `is_nice`\n = help: register it under another name: `\"other-name\" => is-nice`",
        "[E063 grader-registration] grader `polite` is registered twice\n = help: register it under another name: `\"other-name\" => polite`",
    ];
    let flat = |text: &String| text.replace("\n  = ", "\n = ");
    assert_eq!(found.iter().map(flat).collect::<Vec<_>>(), expected);
}

#[test]
fn agents_and_judges_have_different_names() {
    assert_eq!(problems(|binding| binding.agents = ["a", "b", "a"].map(named).into()), ["`a` is given twice"]);
    assert_eq!(problems(|binding| binding.judges = ["a", "b", "a"].map(named).into()), ["`a` is given twice"]);
    let found = problems(|binding| binding.judge = Some(Judge::Named(["a", " ", "a"].map(literal).into())));
    assert_eq!(found, ["the name of a judge is blank", "judge `a` is given twice"]);
}

#[test]
fn the_number_of_confirming_judgements_is_even_and_at_most_ten() {
    let confirm = |number: &str| {
        let number = LitInt::new(number, Span::call_site());
        problems(|binding| binding.judge_confirm = Some(number))
    };
    for number in ["0", "2", "10", "0x4"] {
        assert_eq!(confirm(number), [""; 0], "for {number}");
    }
    for number in ["1", "12", "-2", "99999999999"] {
        assert_eq!(confirm(number), [format!("`judge_confirm` is an even number from 0 to 10, found `{number}`")]);
    }
}

#[test]
fn only_names_of_warnings_can_be_allowed() {
    let allow = |name: &str| problems(|binding| binding.allow = vec![literal(name)]);
    assert_eq!(allow("no-effect"), [""; 0]);
    assert_eq!(allow("unsupported-docker"), [""; 0]);
    assert_eq!(allow("unknown-key"), ["`unknown-key` is an error: only warnings can be allowed"]);
    assert_eq!(allow("no-efect"), ["unknown diagnostic `no-efect`; did you mean `no-effect`?"]);
}

#[test]
fn a_grader_has_the_name_of_its_function() {
    for (expression, name) in [
        ("polite", Some("polite")),
        ("a::polite::<B, C>", Some("polite")),
        ("a::polite as fn(&Evidence<'_>) -> Result<bool, Error<A, B>>", Some("polite")),
        ("(r#match)", Some("match")),
        ("|e: &Evidence<'_>| -> bool { true }", None),
        ("make()", None),
    ] {
        let grader = NamedExpr::from_path(syn::parse_str(expression).expect("an expression"));
        assert_eq!(names(&grader.into_iter().collect::<Vec<_>>()).first().map(String::as_str), name, "{expression}");
    }
}

#[test]
fn of_many_errors_and_warnings_the_last_one_counts_the_rest() {
    use evalsuite_schema::diagnostics::{Code, Diagnostic};
    let problem = |code| Problem::diagnostic(Span::call_site(), Diagnostic::new(code, "wrong"));
    let limited =
        |problems| super::limited(problems, &literal("suites/a")).iter().map(Problem::text).collect::<Vec<String>>();
    let errors = &Code::ALL[..21];
    let mut problems: Vec<Problem> = [Code::UnusedGrader; 7].map(problem).to_vec();
    problems.extend(errors.iter().map(|code| problem(*code)));
    let all = limited(problems);
    assert_eq!(all.len(), 20 + 7);
    assert!(all[..19].iter().all(|text| text.starts_with("[E0")), "{all:?}");
    assert_eq!(all[19], "and 2 more errors; `cargo evalsuite check suites/a` lists all");
    assert!(all[20..].iter().all(|text| text.starts_with("[W016 unused-grader]")), "{all:?}");
}

#[test]
fn many_problems_of_one_code_do_not_hide_others() {
    use evalsuite_schema::Location;
    use evalsuite_schema::diagnostics::{Code, Diagnostic};
    let problem = |code, line| {
        let place = Location::new(format!("{}.yaml", line % 3), line, 1);
        Problem::diagnostic(Span::call_site(), Diagnostic::new(code, "wrong").at(place))
    };
    let mut problems: Vec<Problem> = (1..=30).map(|line| problem(Code::WrongType, line)).collect();
    problems.push(problem(Code::InvalidRegex, 1));
    let limited: Vec<String> = super::limited(problems, &literal("suites/a")).iter().map(Problem::text).collect();
    assert_eq!(limited.len(), 9, "{limited:?}");
    assert!(limited[..7].iter().all(|text| text.starts_with("[E020 wrong-type] wrong")), "{limited:?}");
    assert!(limited[7].starts_with("[E053 invalid-regex]"), "{limited:?}");
    assert_eq!(limited[8], "[E020 wrong-type] and 23 more in 3 files; `cargo evalsuite check suites/a` lists all");
}
