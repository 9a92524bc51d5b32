//! Very many keys, cases, edges, graders and copies.

use std::fmt::Write as _;

use evalsuite_needs::slow;
use evalsuite_schema::diagnostics::Code;

use crate::{CASE, Package};

const EVAL: &str = "suite/EVAL.yaml";

fn list(count: usize, item: impl Fn(usize) -> String) -> String {
    (0..count).map(item).collect::<Vec<_>>().join(", ")
}

fn lines(count: usize, line: impl Fn(usize) -> String) -> String {
    (0..count).map(|number| line(number) + "\n").collect()
}

/// One case with these keys.
fn one_case(keys: &str) -> Package {
    Package::with_eval_file(format!("tests:\n- {{id: a, criteria: b, input: c, {keys}}}\n"))
}

#[slow(hostile)]
#[test]
fn very_many_keys_end() {
    let said = one_case(&list(10_000, |number| format!("key{number}: x"))).load();
    said.only(&vec![Code::UnknownKey; 10_000]);
    let said = one_case(&list(10_000, |_| "suite: x".to_owned())).load();
    assert_eq!(said.problems.iter().filter(|(code, ..)| *code == Code::DuplicateKey).count(), 9_999);
    one_case(&list(120_000, |number| format!("key{number}: x"))).load().only(&[Code::LimitExceeded]);
}

#[slow(hostile)]
#[test]
fn very_many_keys_on_lines_of_their_own_end() {
    let text =
        format!("{}tests:\n- {{id: a, criteria: b, input: c}}\n", lines(10_000, |number| format!("key{number}: x")));
    Package::with_eval_file(text).load().only(&vec![Code::UnknownKey; 10_000]);
}

#[slow(hostile)]
#[test]
fn very_many_edges_end() {
    // 100 cases with 200 dependencies each.
    let package = Package::new();
    let text = lines(300, |case| {
        let edges = if case < 200 { String::new() } else { list(200, |id| format!("\"{id}\"")) };
        format!("{{\"id\": \"{case}\", \"criteria\": \"b\", \"input\": \"c\", \"depends_on\": [{edges}]}}")
    });
    package.write("cases.jsonl", text);
    package.load_entry("cases.jsonl").is_valid(300);

    // One case with very many that are there once, that are not there, and that are the same.
    let said = one_case(&format!("depends_on: [{}]", list(20_000, |id| format!("x{id}")))).load();
    said.only(&vec![Code::UnknownDependency; 20_000]);
    one_case(&format!("depends_on: [{}]", list(20_000, |_| "a".to_owned()))).load().only(&[Code::UnknownDependency]);
}

#[slow(hostile)]
#[test]
fn very_many_unknown_edges_in_a_large_suite_end() {
    let package = Package::new();
    package.write(
        "cases.jsonl",
        lines(5_000, |case| {
            format!("{{\"id\": \"number-{case}\", \"criteria\": \"b\", \"input\": \"c\", \"depends_on\": [\"numbre-{case}\"]}}")
        }),
    );
    package.load_entry("cases.jsonl").only(&vec![Code::UnknownDependency; 5_000]);
}

#[slow(hostile)]
#[test]
fn long_chains_and_cycles_end() {
    let chain = |count: usize, first: &str| {
        let package = Package::new();
        package.write(
            "cases.jsonl",
            lines(count, |case| {
                let before = if case == 0 { first.to_owned() } else { format!("\"{}\"", case - 1) };
                format!("{{\"id\": \"{case}\", \"criteria\": \"b\", \"input\": \"c\", \"depends_on\": [{before}]}}")
            }),
        );
        package.load_entry("cases.jsonl")
    };
    chain(9_999, "").is_valid(9_999);
    chain(5_000, "\"4999\"").only(&[Code::DependencyCycle]);

    // Every case depends on every other one.
    let package = Package::new();
    let text = lines(250, |case| {
        format!(
            "{{\"id\": \"{case}\", \"criteria\": \"b\", \"input\": \"c\", \"depends_on\": [{}]}}",
            list(250, |id| format!("\"{id}\""))
        )
    });
    package.write("cases.jsonl", text);
    package.load_entry("cases.jsonl").is_refused();
}

