//! The file that says what `agent = "cli"` calls, and what commands may judge.

use std::path::PathBuf;

use evalsuite_loader::{Request, find_targets_file};
use evalsuite_schema::diagnostic::Code;

use super::{About, Message, Options};

/// A warning if commands are the agents of a suite that has no targets file. It may still be named when the tests run.
pub(super) fn missing(options: &Options, suite: Option<&About>) -> Option<Message> {
    let with_own = options.commands.as_ref()?;
    if suite?.all_targets_are_in(with_own.iter().map(String::as_str)) {
        return None;
    }
    if find(&options.request)?.is_some() {
        return None;
    }
    let code = Code::NoTargetsFile;
    let text = format!(
        "[{code}] no targets.yaml for `{}`, from its directory up to the package\n  = help: add one that says what \
         command each target is, or set `EVALSUITE_TARGETS` when the tests run",
        options.request.entry
    );
    Some(Message::warning(code.name(), text))
}

/// The nearest targets file of a suite; the outer `None` where nobody knows where the suite is.
pub(super) fn find(request: &Request) -> Option<Option<PathBuf>> {
    Some(find_targets_file(&suite_root(request)?, &request.package_root))
}

/// Directory of the suite.
fn suite_root(request: &Request) -> Option<PathBuf> {
    let base = match request.entry.strip_prefix("./") {
        Some(rest) => request.source_dir.as_ref()?.join(rest),
        None => request.package_root.join(&request.entry),
    };
    // Components as they are written: `suites/x/` and `suites/./x` are `suites/x`.
    let entry: PathBuf = base.components().collect();
    if entry.is_dir() { Some(entry) } else { entry.parent().map(ToOwned::to_owned) }
}
