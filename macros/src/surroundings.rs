//! Whether a call is in a function or an expression, as its source file has it: tests in a function never run, and rustc only warns.
//!
//! Where the file cannot be read, or where a macro is around the call, rustc's warning is all there is.

use std::fs;
use std::path::Path;

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

/// The name of the macro in source files.
const MACRO: &str = "include_eval_suite";

/// The calls with the arguments of one call.
#[derive(Default)]
struct Surroundings {
    /// Whether one of the calls is an item.
    is_item: bool,
    /// Whether one of the calls is in a function or an expression.
    is_misplaced: bool,
    /// Whether it is unknown where one of the calls is expanded.
    is_unknown: bool,
}

/// Whether all calls with these arguments in a source file are in functions or expressions.
pub(crate) fn is_misplaced(arguments: &TokenStream, source_file: Option<&Path>) -> bool {
    let source = source_file.and_then(|file| fs::read_to_string(file).ok());
    let tokens = source.and_then(|source| source.parse::<TokenStream>().ok()).unwrap_or_default();
    is_misplaced_in(tokens, arguments.clone())
}

fn is_misplaced_in(source: TokenStream, arguments: TokenStream) -> bool {
    let mut found = Surroundings::default();
    found.search(source, &flat(arguments));
    found.is_misplaced && !found.is_item && !found.is_unknown
}

impl Surroundings {
    fn search(&mut self, module: TokenStream, arguments: &[String]) {
        let tokens: Vec<TokenTree> = module.into_iter().collect();
        for index in 0..tokens.len() {
            let TokenTree::Group(group) = &tokens[index] else { continue };
            let before = &tokens[..index];
            if is_call(before) && flat(group.stream()) == arguments {
                if begins_item(before) { self.is_item = true } else { self.is_misplaced = true }
            } else if is_module(before, group) {
                self.search(group.stream(), arguments);
            } else if contains_call(group.stream(), arguments) {
                if is_of_macro(before) { self.is_unknown = true } else { self.is_misplaced = true }
            }
        }
    }
}

fn is_mark(token: &TokenTree, wanted: char) -> bool {
    matches!(token, TokenTree::Punct(mark) if mark.as_char() == wanted)
}

/// The tokens without groups.
fn flat(tokens: TokenStream) -> Vec<String> {
    let mut flat = Vec::new();
    for token in tokens {
        match token {
            TokenTree::Group(group) if group.delimiter() == Delimiter::None => flat.extend(self::flat(group.stream())),
            TokenTree::Group(group) => {
                flat.push(format!("{:?}", group.delimiter()));
                flat.extend(self::flat(group.stream()));
            }
            other => flat.push(other.to_string()),
        }
    }
    flat
}

/// Whether a group after these tokens has the arguments of a call.
fn is_call(before: &[TokenTree]) -> bool {
    matches!(before, [.., TokenTree::Ident(name), mark] if name == MACRO && is_mark(mark, '!'))
}

/// Whether a call whose name and `!` are the last of these tokens is an item.
fn begins_item(before: &[TokenTree]) -> bool {
    let is_of_path =
        |token: &&TokenTree| matches!(token, TokenTree::Ident(_)) || is_mark(token, ':') || is_mark(token, '!');
    match before.iter().rev().find(|token| !is_of_path(token)) {
        None => true,
        Some(TokenTree::Group(group)) => group.delimiter() != Delimiter::Parenthesis,
        Some(token) => is_mark(token, ';'),
    }
}

/// Whether a group after these tokens is the body of a module.
fn is_module(before: &[TokenTree], group: &Group) -> bool {
    group.delimiter() == Delimiter::Brace
        && matches!(before, [.., TokenTree::Ident(word), TokenTree::Ident(_)] if word == "mod")
}

/// Whether a group after these tokens belongs to a macro, which may make anything of it.
fn is_of_macro(before: &[TokenTree]) -> bool {
    match before {
        [.., mark, TokenTree::Ident(_)] | [.., mark] => is_mark(mark, '!'),
        [] => false,
    }
}

fn contains_call(tokens: TokenStream, arguments: &[String]) -> bool {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    (0..tokens.len()).any(|index| match &tokens[index] {
        TokenTree::Group(group) if is_call(&tokens[..index]) && flat(group.stream()) == arguments => true,
        TokenTree::Group(group) => contains_call(group.stream(), arguments),
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_outside_of_items_are_misplaced() {
        for (source, expected) in [
            ("include_eval_suite!(\"a\");", false),
            ("use x; evalsuite::include_eval_suite!(\"a\"); fn f() {}", false),
            ("#[cfg(test)] mod evals { fn f() {} include_eval_suite!(\"a\"); }", false),
            ("fn f() { include_eval_suite!(\"a\"); }", true),
            ("fn f() { drop(include_eval_suite!(\"a\")); }", true),
            ("static A: u8 = include_eval_suite!(\"a\");", true),
            ("my_macro! { include_eval_suite!(\"a\"); }", false),
            ("macro_rules! m { () => { include_eval_suite!(\"a\"); } }", false),
            ("fn f() { include_eval_suite!(\"b\"); }", false),
        ] {
            assert_eq!(is_misplaced_in(source.parse().unwrap(), "\"a\"".parse().unwrap()), expected, "{source}");
        }
    }
}
