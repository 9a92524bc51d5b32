//! Regular expressions and globs that are hard to compile or to match.

use evalsuite_needs::slow;
use evalsuite_schema::diagnostics::Code;

use crate::Package;

fn regex(pattern: &str) -> Package {
    let quoted = pattern.replace('\'', "''");
    Package::with_eval_file(format!(
        "tests:\n- id: a\n  input: b\n  assertions:\n  - {{type: regex, value: '{quoted}'}}\n"
    ))
}

#[test]
fn patterns_that_explode_are_refused() {
    let nested_groups = format!("{}a{}", "(".repeat(30_000), ")".repeat(30_000));
    let nested_repeats = format!("{}a{}", "(?:".repeat(30), "){9}".repeat(30));
    let classes = r"(\p{L}\p{M}*){5000}(\w{1000}){1000}".to_owned();
    let lookbehinds = format!("{}a{}", "(?<=".repeat(5_000), ")".repeat(5_000));
    for pattern in [
        "(((a{1000}){1000}){1000})",
        "a{4000000000}",
        "(?:a{1000}){1000}{1000}",
        "((((((((((x{10}){10}){10}){10}){10}){10}){10}){10}){10}){10})",
        &nested_groups,
        &nested_repeats,
        &classes,
        &lookbehinds,
        &"(".repeat(60_000),
        &"[".repeat(60_000),
        &"(?i".repeat(20_000),
        &"\\".repeat(60_001),
    ] {
        regex(pattern).load().only(&[Code::InvalidRegex]).has_at(Code::InvalidRegex, "suite/EVAL.yaml", 5);
    }
}

#[test]
fn patterns_are_refused_by_their_length_before_they_are_parsed() {
    for pattern in ["x", "ab|", "(", "[", "\\", "a{1000}", r"\p{L}"] {
        let pattern = pattern.repeat((1 << 20) / pattern.len());
        regex(&pattern).load().only(&[Code::LimitExceeded]).has_at(Code::LimitExceeded, "suite/EVAL.yaml", 5);
    }
    let pattern = "x".repeat(1 << 20);
    for schema in
        [format!("{{\n\"pattern\": \"{pattern}\"}}"), format!("{{\"patternProperties\": {{\n\"{pattern}\": {{}}}}}}")]
    {
        let package = Package::with_eval_file(
            "tests:\n- id: a\n  input: b\n  assertions:\n  - {type: json-schema, schema: ./schema.json}\n",
        );
        package.write("suite/schema.json", schema);
        package.load().only(&[Code::LimitExceeded]).has_at(Code::LimitExceeded, "suite/schema.json", 2);
    }
}

#[test]
fn long_patterns_end() {
    let alternatives = (0..6_000).map(|number| format!("word{number}")).collect::<Vec<_>>().join("|");
    let optional = format!("b{}", "a?".repeat(20_000));
    let back_references = format!("(a){}", r"\1".repeat(20_000));
    let literal = "x".repeat(1 << 16);
    for pattern in [
        &alternatives,
        &optional,
        &back_references,
        &literal,
        "(a*)*b",
        "(?=(a+))a*b\\1",
        "^(([a-z])+.)+[A-Z]([a-z])+$",
    ] {
        let said = regex(pattern).load();
        assert!(said.cases == Some(1) || said.problems.iter().all(|(code, ..)| *code == Code::InvalidRegex));
    }
}

#[slow(hostile)]
#[test]
fn many_large_patterns_are_not_compiled() {
    let large = r"\w+\s".repeat(60);
    let mut text = String::from("tests:\n");
    for case in 0..2_000 {
        text.push_str(&format!(
            "- id: a{case}\n  input: b\n  assertions:\n  - {{type: regex, value: '{large}{case}'}}\n"
        ));
    }
    Package::with_eval_file(text).load().is_refused().has(Code::LimitExceeded, "suite/EVAL.yaml");
    // The same one many times is compiled once.
    let same = format!("- {{id: a, input: b, assertions: [{{type: regex, value: '{large}'}}]}}\n");
    let cases: String = (0..2_000).map(|case| same.replacen("id: a", &format!("id: a{case}"), 1)).collect();
    Package::with_eval_file(format!("tests:\n{cases}")).load().is_valid(2_000);
}

#[test]
fn globs_end() {
    let alternatives =
        format!("{{{}}}.yaml", (0..20_000).map(|number| format!("case{number}")).collect::<Vec<_>>().join(","));
    let nested = format!("{}a{}.yaml", "{b,".repeat(5_000), "}".repeat(5_000));
    let product = "{a,b,c,d,e,f,g,h}".repeat(500);
    for pattern in [
        &alternatives,
        &nested,
        &product,
        &"*".repeat(100_000),
        &"**/".repeat(10_000),
        &"?".repeat(100_000),
        &format!("*{}", "[a-z]".repeat(50_000)),
        "*[",
        "{*",
        "*{a,b",
        "*[z-a]",
    ] {
        let package = Package::with_eval_file(format!("tests:\n- 'file://{pattern}'\n"));
        package.write("suite/aaaa/bbbb/cccc.txt", "");
        package.load().is_refused();
    }
}

#[test]
fn globs_do_not_search_the_disk() {
    for pattern in [
        "/**/*.yaml",
        "../../../../../../../../**/*.yaml",
        "../../../../../../../../../proc/**",
        "~/*.yaml",
        "C:/*.yaml",
    ] {
        Package::with_eval_file(format!("tests: ['file://{pattern}']\n")).load().only(&[Code::PathEscape]);
    }
    // From a directory around the suite, inside the package.
    let package = Package::with_eval_file("tests: ['file://../shared/*.jsonl']\n");
    package.write("shared/cases.jsonl", "{\"id\": \"a\", \"criteria\": \"b\", \"input\": \"c\"}\n");
    package.load().is_valid(1);
}

#[test]
fn very_many_globs_are_not_searched() {
    let patterns = "- 'file://**/*.yaml'\n".repeat(90_000);
    Package::with_eval_file(format!("tests:\n{patterns}")).load().only(&[Code::LimitExceeded]).has_at(
        Code::LimitExceeded,
        "suite/EVAL.yaml",
        502,
    );
}
