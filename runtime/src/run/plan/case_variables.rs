//! The variables, `${{ NAME }}`, of a case.

use std::collections::BTreeSet;

use evalsuite_schema::Workspace;

use crate::judge::judge_options::KEYS;
use crate::model::interpolation;
use crate::run::plan::case_source::CaseSource;
use crate::run::plan::tested_agent::TestedAgent;

/// Variables of a case and its target.
pub(crate) struct CaseVariables {
    pub(crate) names: BTreeSet<String>,
    /// Whether the case itself may have variables.
    pub(crate) of_case: bool,
    /// Variables whose values are removed from everything that is written.
    pub(crate) secrets: Vec<String>,
}

impl CaseVariables {
    pub(super) fn of(source: &CaseSource, tested: &TestedAgent) -> Self {
        let case = &source.case;
        let of_case = source.entry.may_have_variables();
        let mut names = BTreeSet::new();
        if of_case {
            names.extend(interpolation::variables(case, source.data.layout));
        }
        names.extend(tested.agent.variables());
        names.extend(variables_around(source, &tested.target));
        let mut secrets: Vec<String> = case.requires.env.iter().chain(&names).cloned().collect();
        secrets.extend(KEYS.map(str::to_owned));
        Self { names, of_case, secrets }
    }
}

/// Names of the variables of the suite's workspace, and of the hooks of the suite and of a target.
fn variables_around(CaseSource { data, case, .. }: &CaseSource, target: &str) -> BTreeSet<String> {
    let target = data.targets.iter().find(|known| known.name == target);
    let of_target = target.map(|target| Workspace { hooks: target.hooks.clone(), ..Workspace::default() });
    let workspaces = data.workspace.iter().cloned().chain(of_target);
    workspaces.flat_map(|workspace| interpolation::workspace_variables(&workspace, &case.location)).collect()
}
