//! The code around a call, as its source file has it: rustc's errors about it do not say what to write.
//!
//! The names that a call defines hide or repeat others only in the module of the call, which a macro does not know. The file is read for
//! that; where it cannot be, or where a macro is around the call, rustc's errors are all there is.

use std::fs;
use std::path::Path;

use evalsuite_codegen::expansion::module_of_entry;
use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use syn::LitStr;

/// The name of the macro in source files.
const MACRO: &str = "include_eval_suite";

/// The calls with the arguments of one call.
#[derive(Default)]
pub(crate) struct Surroundings {
    /// The modules in which the calls are items.
    modules: Vec<Vec<TokenTree>>,
    /// Whether one of the calls is in a function or an expression.
    is_misplaced: bool,
    /// Whether it is unknown where one of the calls is expanded.
    is_unknown: bool,
}

impl Surroundings {
    /// The code around calls with these arguments in a source file.
    pub(crate) fn of(arguments: &TokenStream, source_file: Option<&Path>) -> Self {
        let mut found = Self::default();
        let source = source_file.and_then(|file| fs::read_to_string(file).ok());
        let tokens = source.and_then(|source| source.parse::<TokenStream>().ok()).unwrap_or_default();
        found.search(tokens, &flat(arguments.clone()));
        found
    }

    fn search(&mut self, module: TokenStream, arguments: &[String]) {
        let tokens: Vec<TokenTree> = module.into_iter().collect();
        for index in 0..tokens.len() {
            let TokenTree::Group(group) = &tokens[index] else { continue };
            let before = &tokens[..index];
            if is_call(before) && flat(group.stream()) == arguments {
                if begins_item(before) {
                    self.modules.push(tokens.clone());
                } else {
                    self.is_misplaced = true;
                }
            } else if is_module(before, group) {
                self.search(group.stream(), arguments);
            } else if contains_call(group.stream(), arguments) {
                if is_of_macro(before) { self.is_unknown = true } else { self.is_misplaced = true }
            }
        }
    }

    /// Whether the call is in a function or an expression.
    pub(crate) fn is_misplaced(&self) -> bool {
        self.is_misplaced && self.modules.is_empty() && !self.is_unknown
    }

    /// Whether an earlier call in the module, or one with the same arguments, has a suite whose module has this name.
    pub(crate) fn is_second(&self, name: &str, arguments: &TokenStream) -> bool {
        let arguments = flat(arguments.clone());
        let is_second = |module: &Vec<TokenTree>| {
            let calls: Vec<&Group> =
                calls(module).filter(|call| name_of(call.stream()).as_deref() == Some(name)).collect();
            let own = calls.iter().filter(|call| flat(call.stream()) == arguments).count();
            own > 1 || calls.first().is_some_and(|first| flat(first.stream()) != arguments)
        };
        !self.modules.is_empty() && self.modules.iter().all(is_second)
    }

    /// How the module of the call names something in the crate `name`, such as `shop::add`; not the items of a suite's module.
    pub(crate) fn path_into(&self, name: &str) -> Option<String> {
        self.modules.iter().find_map(|module| path_into(module, name))
    }
}

/// `ident ::` that begins a path, outside of inner modules: the path with its second segment.
fn path_into(tokens: &[TokenTree], name: &str) -> Option<String> {
    let is_colon = |index: usize| tokens.get(index).is_some_and(|token| is_mark(token, ':'));
    tokens.iter().enumerate().find_map(|(index, token)| match token {
        TokenTree::Ident(ident) if ident == name => {
            let begins = index == 0 || !is_colon(index - 1);
            match tokens.get(index + 3) {
                _ if !begins || !is_colon(index + 1) || !is_colon(index + 2) => None,
                Some(TokenTree::Ident(item)) if item == "SUITE" || item == "evals" => None,
                Some(TokenTree::Ident(item)) => Some(format!("{name}::{item}")),
                _ => Some(format!("{name}::…")),
            }
        }
        TokenTree::Group(group) if !is_module(&tokens[..index], group) => {
            path_into(&group.stream().into_iter().collect::<Vec<_>>(), name)
        }
        _ => None,
    })
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

/// The arguments of calls that are items of a module. One with an attribute may not be compiled.
fn calls(module: &[TokenTree]) -> impl Iterator<Item = &Group> {
    module.iter().enumerate().filter_map(|(index, token)| {
        let before = &module[..index];
        let ends = |token: &&TokenTree| matches!(token, TokenTree::Group(_)) || is_mark(token, ';');
        let has_attribute = matches!(
            before.iter().rev().find(ends),
            Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Bracket
        );
        match token {
            TokenTree::Group(group) if is_call(before) && begins_item(before) && !has_attribute => Some(group),
            _ => None,
        }
    })
}

/// The name of the module that a call with these arguments makes.
fn name_of(arguments: TokenStream) -> Option<String> {
    let tokens: Vec<TokenTree> = arguments.into_iter().collect();
    let named = tokens.windows(4).find_map(|window| match window {
        [comma, TokenTree::Ident(key), is, TokenTree::Ident(name)]
            if is_mark(comma, ',') && key == "name" && is_mark(is, '=') =>
        {
            Some(name.to_string())
        }
        _ => None,
    });
    named.or_else(|| {
        let entry = syn::parse2::<LitStr>(tokens.first()?.clone().into()).ok()?;
        Some(module_of_entry(&entry.value()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn around(source: &str, arguments: &str) -> Surroundings {
        let mut found = Surroundings::default();
        found.search(source.parse().unwrap(), &flat(arguments.parse().unwrap()));
        found
    }

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
            assert_eq!(around(source, "\"a\"").is_misplaced(), expected, "{source}");
        }
    }

    #[test]
    fn the_second_suite_of_a_name_is_found() {
        let second =
            |source: &str, arguments: &str| around(source, arguments).is_second("greet", &arguments.parse().unwrap());
        let both = "include_eval_suite!(\"one/greet\"); include_eval_suite!(\"two/greet\");";
        assert!(!second(both, "\"one/greet\"") && second(both, "\"two/greet\""));
        let named = "include_eval_suite!(\"one\", name = greet); include_eval_suite!(\"greet.eval.yaml\");";
        assert!(second(named, "\"greet.eval.yaml\""));
        let apart = "include_eval_suite!(\"one/greet\"); mod two { include_eval_suite!(\"two/greet\"); }";
        assert!(!second(apart, "\"two/greet\""));
        let either = "#[cfg(a)] include_eval_suite!(\"one/greet\"); #[cfg(not(a))] include_eval_suite!(\"two/greet\");";
        assert!(!second(either, "\"two/greet\""));
    }

    #[test]
    fn paths_into_the_crate_are_found() {
        let path =
            |source: &str| around(&format!("{source} include_eval_suite!(\"shop\");"), "\"shop\"").path_into("shop");
        assert_eq!(path("fn f() { let x = g(shop::add(1)); }").as_deref(), Some("shop::add"));
        assert_eq!(path("use shop::{a, b};").as_deref(), Some("shop::…"));
        for source in ["use ::shop::a;", "fn f() { shop::evals(); other::shop::x(); }", "mod inner { use shop::a; }"] {
            assert_eq!(path(source), None, "{source}");
        }
    }
}
