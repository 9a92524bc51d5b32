//! How generated cases lie on the disk, and what their tests are called.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::case_text::{self, TOPICS};

/// A suite holds at most this many cases (`limit-exceeded`); more are spread over several suites.
const CASES_PER_SUITE: usize = 10_000;

/// Folders of the tasks layout.
const FOLDERS: &[&str] = &["ambiguous", "negative", "positive"];

/// One of the two layouts of suites.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Layout {
    /// `EVAL.yaml` and `cases/NAME/case.yaml`
    Cases,
    /// `suite.json` and `tasks/FOLDER/NAME.json`
    Tasks,
}

/// A number of generated cases in suites below a directory `suites`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cases {
    pub(crate) layout: Layout,
    pub(crate) count: usize,
}

/// The modules of one test, outermost first, and its name.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TestName {
    pub(crate) modules: Vec<String>,
    pub(crate) function: String,
}

impl TestName {
    /// The name as the test harness prints it.
    pub(crate) fn path(&self) -> String {
        let mut path = self.modules.join("::");
        path.push_str("::");
        path.push_str(&self.function);
        path
    }
}

impl Cases {
    /// Names of the suites, which are also their directories below `suites`.
    pub(crate) fn suites(self) -> Vec<String> {
        (0..self.count.div_ceil(CASES_PER_SUITE)).map(suite).collect()
    }

    /// Name of the directory of a suite that holds the cases.
    pub(crate) fn directory(self) -> &'static str {
        match self.layout {
            Layout::Cases => "cases",
            Layout::Tasks => "tasks",
        }
    }

    /// Path of a case below the package root.
    pub(crate) fn file(self, case: usize) -> PathBuf {
        let directory = PathBuf::from_iter(["suites", &suite(case / CASES_PER_SUITE), self.directory()]);
        let name = name(case);
        match self.layout {
            Layout::Cases => directory.join(name.replace('_', "-")).join("case.yaml"),
            Layout::Tasks => directory.join(folder(case)).join(format!("{name}.json")),
        }
    }

    /// What the test of a case is called, in evalsuite and by hand.
    pub(crate) fn test(self, case: usize) -> TestName {
        let mut modules = vec![suite(case / CASES_PER_SUITE)];
        if self.layout == Layout::Tasks {
            modules.push(folder(case).to_owned());
        }
        TestName { modules, function: name(case) }
    }

    /// The case that is edited, and the one that is run on its own.
    pub(crate) fn middle(self) -> usize {
        self.count / 2
    }

    /// Writes all suites below `root`.
    pub(crate) fn write(self, root: &Path) -> Result<()> {
        for suite in self.suites() {
            let (file, text) = match self.layout {
                Layout::Cases => ("EVAL.yaml", case_text::eval_yaml(&suite)),
                Layout::Tasks => ("suite.json", case_text::suite_json(&suite)),
            };
            write(&root.join("suites").join(&suite).join(file), &text)?;
        }
        (0..self.count).try_for_each(|case| self.write_case(root, case, 0))
    }

    /// Writes one case; each revision differs from the others by a word.
    pub(crate) fn write_case(self, root: &Path, case: usize, revision: usize) -> Result<()> {
        let text = match self.layout {
            Layout::Cases => case_text::case_yaml(case, revision),
            Layout::Tasks => case_text::task_json(case, &name(case), revision),
        };
        write(&root.join(self.file(case)), &text)
    }
}

fn suite(number: usize) -> String {
    format!("support_{}", number + 1)
}

fn name(case: usize) -> String {
    format!("{}_{case:05}", TOPICS[case % TOPICS.len()].name)
}

fn folder(case: usize) -> &'static str {
    FOLDERS[case / TOPICS.len() % FOLDERS.len()]
}

fn write(path: &Path, text: &str) -> Result<()> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).with_context(|| format!("cannot create {}", parent.display()))?;
    }
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_over_the_limit_of_a_suite_go_to_the_next_suite() {
        let cases = Cases { layout: Layout::Cases, count: CASES_PER_SUITE + 1 };
        assert_eq!(cases.suites(), ["support_1", "support_2"]);
        assert!(cases.file(CASES_PER_SUITE - 1).starts_with("suites/support_1"));
        assert!(cases.file(CASES_PER_SUITE).starts_with("suites/support_2"));
    }

    #[test]
    fn a_task_is_in_the_module_of_its_folder() {
        let cases = Cases { layout: Layout::Tasks, count: 10 };
        let path = cases.test(7).path();
        let file = cases.file(7).with_extension("");
        let tail: PathBuf = path.split("::").skip(1).collect();
        assert!(file.ends_with(&tail), "{path} for {}", file.display());
    }
}
