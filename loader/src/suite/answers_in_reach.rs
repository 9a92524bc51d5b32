//! Answers that a suite itself puts before its agents: files of cases and graders in a workspace, and the canary in an input.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use evalsuite_schema::json::{json, to_value};
use evalsuite_schema::{Case, Suite};

use crate::cases::PlacedCase;
use crate::diagnostic::{Code, Diagnostics};
use crate::fields::paths::{Scope, normalize};
use crate::source::Span;
use crate::suite::unused_files::collect;

/// Maximum number of files that are reported one by one.
const MAX_SHOWN: usize = 20;

/// Warns of files with answers in the directories that workspaces are copied from, each once, and of inputs with the canary. `suite_file`
/// is the file of the suite.
pub(crate) fn report(suite: &Suite, suite_file: Span, cases: &[PlacedCase], scope: Scope<'_>, d: &mut Diagnostics) {
    let calibration = scope.roots.suite_root.join("calibration.yaml");
    let of_suite = [(scope.files.get(suite_file.file).path, "file of the suite"), (calibration, "calibration")];
    let mut found = BTreeMap::new();
    for placed in cases {
        let case = &*placed.checked.case;
        if let Some(canary) = &suite.canary
            && to_value(&json!([case.input, case.conversation, case.metadata]))
                .is_ok_and(|given| given.to_string().to_ascii_lowercase().contains(&canary.to_ascii_lowercase()))
        {
            let message = format!("the agent of case `{}` is given the canary of the suite", case.id);
            let help = "delete it from the input: it shows that an agent saw the answers";
            d.report(Code::AnswersInReach, placed.checked.span, message, help);
        }
        let given = given_directories(case, &scope.roots.package_root);
        if given.is_empty() {
            continue;
        }
        let own = (scope.files.get(placed.checked.span.file).path, "file of the case");
        let of_graders = files_of_graders(case, &scope.roots.package_root);
        let of_graders = of_graders.into_iter().map(|path| (path, "file that its graders use"));
        for (path, what) in of_suite.iter().cloned().chain([own]).chain(of_graders).filter(|(path, _)| path.is_file()) {
            let real = path.canonicalize().unwrap_or_else(|_| path.clone());
            if let Some(directory) = given.iter().find(|directory| directory.has(&path) || directory.has(&real)) {
                found.entry(path).or_insert((directory.path.clone(), what, placed));
            }
        }
    }
    for (path, (directory, what, placed)) in found.into_iter().take(MAX_SHOWN) {
        let [shown, around] = [&path, &directory].map(|path| scope.files.shown(path));
        let id = &placed.checked.case.id;
        let message = format!("the workspace of case `{id}` is a copy of `{around}`, with `{shown}`, the {what}");
        let help = "move one of them: an agent can read all of its workspace";
        d.report(Code::AnswersInReach, placed.checked.span, message, help);
    }
}

/// A directory that is copied into a workspace.
struct GivenDirectory {
    path: PathBuf,
    real: PathBuf,
    without: Vec<String>,
}

impl GivenDirectory {
    fn has(&self, file: &Path) -> bool {
        [&self.path, &self.real].into_iter().any(|directory| {
            let below = file.strip_prefix(directory);
            below.is_ok_and(|below| !self.without.iter().any(|without| below.starts_with(without)))
        })
    }
}

fn given_directories(case: &Case, package_root: &Path) -> Vec<GivenDirectory> {
    let Some(workspace) = &case.workspace else { return Vec::new() };
    let directories = [&workspace.base_fixture, &workspace.template].into_iter().flatten();
    let directories = directories.map(|directory| (directory, Vec::new()));
    let copies = workspace.copies.iter().map(|copy| (&copy.from, copy.without.clone()));
    let given = directories.chain(copies).map(|(directory, without)| {
        let path = normalize(&package_root.join(&directory.path));
        GivenDirectory { real: path.canonicalize().unwrap_or_else(|_| path.clone()), path, without }
    });
    given.filter(|given| given.path.is_dir()).collect()
}

/// Scripts, prompts, schemas and expected answers that are files.
fn files_of_graders(case: &Case, package_root: &Path) -> BTreeSet<PathBuf> {
    let mut paths = BTreeSet::new();
    let turns = case.conversation.iter().flat_map(|conversation| &conversation.turns);
    let turns: Vec<_> = turns.map(|turn| json!([turn.graders, turn.expected_output])).collect();
    let answers = json!([case.graders, case.expected_output, case.reference_solution, case.examples, turns]);
    collect(&answers, package_root, &mut paths);
    paths
}
