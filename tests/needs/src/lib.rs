//! `#[needs(chromium)]`, above `#[test]`: ignores the test, with the reason, where Chromium is not installed.
//!
//! The build script finds out what is installed, so a test is ignored in the list of every runner. With `CI` set such a test is not
//! ignored: it runs and fails.

use proc_macro::TokenStream;

/// Ignores the test unless everything that is named is there. The names and their reasons are in the build script.
///
/// # Panics
///
/// If a name is unknown.
#[proc_macro_attribute]
pub fn needs(names: TokenStream, test: TokenStream) -> TokenStream {
    let names = names.to_string();
    let names: Vec<&str> = names.split(',').map(str::trim).collect();
    for name in &names {
        assert!(env!("KNOWN_NEEDS").split(';').any(|known| known == *name), "tests/needs/build.rs has no `{name}`");
    }
    let mut ignored = env!("IGNORED_NEEDS").split(';').filter_map(|need| need.split_once('='));
    let attribute = match ignored.find(|(name, _)| names.contains(name)) {
        Some((_, reason)) => format!("#[ignore = {reason:?}]").parse().expect("an attribute"),
        None => TokenStream::new(),
    };
    attribute.into_iter().chain(test).collect()
}
