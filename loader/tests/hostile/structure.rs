//! Nesting, aliases, merge keys and sizes.

use std::fmt::Write as _;

use evalsuite_schema::diagnostics::Code;

use crate::{CASE, Package, write_sparse};

const EVAL: &str = "suite/EVAL.yaml";
const ONE_CASE: &str = "tests:\n- {id: a, criteria: b, input: c}\n";

/// Ten aliases of ten aliases of ten aliases, and so on.
fn alias_bomb(kind: &str) -> String {
    let mut text = String::from("metadata: {}\nbomb:\n  - &a0 lol\n");
    for level in 1..12 {
        let aliases = vec![format!("*a{}", level - 1); 10];
        let value = match kind {
            "lists" => format!("[{}]", aliases.join(", ")),
            _ => {
                let entries: Vec<String> =
                    aliases.iter().enumerate().map(|(key, alias)| format!("k{key}: {alias}")).collect();
                format!("{{{}}}", entries.join(", "))
            }
        };
        writeln!(text, "  - &a{level} {value}").unwrap();
    }
    text
}

#[test]
fn alias_bombs_go_off_nowhere() {
    for kind in ["lists", "mappings"] {
        let bomb = alias_bomb(kind);
        Package::with_eval_file(format!("{bomb}{ONE_CASE}"))
            .load()
            .only(&[Code::LimitExceeded])
            .has(Code::LimitExceeded, EVAL);

        let package = Package::new();
        package.write("suite/a/case.yaml", format!("{CASE}{bomb}"));
        package.write("suite/b/case.yaml", format!("{CASE}workspace: ws.yaml\n"));
        package.write("suite/b/ws.yaml", &bomb);
        package.write("suite/c/case.yaml", format!("{CASE}assertions: [{{include: ./template.yaml}}]\n"));
        package.write("suite/c/template.yaml", &bomb);
        let said = package.load();
        said.only(&[Code::LimitExceeded; 3]);
        said.has(Code::LimitExceeded, "suite/a/case.yaml");
        said.has(Code::LimitExceeded, "suite/b/ws.yaml");
        said.has(Code::LimitExceeded, "suite/c/template.yaml");
    }
}

#[test]
fn merge_keys_do_not_multiply() {
    let mut text = String::from("x0: &x0 {a: 1, b: 2, c: 3}\n");
    for level in 1..40 {
        writeln!(text, "x{level}: &x{level} {{<<: [*x{0}, *x{0}, *x{0}], k{level}: *x{0}}}", level - 1).unwrap();
    }
    Package::with_eval_file(format!("{text}{ONE_CASE}")).load().is_refused().has(Code::LimitExceeded, EVAL);
}

#[test]
fn long_text_is_not_multiplied_by_aliases() {
    let text = format!("long: &long {}\nmany: [{}]\n{ONE_CASE}", "x".repeat(1 << 20), "*long, ".repeat(5000));
    Package::with_eval_file(text).load().only(&[Code::LimitExceeded]);
}

#[test]
fn deep_nesting_is_refused_everywhere() {
    for depth in [65, 10_000, 100_000] {
        for (open, close) in [("[", "]"), ("{a: ", "}"), ("{\"a\": ", "}")] {
            let value = format!("{}1{}", open.repeat(depth), close.repeat(depth));
            let yaml = format!("metadata: {value}\n{CASE}");
            let package = Package::new();
            package.write("suite/a/case.yaml", &yaml);
            package.load().only(&[Code::LimitExceeded]).has(Code::LimitExceeded, "suite/a/case.yaml");
            Package::with_eval_file(&value).load().only(&[Code::LimitExceeded]);

            let json = value.replace("{a:", "{\"a\":");
            let package = Package::new();
            package.write("suite/suite.json", format!("{{\"name\": \"a\", \"agent_name\": {json}}}"));
            package.write("suite/tasks/a.json", format!("{{\"id\": \"a\", \"metadata\": {json}}}"));
            package.load().only(&[Code::LimitExceeded; 2]);
            let package = Package::new();
            package.write("lines.jsonl", format!("{{\"id\": \"a\", \"metadata\": {json}}}\n{json}\n"));
            let said = package.load_entry("lines.jsonl");
            said.only(&[Code::LimitExceeded; 2]).has_at(Code::LimitExceeded, "lines.jsonl", 2);
        }
    }
}

