//! Which workspace a case needs: the suite's, or its own.

use evalsuite_schema::{Hooks, Isolation, Workspace};

/// Where the workspaces of a case's trials come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WorkspaceSource {
    /// Every trial copies the template; there is no base.
    Template,
    /// The base of the suite.
    Suite(Isolation),
    /// A base of the case.
    Case(Isolation),
}

/// What has to be made before the first trial of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WorkspaceNeeds {
    /// Whether the base of the suite is made with its hooks, for its files or for what the hooks do elsewhere.
    pub(crate) suite_base: bool,
    pub(crate) source: WorkspaceSource,
    /// Whether the case itself defines `before_all`.
    pub(crate) own_before_all: bool,
    /// Whether the case itself defines `after_all`.
    pub(crate) own_after_all: bool,
}

impl WorkspaceNeeds {
    /// The needs of a case whose workspace is merged over the suite's. What differs belongs to the case.
    pub(crate) fn of(suite: Option<&Workspace>, case: Option<&Workspace>, target: Option<&Hooks>) -> Self {
        let empty = Workspace::default();
        let (suite, case) = (suite.unwrap_or(&empty), case.unwrap_or(&empty));
        let (before, after) = (&case.hooks.before_all, &case.hooks.after_all);
        let inherits_before = *before == suite.hooks.before_all;
        let inherits_after = *after == suite.hooks.after_all;
        let own_files = case.template != suite.template
            || case.base_fixture != suite.base_fixture
            || case.copies != suite.copies
            || case.repos != suite.repos;
        let own_before_all = before.is_some() && !inherits_before;
        let own_after_all = after.is_some() && !inherits_after;
        // A case that turns hooks off does not use what they make.
        let is_own = own_files || own_after_all || !inherits_before;
        let is_shared = case.isolation == Isolation::Shared;
        let needs_base = !case.repos.is_empty() || is_shared;
        let suite_hooks = inherits_before && before.is_some() || inherits_after && after.is_some();
        let target_hooks = target.is_some_and(|hooks| hooks.before_all.is_some() || hooks.after_all.is_some());
        let suite_base = suite_hooks || target_hooks || !is_own && needs_base;
        let source = match is_own {
            true if needs_base || own_before_all || own_after_all => WorkspaceSource::Case(case.isolation),
            true => WorkspaceSource::Template,
            false if suite_base => WorkspaceSource::Suite(case.isolation),
            false => WorkspaceSource::Template,
        };
        Self { suite_base, source, own_before_all, own_after_all }
    }
}

#[cfg(test)]
mod tests {
    use evalsuite_schema::{Checkout, Command, Hook, PathRef, Repo, RepoSource, Reset};

    use super::*;

    fn hook(line: &str) -> Option<Hook> {
        let command = Some(Command::Shell(line.into()));
        Some(Hook { command, timeout_ms: 1, cwd: None, reset: Reset::None })
    }

    fn workspace(template: &str) -> Workspace {
        let template = Some(PathRef::new(template));
        Workspace { template, ..Workspace::default() }
    }

    fn with_repo(workspace: Workspace) -> Workspace {
        let source = RepoSource::Git("x".into());
        let repo =
            Repo { path: "r".into(), source, checkout: Checkout::default(), depth: None, filter: None, sparse: vec![] };
        Workspace { repos: vec![repo], ..workspace }
    }

    fn with_hooks(workspace: Workspace, before: &str, after: &str) -> Workspace {
        let hooks = Hooks { before_all: hook(before), after_all: hook(after), ..Hooks::default() };
        Workspace { hooks, ..workspace }
    }

    fn needs(suite: &Workspace, case: &Workspace) -> (bool, WorkspaceSource) {
        let needs = WorkspaceNeeds::of(Some(suite), Some(case), None);
        (needs.suite_base, needs.source)
    }

    const PER_TEST: Isolation = Isolation::PerTest;

    #[test]
    fn a_template_alone_is_copied_without_a_base() {
        let none = WorkspaceNeeds::of(None, None, None);
        assert_eq!((none.suite_base, none.source), (false, WorkspaceSource::Template));
        assert_eq!(needs(&workspace("a"), &workspace("a")), (false, WorkspaceSource::Template));
        assert_eq!(needs(&workspace("a"), &workspace("b")), (false, WorkspaceSource::Template));
    }

    #[test]
    fn what_cases_have_in_common_comes_from_the_suite() {
        let suite = with_repo(workspace("a"));
        assert_eq!(needs(&suite, &suite), (true, WorkspaceSource::Suite(PER_TEST)));
        let suite = with_hooks(workspace("a"), "x", "y");
        assert_eq!(needs(&suite, &suite), (true, WorkspaceSource::Suite(PER_TEST)));
        let shared = Workspace { isolation: Isolation::Shared, ..workspace("a") };
        assert_eq!(needs(&shared, &shared), (true, WorkspaceSource::Suite(Isolation::Shared)));
        let target = Hooks { before_all: hook("x"), ..Hooks::default() };
        let needs = WorkspaceNeeds::of(None, None, Some(&target));
        assert_eq!((needs.suite_base, needs.source), (true, WorkspaceSource::Suite(PER_TEST)));
    }

    #[test]
    fn what_a_case_defines_is_its_own() {
        let suite = with_hooks(workspace("a"), "x", "y");
        // The suite's hooks run for what they do elsewhere; the case's files are other ones.
        assert_eq!(needs(&suite, &with_hooks(workspace("b"), "x", "y")), (true, WorkspaceSource::Template));
        assert_eq!(
            needs(&suite, &with_hooks(with_repo(workspace("a")), "x", "y")),
            (true, WorkspaceSource::Case(PER_TEST))
        );
        let own = WorkspaceNeeds::of(Some(&suite), Some(&with_hooks(workspace("a"), "own", "y")), None);
        assert_eq!((own.suite_base, own.source), (true, WorkspaceSource::Case(PER_TEST)));
        assert_eq!((own.own_before_all, own.own_after_all), (true, false));
        assert_eq!(needs(&suite, &workspace("a")), (false, WorkspaceSource::Template), "hooks are turned off");
    }
}