#[slow(hostile)]
#[test]
fn too_many_cases_are_refused() {
    let package = Package::new();
    package.write(
        "cases.jsonl",
        lines(20_001, |case| format!("{{\"id\": \"{case}\", \"criteria\": \"b\", \"input\": \"c\"}}")),
    );
    package.load_entry("cases.jsonl").has(Code::LimitExceeded, ".").is_refused();
}

#[slow(hostile)]
#[test]
fn very_many_directories_end() {
    let package = Package::new();
    package.write("suite/a/case.yaml", CASE);
    for number in 0..5_000 {
        std::fs::create_dir(package.path(&format!("suite/d{number}"))).unwrap();
    }
    package.load().only(&vec![Code::MissingCaseFile; 5_000]);
}

#[slow(hostile)]
#[test]
fn very_many_graders_end() {
    let graders = |item: &str| format!("assertions: [{}]", list(30_000, |_| item.to_owned()));
    one_case(&graders("{type: is-json}")).load().is_valid(1);
    let named = one_case(&format!("assertions: [{}]", list(15_000, |_| "{type: is-json, name: a}".to_owned()))).load();
    named.only(&vec![Code::RepeatedGraderName; 14_999]);
    one_case(&format!("assertions: [{}]", list(90_000, |number| format!("text {number}")))).load().is_valid(1);
    one_case(&format!(
        "assertions: [{{type: rubrics, criteria: [{}]}}]",
        list(90_000, |number| format!("text {number}"))
    ))
    .load()
    .is_valid(1);
    let ids = list(15_000, |_| "{id: a, outcome: b}".to_owned());
    let said = one_case(&format!("assertions: [{{type: rubrics, criteria: [{ids}]}}]")).load();
    said.only(&vec![Code::InvalidRubric; 14_999]);
}

#[slow(hostile)]
#[test]
fn very_many_members_end() {
    let members = list(15_000, |number| format!("{{type: is-json, name: n{number}}}"));
    let weights = list(15_000, |number| format!("m{number}: 1"));
    let composite = |members: &str, weights: &str| {
        format!(
            "assertions: [{{type: composite, assertions: [{members}], aggregator: {{type: weighted_average, weights: {{{weights}}}}}}}]"
        )
    };
    one_case(&composite(&members, "")).load().is_valid(1);
    one_case(&composite(members[..members.len() / 2].rsplit_once(", {").unwrap().0, &weights))
        .load()
        .only(&vec![Code::InvalidComposite; 15_000]);
    let same = list(20_000, |_| "{type: is-json}".to_owned());
    one_case(&composite(&same, "")).load().only(&vec![Code::InvalidComposite; 19_999]);
}

#[slow(hostile)]
#[test]
fn very_many_fields_end() {
    let fields = list(8_000, |number| format!("{{path: x.feild{number}, match: exact}}"));
    let document = list(20_000, |number| format!("field{number}: 1"));
    let said = one_case(&format!(
        "expected_output: {{x: {{{document}}}}}, assertions: [{{type: field-accuracy, fields: [{fields}]}}]"
    ))
    .load();
    said.only(&vec![Code::FieldNotInExpected; 8_000]);
}

#[slow(hostile)]
#[test]
fn very_many_targets_and_repos_end() {
    let text = format!(
        "execution: {{targets: [{}]}}\ntests:\n- {{id: a, criteria: b, input: c, execution: {{targets: [{}]}}}}\n",
        list(20_000, |number| format!("t{number}")),
        list(20_000, |number| format!("u{number}"))
    );
    Package::with_eval_file(text).load().only(&vec![Code::InvalidTarget; 20_000]);
    let text = format!(
        "execution: {{targets: [{}]}}\ntests:\n- {{id: a, criteria: b, input: c, execution: {{targets: [{}]}}}}\n",
        list(20_000, |number| format!("t{number}")),
        list(20_000, |number| format!("t{number}"))
    );
    Package::with_eval_file(text).load().is_valid(1);
    let text = format!(
        "execution: {{targets: [{}]}}\ntests:\n- {{id: a, criteria: b, input: c}}\n",
        list(15_000, |_| "t".to_owned())
    );
    Package::with_eval_file(text).load().only(&vec![Code::InvalidTarget; 14_999]);
    let repos = list(10_000, |number| format!("{{path: r{number}, source: {{type: git, url: u}}}}"));
    one_case(&format!("workspace: {{repos: [{repos}]}}")).load().is_valid(1);
    let names = |prefix: &str| list(20_000, |number| format!("{prefix}{number}"));
    let text = format!(
        "requires: {{env: [{}]}}\ntests:\n- {{id: a, criteria: b, input: c, requires: {{env: [{}]}}}}\n",
        names("A"),
        names("B")
    );
    Package::with_eval_file(text).load().is_valid(1);
}

