//! `requires`: what a run needs.

use std::collections::HashSet;

use evalsuite_schema::Requires;

use crate::diagnostic::{Code, Diagnostics};
use crate::fields;
use crate::fields::Fields;
use crate::keys::execution::{CASE_REQUIRES, SUITE_REQUIRES};
use crate::read::node::Entry;

/// Where a `requires` is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum SettingsOwner {
    Suite,
    Case,
}

pub(crate) fn read(entry: &Entry, place: SettingsOwner, d: &mut Diagnostics) -> Requires {
    let mut requires = Requires::default();
    let object = if place == SettingsOwner::Suite { &SUITE_REQUIRES } else { &CASE_REQUIRES };
    let Some(mut fields) = Fields::new(&entry.value, object, d) else { return requires };
    if let Some(entry) = fields.get("env") {
        requires.env = fields::texts(&entry.value, "`env`", d).unwrap_or_default();
    }
    if let Some(entry) = fields.get("commands") {
        requires.commands = fields::texts(&entry.value, "`commands`", d).unwrap_or_default();
    }
    if place == SettingsOwner::Suite {
        if let Some(entry) = fields.get("evalsuite") {
            check_version(entry, d);
        }
        if let Some(entry) = fields.no_effect("agentv", d) {
            fields::string(&entry.value, "`agentv`", d);
        }
    }
    fields.finish(d);
    requires
}

fn check_version(entry: &Entry, d: &mut Diagnostics) {
    let node = &entry.value;
    let Some(text) = fields::literal_text(node, "`evalsuite`", d) else { return };
    let own = env!("CARGO_PKG_VERSION");
    match semver::VersionReq::parse(text.trim()) {
        Err(error) => d.report(
            Code::OutOfRange,
            node.span,
            format!("`evalsuite` is not a version requirement: {error}"),
            "write a requirement as in Cargo.toml, such as `>=0.1`",
        ),
        Ok(requirement) => {
            let version = semver::Version::parse(own).expect("a package version is a semantic version");
            if !requirement.matches(&version) {
                d.report(
                    Code::OutOfRange,
                    node.span,
                    format!("the suite requires evalsuite {requirement}, this is {own}"),
                    "update the `evalsuite` dependency, or relax the requirement",
                );
            }
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
    use super::{SettingsOwner, read};
    use crate::diagnostic::Diagnostics;
    use crate::test_package::Package;

    #[test]
    fn a_version_without_effect_is_still_text() {
        let package = Package::new(&[]);
        let problems = |yaml: &str| {
            let mut d = Diagnostics::new();
            let node = package.node(yaml);
            read(&node.as_mapping().expect("a mapping")[0], SettingsOwner::Suite, &mut d);
            package.lines(&d)
        };
        assert_eq!(problems("requires: {agentv: '>=4'}"), ["1:12 W004 `agentv` has no effect"]);
        assert_eq!(
            problems("requires: {agentv: 4}"),
            ["1:12 W004 `agentv` has no effect", "1:20 E020 `agentv` must be text, found a number"]
        );
    }
}
