//! `#[needs(chromium)]`, above `#[test]`: ignores the test, with the reason, where Chromium is not installed. `#[slow(builds)]`, above both:
//! ignores a test that takes long, unless `.ci/release` runs it.
//!
//! The build script finds out what is installed, so a test is ignored in the list of every runner. With `CI` set a test that needs a program
//! is not ignored: it runs and fails.

use proc_macro::{Delimiter, Group, Ident, TokenStream, TokenTree};

/// The parts of `.ci/release` that run slow tests, with the reason for which other runs ignore them. `.config/nextest.toml` has a profile for each.
const PARTS: &[(&str, &str)] = &[
    ("page", "drives the page of the HTML report in a browser"),
    ("builds", "builds packages many times"),
    ("hostile", "tries inputs that are large, hostile or many"),
];

/// Ignores the test unless everything that is named is there. The names and their reasons are in the build script.
///
/// # Panics
///
/// If a name is unknown.
#[proc_macro_attribute]
pub fn needs(names: TokenStream, test: TokenStream) -> TokenStream {
    let attribute: TokenStream = match missing(&names.to_string()) {
        Some(reason) => parse(&format!("#[ignore = {reason:?}]")).collect(),
        None => TokenStream::new(),
    };
    attribute.into_iter().chain(test).collect()
}

/// Ignores the test, and renames it from `NAME` to `NAME::PART`: the profile of the part finds it by the end of its name.
///
/// A test that needs what is missing keeps its name, so that the part does not run it either.
///
/// # Panics
///
/// If `.ci/release` has no such part.
#[proc_macro_attribute]
pub fn slow(part: TokenStream, test: TokenStream) -> TokenStream {
    let part = part.to_string();
    let reason = PARTS.iter().find(|(name, _)| *name == part).unwrap_or_else(|| panic!("no part is called `{part}`")).1;
    if named_needs(&test).is_some_and(|names| missing(&names).is_some()) {
        return test;
    }
    let mut tokens: Vec<TokenTree> = test.into_iter().collect();
    let keyword = tokens.iter().position(|token| token.to_string() == "fn").expect("a function");
    let renamed = TokenTree::Ident(Ident::new(&part, tokens[keyword + 1].span()));
    let name = std::mem::replace(&mut tokens[keyword + 1], renamed);
    let ignored = format!("#[ignore = \"{reason}: `.ci/release` runs it, and `--ignored`\"]");
    let content = parse("#[allow(unused_imports)] use super::*;").chain(parse(&ignored)).chain(tokens).collect();
    parse("mod").chain([name, TokenTree::Group(Group::new(Delimiter::Brace, content))]).collect()
}

fn parse(code: &str) -> impl Iterator<Item = TokenTree> {
    code.parse::<TokenStream>().expect("Rust code").into_iter()
}

/// The names in `#[needs(…)]` among the attributes of a test.
fn named_needs(test: &TokenStream) -> Option<String> {
    test.clone().into_iter().find_map(|token| {
        let TokenTree::Group(attribute) = token else { return None };
        let mut parts = attribute.stream().into_iter();
        match (parts.next(), parts.next()) {
            (Some(TokenTree::Ident(name)), Some(TokenTree::Group(names))) if name.to_string() == "needs" => {
                Some(names.stream().to_string())
            }
            _ => None,
        }
    })
}

/// The reason for which tests with these needs are ignored.
fn missing(names: &str) -> Option<&'static str> {
    let names: Vec<&str> = names.split(',').map(str::trim).collect();
    for name in &names {
        assert!(env!("KNOWN_NEEDS").split(';').any(|known| known == *name), "tests/needs/build.rs has no `{name}`");
    }
    let mut ignored = env!("IGNORED_NEEDS").split(';').filter_map(|need| need.split_once('='));
    ignored.find(|(name, _)| names.contains(name)).map(|(_, reason)| reason)
}