#[slow(hostile)]
#[test]
fn a_matrix_does_not_multiply_without_end() {
    let package = Package::with_eval_file(format!(
        "execution: {{targets: [{}]}}\ntests: cases.jsonl\n",
        list(50_000, |number| format!("t{number}"))
    ));
    package.write(
        "suite/cases.jsonl",
        lines(9_999, |case| format!("{{\"id\": \"{case}\", \"criteria\": \"b\", \"input\": \"c\"}}")),
    );
    package.load().is_refused().has(Code::LimitExceeded, EVAL);
}

#[slow(hostile)]
#[test]
fn what_a_suite_gives_to_its_cases_does_not_multiply_without_end() {
    let cases = lines(1_000, |case| format!("{{\"id\": \"{case}\", \"criteria\": \"b\", \"input\": \"c\"}}"));
    let long = "x".repeat(1 << 20);
    for shared in [
        format!("input: {long}"),
        format!("assertions: [{long}]"),
        format!("assertions: [{{type: contains, value: {long}}}]"),
        format!("requires: {{env: [{long}]}}"),
        format!("workspace: {{hooks: {{before_each: {long}}}}}"),
        format!("preprocessors: [{{type: a, command: [{long}]}}]"),
    ] {
        let package = Package::with_eval_file(format!("{shared}\ntests: cases.jsonl\n"));
        package.write("suite/cases.jsonl", &cases);
        package.load().is_refused().has(Code::LimitExceeded, EVAL);
    }
}

#[slow(hostile)]
#[test]
fn includes_do_not_multiply_without_end() {
    // Templates of templates of templates.
    let include = |name: &str| format!("assertions: [{}]\n", list(20_000, |_| format!("{{include: ./{name}.yaml}}")));
    let package = Package::new();
    package.write("suite/a/case.yaml", format!("{CASE}{}", include("one")));
    package.write("suite/a/one.yaml", include("two"));
    package.write("suite/a/two.yaml", include("three"));
    package.write("suite/a/three.yaml", format!("assertions: [{}]\n", list(20_000, |number| format!("text {number}"))));
    package.load().is_refused().only(&[Code::LimitExceeded]);

    // One long template, in very many cases.
    let package = Package::new();
    package.write("t.yaml", format!("assertions: [{}]\n", "x".repeat(8 << 20)));
    let case = |case: usize| {
        format!("{{\"id\": \"{case}\", \"input\": \"c\", \"assertions\": [{{\"include\": \"./t.yaml\"}}]}}")
    };
    package.write("cases.jsonl", lines(5_000, case));
    package.load_entry("cases.jsonl").is_refused().only(&[Code::LimitExceeded]);
}

#[slow(hostile)]
#[test]
fn prompt_files_do_not_multiply_without_end() {
    let package = Package::new();
    package.write("p.md", format!("{{{{ output }}}} {}", "x".repeat(8 << 20)));
    let case = |case: usize| {
        format!(
            "{{\"id\": \"{case}\", \"input\": \"c\", \"assertions\": [{{\"type\": \"llm-grader\", \"prompt\": \"file://p.md\"}}]}}"
        )
    };
    package.write("cases.jsonl", lines(5_000, case));
    package.load_entry("cases.jsonl").is_refused().only(&[Code::LimitExceeded]);
}

#[slow(hostile)]
#[test]
fn very_many_variables_end() {
    let package = Package::new();
    let mut prompt = String::from("{{ output }}\n");
    for number in 0..200_000 {
        write!(prompt, "{{{{v{number}}}}}").unwrap();
    }
    package.write("p.md", prompt);
    package.write("cases.jsonl", "{\"id\": \"a\", \"input\": \"c\", \"assertions\": [{\"type\": \"llm-grader\", \"prompt\": \"file://p.md\"}]}\n");
    let said = package.load_entry("cases.jsonl");
    assert!(said.problems.iter().all(|(code, ..)| *code == Code::UnknownTemplateVariable));
    said.has_at(Code::UnknownTemplateVariable, "p.md", 2);
}

