//! A build script that tracks the suites.

use std::path::Path;

use proc_macro2::TokenStream;
use syn::Item;

use crate::locate::includes::tracked_directories;
use crate::platform::cli_error::{CliError, Result};

/// A build script for a package without one.
pub(super) fn fresh(directory: &str) -> String {
    format!("//! Lets cargo notice new cases.\n\nfn main() {{\n    {}\n}}\n", call(directory))
}

/// The call that tracks a directory.
pub(super) fn call(directory: &str) -> String {
    format!("evalsuite_build::track({directory:?});")
}

/// The text of a build script with a call that tracks `directory` as the first statement of `main`; `None` if it is tracked.
pub(super) fn with_tracking(text: &str, directory: &str) -> Result<Option<String>> {
    let by_hand = |why: &str| CliError::with_help(why, format_args!("add `{}` to it", call(directory)));
    let invalid = |error: &dyn std::fmt::Display| by_hand(&format!("the build script is not valid Rust: {error}"));
    // Not `parse_file`: it counts positions from after a byte order mark.
    let tokens: TokenStream = text.parse().map_err(|error: proc_macro2::LexError| invalid(&error))?;
    // A call may name a directory around it.
    if tracked_directories(tokens.clone()).iter().any(|tracked| Path::new(directory).starts_with(tracked)) {
        return Ok(None);
    }
    let file: syn::File = syn::parse2(tokens).map_err(|error| invalid(&error))?;
    let main = file.items.iter().find_map(|item| match item {
        Item::Fn(function) if function.sig.ident == "main" => Some(&function.block),
        _ => None,
    });
    let Some(main) = main else { return Err(by_hand("the build script has no function `main`")) };
    let (before, after) = text.split_at(main.brace_token.span.open().byte_range().end);
    let rest_of_line = after.lines().next().unwrap_or_default().trim();
    let end = if rest_of_line.is_empty() { "" } else { "\n" };
    Ok(Some(format!("{before}\n    {}{end}{after}", call(directory))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_call_is_the_first_statement_of_main() {
        let text = "use std::env; // {\n\nfn main() {\n    // my code\n    println!(\"{}\", 1);\n}\n";
        let expected = text.replace("fn main() {", "fn main() {\n    evalsuite_build::track(\"suites\");");
        assert_eq!(with_tracking(text, "suites").expect("valid Rust"), Some(expected));
        let short = with_tracking("fn main() {}", "suites").expect("valid Rust");
        assert_eq!(short.as_deref(), Some("fn main() {\n    evalsuite_build::track(\"suites\");\n}"));
        syn::parse_file(&fresh("suites")).expect("valid Rust");
    }

    #[test]
    fn a_directory_that_is_tracked_is_not_tracked_again() {
        for call in ["evalsuite_build::track(\"suites\")", "track(\"suites/\");", "if true { track(\"suites\") }"] {
            let text = format!("fn main() {{ {call} }}");
            assert_eq!(with_tracking(&text, "suites/shop").expect("valid Rust"), None, "{call}");
        }
        assert!(with_tracking("fn main() { track(\"evals\") }", "suites").expect("valid Rust").is_some());
    }

    #[test]
    fn a_script_that_cannot_be_changed_names_the_line_to_add() {
        for text in ["fn main() {", "fn mian() {}"] {
            let error = with_tracking(text, "suites").expect_err("the script is broken").to_string();
            assert!(error.ends_with("= help: add `evalsuite_build::track(\"suites\");` to it"), "{error}");
        }
    }
}
