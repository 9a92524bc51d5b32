//! Candidates for empty lists and strings.

use super::Collector;
use crate::lexer::TokenKind;
use crate::program::{Edit, Function, Program};

/// Collects early returns for empty lists and strings.
pub(super) fn collect(collector: &mut Collector<'_>) {
    let program = collector.program;
    for function in program.functions() {
        for parameter in lists(program, function) {
            for value in empty_values(returned(program, function)) {
                let after = program.range(function.body.start).end;
                let text = format!("\n    if {parameter}.is_empty() {{\n        return {value};\n    }}");
                let edit = Edit { range: after..after, text };
                let what = format!("`{}` returns `{value}` for an empty `{parameter}`", function.name);
                collector.add(vec![edit], what, 0);
            }
        }
    }
}

/// Names of parameters that can be empty.
fn lists(program: &Program, function: &Function) -> Vec<String> {
    let mut names = Vec::new();
    for index in function.signature.clone() {
        if program.token(index) != ":" || program.kind(index.wrapping_sub(1)) != Some(TokenKind::Word) {
            continue;
        }
        let kind: String = (index + 1..index + 4).map(|at| program.token(at)).collect();
        if kind.starts_with("&[") || kind.starts_with("&str") || kind.starts_with("Vec<") || kind.starts_with("String")
        {
            names.push(program.token(index - 1).to_owned());
        }
    }
    names
}

fn returned<'p>(program: &'p Program, function: &Function) -> &'p str {
    program.between(function.signature.clone()).rsplit_once("->").map_or("", |(_, returned)| returned.trim())
}

/// Values that a function with that return type may return for empty input.
fn empty_values(returned: &str) -> &'static [&'static str] {
    match returned {
        "f32" | "f64" => &["0.0"],
        "bool" => &["false", "true"],
        "String" => &["String::new()"],
        "&str" => &["\"\""],
        _ if returned.starts_with("Option<") => &["None"],
        _ if returned.starts_with("Vec<") => &["Vec::new()"],
        _ if returned.starts_with(['u', 'i']) => &["0", "1"],
        _ => &[],
    }
}
