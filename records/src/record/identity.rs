//! What names a suite in a run, and the same suite in another run; and what names a case.

use std::collections::{BTreeMap, BTreeSet};

use evalsuite_schema::json::{FromJson, ToJson};
use evalsuite_schema::{Layout, Location, SuiteKind};

/// Identity of a suite of a run: the package that includes it, its directory in the package, and the module of its
/// tests.
///
/// Two packages may have suites of the same name, and tests with different agents may include the same suite. In
/// records of older versions, only the name is set.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, ToJson, FromJson)]
#[json(default)]
#[non_exhaustive]
pub struct SuiteId {
    /// Name of the suite.
    pub name: String,
    /// Package that includes it.
    pub package: String,
    /// Directory of that package relative to the root of the workspace, with `/` separators; `.` for the root.
    pub package_directory: String,
    /// Directory of the suite relative to the package, with `/` separators.
    pub path: String,
    /// Rust path of the module that includes it, such as `evals::shop`.
    pub module: String,
}

impl SuiteId {
    /// A suite with only a name.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), ..Self::default() }
    }

    /// Whether a text of a user names the suite: its name, `package/name`, `package/path`, or each of them with the
    /// module in parentheses, as in [labels](Self::labels).
    pub fn is_called(&self, text: &str) -> bool {
        let in_package = |rest: &str| rest == self.name || rest == self.path;
        let is_it = |text: &str| {
            text == self.name
                || text.strip_prefix(&self.package).and_then(|rest| rest.strip_prefix('/')).is_some_and(in_package)
        };
        let module = text.strip_suffix(')').and_then(|text| text.rsplit_once(" ("));
        is_it(text) || module.is_some_and(|(text, module)| module == self.module && is_it(text))
    }

    /// Displayed names of the suites of a run, in their order: the name if it is unique, else `package/name`, or
    /// `package/path` for two suites of a package, with the module in parentheses for a suite that several modules
    /// include.
    pub fn labels(ids: &[Self]) -> Vec<String> {
        let mut named: BTreeMap<&str, BTreeSet<(&str, &str)>> = BTreeMap::new();
        let mut included: BTreeMap<(&str, &str, &str), usize> = BTreeMap::new();
        for id in ids {
            named.entry(&id.name).or_default().insert((&id.package, &id.path));
            *included.entry(id.suite()).or_default() += 1;
        }
        let label = |id: &Self| {
            let of_name = &named[id.name.as_str()];
            let of_package = of_name.iter().filter(|(package, _)| *package == id.package).count();
            let mut label = match (of_name.len(), of_package) {
                (1, _) => id.name.clone(),
                _ if id.package.is_empty() => id.name.clone(),
                (_, 1) => format!("{}/{}", id.package, id.name),
                _ => format!("{}/{}", id.package, id.path),
            };
            if included[&id.suite()] > 1 && !id.module.is_empty() {
                label.push_str(&format!(" ({})", id.module));
            }
            label
        };
        ids.iter().map(label).collect()
    }

    /// Matches the suites of two runs: for each of `ours`, its index in `theirs`.
    ///
    /// A suite is matched even if its package or its module was renamed, or its directory was moved, unless the match
    /// is ambiguous. Only records of older versions are matched by the name alone.
    pub fn counterparts(ours: &[Self], theirs: &[Self]) -> Vec<Option<usize>> {
        // What two suites have in common that are the same; the last is enough only for records of older versions.
        let steps: [fn(&Self) -> [&str; 3]; 7] = [
            |id| [&id.package, &id.path, &id.module],
            |id| [&id.package, &id.path, ""],
            |id| [&id.package_directory, &id.path, &id.module],
            |id| [&id.package_directory, &id.path, ""],
            |id| [&id.package, &id.name, &id.module],
            |id| [&id.package, &id.name, ""],
            |id| [&id.name, &id.name, ""],
        ];
        let mut found = vec![None; ours.len()];
        for (step, key) in steps.into_iter().enumerate() {
            let is_name_alone = step + 1 == steps.len();
            let mut by_key: BTreeMap<[&str; 3], [Vec<usize>; 2]> = BTreeMap::new();
            for (side, ids) in [ours, theirs].into_iter().enumerate() {
                for (index, id) in ids.iter().enumerate() {
                    let is_free = if side == 0 { found[index].is_none() } else { !found.contains(&Some(index)) };
                    let key = key(id);
                    if is_free && !key[0].is_empty() && !key[1].is_empty() {
                        by_key.entry(key).or_default()[side].push(index);
                    }
                }
            }
            for sides in by_key.values() {
                if let [[one], [other]] = sides.each_ref().map(Vec::as_slice)
                    && (!is_name_alone || ours[*one].is_old() || theirs[*other].is_old())
                {
                    found[*one] = Some(*other);
                }
            }
        }
        found
    }

    /// Whether it is of a record of an older version.
    fn is_old(&self) -> bool {
        self.package_directory.is_empty()
    }

    /// The suite, for any module that includes it.
    fn suite(&self) -> (&str, &str, &str) {
        (&self.name, &self.package, &self.path)
    }
}

