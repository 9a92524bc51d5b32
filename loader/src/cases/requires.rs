//! `requires`: what a run needs.

use std::collections::HashSet;

use evalsuite_schema::keys::Keys;
use evalsuite_schema::{Requires, SuiteRequires};

use crate::diagnostic::{Code, Diagnostics};
use crate::fields::Fields;
use crate::fields::paths::Scope;
use crate::read::node::Entry;
use crate::source::Span;

/// Reads `requires` of a suite.
pub(crate) fn of_suite(entry: &Entry, scope: Scope<'_>, d: &mut Diagnostics) -> Requires {
    let Some(mut fields) = Fields::new(&entry.value, SuiteRequires::TABLE, d) else { return Requires::default() };
    let written: Option<SuiteRequires> = fields.parts(scope, d).into_value_of_rest();
    if let (Some(entry), Some(version)) =
        (fields.get("evalsuite"), written.as_ref().and_then(|all| all.evalsuite.as_ref()))
    {
        check_version(version, entry.value.span, d);
    }
    fields.finish(d);
    written.map(|written| written.common).unwrap_or_default()
}

fn check_version(text: &str, place: Span, d: &mut Diagnostics) {
    let own = env!("CARGO_PKG_VERSION");
    match semver::VersionReq::parse(text.trim()) {
        Err(error) => {
            let message = format!("`evalsuite` is not a version requirement: {error}");
            d.report(Code::OutOfRange, place, message, "write a requirement as in Cargo.toml, such as `>=0.1`");
        }
        Ok(requirement) => {
            let version = semver::Version::parse(own).expect("a package version is a semantic version");
            if !requirement.matches(&version) {
                let message = format!("the suite requires evalsuite {requirement}, this is {own}");
                let help = "update the `evalsuite` dependency, or relax the requirement";
                d.report(Code::OutOfRange, place, message, help);
            }
        }
    }
}

/// Adds those of `more` that `list` does not have.
pub(crate) fn add(list: &mut Vec<String>, more: impl IntoIterator<Item = String>) {
    for name in more {
        if !list.contains(&name) {
            list.push(name);
        }
    }
}

/// A suite's requirements and a case's, without repeats.
pub(crate) fn merge(suite: &Requires, case: Requires) -> Requires {
    let join = |first: &[String], second: Vec<String>| {
        let known: HashSet<&String> = first.iter().collect();
        let new: Vec<String> = second.into_iter().filter(|name| !known.contains(name)).collect();
        [first, &new].concat()
    };
    Requires { env: join(&suite.env, case.env), commands: join(&suite.commands, case.commands) }
}

#[cfg(test)]
mod tests {
    use super::of_suite;
    use crate::diagnostic::Diagnostics;
    use crate::tests::Package;

    #[test]
    fn a_version_without_effect_is_still_text() {
        let package = Package::new(&[]);
        let problems = |yaml: &str| {
            let mut d = Diagnostics::new();
            let node = package.node(yaml);
            of_suite(&node.as_mapping().expect("a mapping")[0], package.scope(), &mut d);
            package.lines(&d)
        };
        assert_eq!(problems("requires: {agentv: '>=4'}"), ["1:12 W004 `agentv` has no effect"]);
        assert_eq!(
            problems("requires: {agentv: 4}"),
            ["1:12 W004 `agentv` has no effect", "1:20 E020 `agentv` must be text, found a number"]
        );
    }
}