#[slow(hostile)]
#[test]
fn lines_that_are_not_json_are_reported_up_to_a_limit() {
    let package = Package::new();
    package.write("cases.jsonl", "x\n".repeat(150_000));
    let said = package.load_entry("cases.jsonl");
    said.is_refused().has_at(Code::LimitExceeded, "cases.jsonl", 0);
    assert_eq!(said.problems.len(), 1001);
}

#[slow(hostile)]
#[test]
fn very_many_errors_are_counted() {
    let package = Package::new();
    package.write(
        "cases.jsonl",
        lines(3, |case| {
            let keys = list(12_000, |number| format!("\"key{number}\": 1"));
            format!("{{\"id\": \"{case}\", \"criteria\": \"b\", \"input\": \"c\", {keys}}}")
        }),
    );
    let said = package.load_entry("cases.jsonl");
    said.is_refused().has_at(Code::LimitExceeded, "cases.jsonl", 0);
    assert_eq!(said.problems.len(), 20_000);
    assert!(said.text.contains("too many problems: 16001 more are not listed"), "{}", said.text);
}

#[slow(hostile)]
#[test]
fn a_few_kilobytes_of_includes_do_not_fill_the_memory() {
    let include = |name: &str| format!("assertions: [{}]\n", list(250, |_| format!("{{include: ./{name}.yaml}}")));
    for assertion in ["x", "{type: contains}", "{type: contains, value: x}", "{type: my-grader, typo: x}"] {
        let package = Package::new();
        package.write("suite/a/case.yaml", format!("{CASE}{}", include("one")));
        package.write("suite/a/one.yaml", include("two"));
        package.write("suite/a/two.yaml", include("three"));
        package.write("suite/a/three.yaml", format!("assertions: [{}]\n", list(250, |_| assertion.to_owned())));
        let said = package.load();
        let is_limit = |(code, ..): &&(Code, String, u32)| *code == Code::LimitExceeded;
        assert!(said.problems.iter().any(|problem| is_limit(&problem)), "{assertion}: {:?}", said.first());
    }
}

#[slow(hostile)]
#[test]
fn long_lists_in_metadata_are_joined_at_once() {
    let package = Package::new();
    let numbers = |from: usize| list(40_000, |index| (from + index).to_string());
    package.write("suite/EVAL.yaml", format!("metadata: {{ids: [{}]}}\n", numbers(0)));
    package.write("suite/cases/a/case.yaml", format!("{CASE}metadata: {{ids: [{}]}}\n", numbers(20_000)));
    package.load().only(&[]);
}

#[slow(hostile)]
#[test]
fn the_files_of_a_suite_have_a_size_together_whatever_threads_do() {
    let package = Package::new();
    let long = "x".repeat(14 << 20);
    for case in 0..10 {
        package.write(&format!("suite/{case}/case.yaml"), format!("{CASE}metadata: {{a: {long}}}\n"));
    }
    package.load().only(&[Code::LimitExceeded]).has(Code::LimitExceeded, "suite/9/case.yaml");

    // On several threads, any file may be the one that is too much, but only one is.
    let package = Package::new();
    for case in 0..130 {
        package.write(&format!("suite/{case}/case.yaml"), format!("{CASE}metadata: {{a: {}}}\n", &long[..1 << 20]));
    }
    package.load().only(&[Code::LimitExceeded]);
}

#[slow(hostile)]
#[test]
fn lines_of_problems_are_shown_where_not_all_text_is_kept() {
    let package = Package::new();
    let long = "x".repeat(14 << 20);
    for case in 0..4 {
        package.write(&format!("suite/{case}/case.yaml"), format!("{CASE}metadata: {{a: {long}}}\ntypo{case}: true\n"));
    }
    let said = package.load();
    said.only(&[Code::UnknownKey; 4]);
    assert!(said.text.contains("4 | typo3: true"), "{}", said.text);
}