#[test]
fn deep_block_nesting_is_refused() {
    for depth in [65, 3_000] {
        let mut text = String::new();
        for level in 0..depth {
            writeln!(text, "{}a:", " ".repeat(level)).unwrap();
        }
        Package::with_eval_file(&text).load().only(&[Code::LimitExceeded]);
        Package::with_eval_file(format!("{}a", "- ".repeat(depth))).load().only(&[Code::LimitExceeded]);
    }
}

#[test]
fn brackets_that_are_never_closed_are_refused() {
    for bracket in ["[", "{", "[{", "- [", "? ", "!!str ", "&a ", "'", "\"", "|\n", "%", "---\n", "<<: ", "*a "] {
        Package::with_eval_file(bracket.repeat(100_000)).load().is_refused();
    }
}

#[test]
fn huge_files_are_not_read() {
    const HUGE: u64 = 100 << 20;
    for size in [(16 << 20) + 1, HUGE, 1 << 40] {
        let package = Package::new();
        write_sparse(&package.path(EVAL), size);
        package.load().only(&[Code::LimitExceeded]);

        let package = Package::new();
        write_sparse(&package.path("suite/a/case.yaml"), size);
        write_sparse(&package.path("suite/_shared/ws.yaml"), size);
        write_sparse(&package.path("suite/_shared/template.yaml"), size);
        write_sparse(&package.path("suite/_shared/judge.md"), size);
        write_sparse(&package.path("suite/_shared/input.bin"), size);
        package.write("suite/b/case.yaml", format!("{CASE}workspace: _shared/ws.yaml\n"));
        package.write("suite/c/case.yaml", format!("{CASE}assertions: [{{include: ./_shared/template.yaml}}]\n"));
        package.write(
            "suite/d/case.yaml",
            format!("{CASE}assertions: [{{type: llm-grader, prompt: 'file://_shared/judge.md'}}]\n"),
        );
        // The agent's input files are not read while compiling.
        package.write("suite/e/case.yaml", format!("{CASE}input_files: [_shared/input.bin]\n"));
        let said = package.load();
        said.only(&[Code::LimitExceeded; 4]);

        let package = Package::new();
        write_sparse(&package.path("suite/suite.json"), size);
        write_sparse(&package.path("suite/tasks/a.json"), size);
        package.load().only(&[Code::LimitExceeded; 2]);

        let package = Package::new();
        write_sparse(&package.path("lines.jsonl"), size);
        package.load_entry("lines.jsonl").has(Code::LimitExceeded, "lines.jsonl").is_refused();
    }
}

#[test]
fn a_scalar_of_100_megabytes_is_refused() {
    let mut text = b"description: ".to_vec();
    text.resize(100 << 20, b'x');
    Package::with_eval_file(&text).load().only(&[Code::LimitExceeded]);
}

#[test]
fn text_just_within_the_limits_is_read() {
    let long = "x".repeat(15 << 20);
    Package::with_eval_file(format!("tests:\n- {{id: a, input: b, criteria: {long}}}\n")).load().is_valid(1);
    let long = &long[..1 << 20];
    let said = Package::with_eval_file(format!("tests:\n- {{id: a, input: b, {long}: c}}\n")).load();
    // YAML allows keys of more than 1024 characters after a `?` only.
    said.has_at(Code::YamlSyntax, EVAL, 2);
    let said = Package::with_eval_file(format!(
        "? {long}\n: 1\ntests:\n- {{id: a, input: b, criteria: c, depends_on: [{}]}}\n",
        &long[..1 << 19]
    ))
    .load();
    said.has_at(Code::UnknownKey, EVAL, 1).has_at(Code::UnknownDependency, EVAL, 4);
}

#[test]
fn numbers_without_end_are_refused() {
    let digits = "9".repeat(1 << 20);
    for number in ["1e999999999", &digits, ".inf", "-.inf", ".nan", "0x1ffffffffffffffffffffffffffff"] {
        let said = Package::with_eval_file(format!("execution: {{threshold: {number}}}\n{ONE_CASE}")).load();
        said.is_refused();
        let package = Package::new();
        package.write(
            "suite/suite.json",
            format!("{{\"name\": \"a\", \"agent_name\": \"b\", \"taskPassThreshold\": {number}}}"),
        );
        package.write(
            "suite/tasks/a.json",
            "{\"id\": \"a\", \"description\": \"b\", \"graders\": [{\"name\": \"is-json\"}]}",
        );
        package.load().is_refused();
    }
}
