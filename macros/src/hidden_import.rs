//! An import from a crate that the suite's module hides.
//!
//! rustc's error (E0659) points at the import and at the call, and does not say that the module can have another name. Lints do not run
//! after such an error, so a warning would not be shown; and without the import the name is fine, so the source file is looked at.

use std::fs;

use evalsuite_codegen::binding::Problem;
use proc_macro2::{TokenStream, TokenTree};
use syn::LitStr;

use crate::call_site::CallSite;

/// An error if the module is named like the package's library, and the code around the call imports something from that library.
pub(crate) fn problem(module: &str, entry: &LitStr, call_site: &CallSite) -> Option<Problem> {
    let library = std::env::var("CARGO_PKG_NAME").ok()?.replace('-', "_");
    // The library does not import from itself by its name.
    if library != module || std::env::var("CARGO_CRATE_NAME").is_ok_and(|compiled| compiled == library) {
        return None;
    }
    let source = fs::read_to_string(call_site.source_file.as_ref()?).ok()?;
    let tokens: TokenStream = source.contains(&format!("use {module}::")).then(|| source.parse().ok())??;
    is_imported(tokens, module, &entry.value()).then(|| {
        let message = format!(
            "the suite's module `{module}` hides the crate `{module}`; write `use ::{module}::…`, or name the module: `name = {module}_suite`"
        );
        Problem::argument(entry.span(), message)
    })
}

/// Whether the call for `entry` and an import from `module` are in one module.
fn is_imported(tokens: TokenStream, module: &str, entry: &str) -> bool {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let imports = tokens.windows(3).any(|window| match window {
        [TokenTree::Ident(word), TokenTree::Ident(name), TokenTree::Punct(colon)] => {
            word == "use" && name == module && colon.as_char() == ':'
        }
        _ => false,
    });
    let calls = tokens.windows(2).any(|window| match window {
        [TokenTree::Punct(mark), TokenTree::Group(arguments)] => {
            mark.as_char() == '!' && first_text(arguments.stream()).is_some_and(|text| text == entry)
        }
        _ => false,
    });
    let in_groups = |token| match token {
        TokenTree::Group(group) => is_imported(group.stream(), module, entry),
        _ => false,
    };
    (imports && calls) || tokens.into_iter().any(in_groups)
}

fn first_text(arguments: TokenStream) -> Option<String> {
    let first = TokenStream::from(arguments.into_iter().next()?);
    syn::parse2::<LitStr>(first).ok().map(|literal| literal.value())
}