/// What names a case in a run. Records of the case and of its trials have these fields as their own.
#[derive(Debug, Clone, Default, PartialEq, ToJson, FromJson)]
#[json(part)]
pub struct CaseIdentity {
    /// Id of the run.
    pub run_id: String,
    /// Name of the suite.
    pub suite: String,
    /// SHA-256 over all files of the suite, hexadecimal.
    pub suite_digest: String,
    /// How the suite's files are laid out.
    pub layout: Layout,
    /// Rule by which the trials of a case decide it.
    pub kind: SuiteKind,
    /// Id of the case.
    pub case_id: String,
    /// Name of the case's directory in the run.
    pub case_key: String,
    /// SHA-256 of the whole case, hexadecimal.
    pub case_digest: String,
    /// SHA-256 of the input of the agent, hexadecimal.
    pub input_digest: String,
    /// SHA-256 of the graders, hexadecimal.
    pub grader_digest: String,
    /// Path of the Rust test, without the crate.
    pub test_name: String,
    /// Name of the target.
    pub target: String,
    /// Name or Rust path of the agent.
    pub agent: String,
    /// Where the case is defined.
    pub location: Location,
    /// Attempt of the test runner, from 1.
    pub runner_attempt: u32,
    /// Id of the case that depends on this one and caused it to run.
    pub requested_by: Option<String>,
}

impl CaseIdentity {
    /// The digests of the case, of what the agent sees of it and of its graders: equal for cases of the same definition.
    pub fn digests(&self) -> [&str; 3] {
        [&self.case_digest, &self.input_digest, &self.grader_digest]
    }
}

/// The fields of the identity are read and set as those of the record.
macro_rules! fields_of_identity {
    ($record:ident) => {
        impl std::ops::Deref for $record {
            type Target = $crate::record::CaseIdentity;

            fn deref(&self) -> &Self::Target {
                &self.identity
            }
        }

        impl std::ops::DerefMut for $record {
            fn deref_mut(&mut self) -> &mut Self::Target {
                &mut self.identity
            }
        }
    };
}

pub(super) use fields_of_identity;

#[cfg(test)]
mod tests {
    use std::slice::from_ref;

    use super::*;

    fn id(package: &str, path: &str, module: &str) -> SuiteId {
        let mut id = SuiteId::new(path.rsplit('/').next().unwrap_or_default());
        (id.package, id.package_directory) = (package.to_owned(), format!("crates/{package}"));
        (id.path, id.module) = (path.to_owned(), module.to_owned());
        id
    }

    #[test]
    fn names_are_as_long_as_it_takes_to_tell_suites_apart() {
        let labels = |ids: &[SuiteId]| SuiteId::labels(ids);
        assert_eq!(labels(&[id("a", "suites/shop", "evals::shop")]), ["shop"]);
        assert_eq!(
            labels(&[id("a", "suites/shop", ""), id("b", "suites/shop", ""), id("b", "suites/desk", "")]),
            ["a/shop", "b/shop", "desk"]
        );
        assert_eq!(
            labels(&[id("a", "old/shop", ""), id("a", "new/shop", ""), id("b", "suites/shop", "")]),
            ["a/old/shop", "a/new/shop", "b/shop"]
        );
        assert_eq!(
            labels(&[id("a", "shop", "evals::fast"), id("a", "shop", "evals::slow"), id("a", "desk", "evals::desk")]),
            ["shop (evals::fast)", "shop (evals::slow)", "desk"]
        );
        assert_eq!(labels(&[SuiteId::new("shop"), id("b", "shop", "")]), ["shop", "b/shop"]);
    }

    #[test]
    fn people_may_leave_out_what_is_clear() {
        let shop = id("a", "suites/shop", "evals::fast");
        for text in ["shop", "a/shop", "a/suites/shop", "shop (evals::fast)", "a/shop (evals::fast)"] {
            assert!(shop.is_called(text), "{text}");
        }
        for text in ["sho", "b/shop", "a/", "shop (evals::slow)", "suites/shop", "(evals::fast)"] {
            assert!(!shop.is_called(text), "{text}");
        }
    }

    #[test]
    fn a_suite_is_found_again_as_long_as_no_other_can_be_meant() {
        let found = |ours: &[SuiteId], theirs: &[SuiteId]| SuiteId::counterparts(ours, theirs);
        let [a, b] = ["a", "b"].map(|package| id(package, "suites/shop", "evals::shop"));
        assert_eq!(found(&[a.clone(), b.clone()], &[b.clone(), a.clone()]), [Some(1), Some(0)]);
        assert_eq!(found(from_ref(&a), from_ref(&b)), [None], "another package");
        let mut renamed = a.clone();
        renamed.package = "agent".to_owned();
        assert_eq!(found(&[a.clone(), b.clone()], &[b.clone(), renamed]), [Some(1), Some(0)]);
        let moved = id("a", "evals/shop", "evals::shop");
        assert_eq!(found(from_ref(&a), &[b.clone(), moved]), [Some(1)]);
        let other_module = id("a", "suites/shop", "tests::shop");
        assert_eq!(found(from_ref(&a), from_ref(&other_module)), [Some(0)]);
        let [fast, slow] = ["evals::fast", "evals::slow"].map(|module| id("a", "suites/shop", module));
        assert_eq!(found(&[fast.clone(), slow.clone()], &[slow, fast]), [Some(1), Some(0)]);

        let mut old = SuiteId::new("shop");
        assert_eq!(found(from_ref(&old), from_ref(&a)), [Some(0)]);
        assert_eq!(found(from_ref(&old), &[a.clone(), b.clone()]), [None], "either may be meant");
        old.package = "b".to_owned();
        assert_eq!(found(from_ref(&old), &[a, b]), [Some(1)]);
    }
}
