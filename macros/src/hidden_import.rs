//! A crate that the suite's module hides.
//!
//! rustc's errors point at what is not found in the module (E0425), or at an import and at the call (E0659), and do not say that the
//! module can have another name. Lints do not run after such errors, so a warning would not be shown; and where nothing of the crate is
//! named the module is fine, so the source file is looked at.

use evalsuite_codegen::binding::Problem;
use syn::LitStr;

use crate::surroundings::Surroundings;

/// An error if the module is named like a crate, and the code around the call names something in that crate.
pub(crate) fn problem(module: &str, entry: &LitStr, around: &Surroundings) -> Option<Problem> {
    let compiled = std::env::var("CARGO_CRATE_NAME").is_ok_and(|compiled| compiled == module);
    // A library does not name itself by its name.
    if compiled || !is_crate(module) {
        return None;
    }
    let path = around.path_into(module)?;
    let message = format!(
        "the suite's module `{module}` hides the crate `{module}`; write `::{path}`, or name the module: `name = {module}_suite`"
    );
    Some(Problem::argument(entry.span(), message))
}

/// Whether the package, or a crate that rustc was given, has this name.
fn is_crate(name: &str) -> bool {
    let of_package = std::env::var("CARGO_PKG_NAME").is_ok_and(|package| package.replace('-', "_") == name);
    let arguments: Vec<String> = std::env::args_os().filter_map(|argument| argument.into_string().ok()).collect();
    let is_given = |argument: &String| {
        argument.split_once('=').is_some_and(|(given, _)| given.rsplit(':').next().is_some_and(|given| given == name))
    };
    of_package || arguments.windows(2).any(|pair| pair[0] == "--extern" && is_given(&pair[1]))
}
