//! Workspaces made from templates and copies, and base workspaces, which are copied for trials; and the skill of
//! a target in them, without the skills of other targets.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{fs, io};

use evalsuite_records::record::Reason;
use evalsuite_schema::{Reset, Workspace, WorkspaceCopy};

use crate::model::suite_location::SuiteLocation;
use crate::platform::files::error_at;
use crate::platform::process::Echo;
use crate::workspace::copy::{self, CopyMode, remove_entry};
use crate::workspace::{BaseFacts, remove_directory, repos, workspace_error};

/// The source of a trial's workspace.
#[derive(Debug, Clone)]
pub(crate) enum WorkspaceBase {
    /// A copy of the template; without a template, the workspace is empty.
    Template,
    /// A copy of a base.
    Copied { directory: PathBuf, facts: BaseFacts },
    /// The base itself, which all trials use. `pristine` is a copy for resets.
    Shared { directory: PathBuf, pristine: PathBuf, facts: BaseFacts },
}

/// Makes a base workspace from nothing: copies of the template, then the repositories.
pub(crate) fn build(
    workspace: &Workspace,
    directory: &Path,
    location: &SuiteLocation,
    echo: Echo,
) -> Result<(), Reason> {
    remove_directory(directory).map_err(|error| workspace_error(&error_at(directory, &error)))?;
    materialise(Some(workspace), directory, location).map_err(|error| workspace_error(&error))?;
    repos::clone_all(workspace, directory, location, echo)?;
    Ok(())
}

impl BaseFacts {
    /// The state of a finished base workspace, after its hook.
    pub(crate) fn of(workspace: &Workspace, directory: &Path, echo: Echo) -> Self {
        let mut facts = Self::default();
        repos::add_commits(&mut facts.repos, workspace, directory, echo);
        facts
    }
}

/// Makes a trial's own copy of a base, with the `.git` of its repositories.
pub(crate) fn copy_to_trial(base: &Path, target: &Path) -> io::Result<()> {
    remove_directory(target).map_err(|error| error_at(target, &error))?;
    fs::create_dir_all(target).map_err(|error| error_at(target, &error))?;
    CopyMode::Whole.run(base, target)
}

/// Returns a shared workspace to its base: repositories by git, everything else from an unchanged copy.
pub(crate) fn restore(
    workspace: &Path,
    pristine: &Path,
    facts: &BaseFacts,
    reset: Reset,
    echo: Echo,
) -> io::Result<()> {
    let mut restored: Vec<PathBuf> = Vec::new();
    repos::restore((workspace, pristine), facts, reset, echo, &mut restored)?;
    CopyMode::Restore(reset).run_without(&restored, pristine, workspace)
}

/// Makes a directory with copies of a workspace's base fixture, template and other paths, in this order.
pub(crate) fn materialise(workspace: Option<&Workspace>, target: &Path, location: &SuiteLocation) -> io::Result<()> {
    fs::create_dir_all(target).map_err(|error| error_at(target, &error))?;
    let Some(workspace) = workspace else { return Ok(()) };
    for source in [&workspace.base_fixture, &workspace.template].into_iter().flatten() {
        let directory = location.resolve(source);
        if !directory.is_dir() {
            let message = format!("the directory `{}` does not exist ({})", source.written, directory.display());
            return Err(io::Error::other(message));
        }
        // The suite may name a link to a template that several suites share. Nothing in it is a link out of it.
        let directory = directory.canonicalize().map_err(|error| error_at(&directory, &error))?;
        CopyMode::Template.run(&directory, target)?;
    }
    workspace.copies.iter().try_for_each(|copy| self::copy(copy, target, location))
}

/// Copies a file or directory to its place in the workspace.
pub(crate) fn copy(copy: &WorkspaceCopy, workspace: &Path, location: &SuiteLocation) -> io::Result<()> {
    let source = location.resolve(&copy.from);
    let source = source.canonicalize().map_err(|error| error_at(&source, &error))?;
    let target = workspace.join(&copy.to);
    let directory = if source.is_dir() { Some(target.as_path()) } else { target.parent() };
    if let Some(directory) = directory {
        fs::create_dir_all(directory).map_err(|error| error_at(directory, &error))?;
    }
    if source.is_dir() {
        return CopyMode::Template.run_without(&copy.without, &source, &target);
    }
    let metadata = source.metadata().map_err(|error| error_at(&source, &error))?;
    copy::file(&source, &metadata, &target)
}

/// Removes what is at these places of a workspace, and puts a skill there. A template or a hook may have brought a copy of the skill.
pub(crate) fn replace_skills(
    places: &BTreeSet<String>,
    skill: &[WorkspaceCopy],
    workspace: &Path,
    location: &SuiteLocation,
) -> io::Result<()> {
    for place in places {
        check_inside(workspace, place)?;
        let path = workspace.join(place);
        remove_entry(&path).map_err(|error| error_at(&path, &error))?;
    }
    skill.iter().try_for_each(|skill| copy(skill, workspace, location))
}

/// A link in place of a directory above a skill must not lead out of the workspace: a skill elsewhere is not removed.
fn check_inside(workspace: &Path, place: &str) -> io::Result<()> {
    let parents = Path::new(place).ancestors().skip(1).filter(|parent| !parent.as_os_str().is_empty());
    let Some(parent) = parents.map(|parent| workspace.join(parent)).find(|parent| parent.exists()) else {
        return Ok(());
    };
    let real = parent.canonicalize().map_err(|error| error_at(&parent, &error))?;
    let root = workspace.canonicalize().map_err(|error| error_at(workspace, &error))?;
    if real.starts_with(&root) {
        return Ok(());
    }
    let message =
        format!("{} leads out of the workspace, to {}: no skill can be put there", parent.display(), real.display());
    Err(io::Error::other(message))
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use evalsuite_schema::PathRef;

    use super::*;
    use crate::workspace::remove_directory;

    fn places(root: &Path) -> SuiteLocation {
        SuiteLocation { package_root: root.to_owned(), suite_dir: root.to_owned() }
    }

    fn reference(path: &str) -> Option<PathRef> {
        Some(PathRef::new(path))
    }

    #[test]
    fn the_template_is_copied_over_the_base_fixture_without_git() {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in
            [("base/a", "base"), ("base/b", "base"), ("over/b", "over"), ("over/d/c", "x"), ("over/.git/HEAD", "x")]
        {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        fs::set_permissions(root.path().join("over/b"), fs::Permissions::from_mode(0o555)).unwrap();
        symlink("d/c", root.path().join("over/link")).unwrap();
        let workspace =
            Workspace { base_fixture: reference("base"), template: reference("over"), ..Workspace::default() };
        let target = root.path().join("copy");
        materialise(Some(&workspace), &target, &places(root.path())).unwrap();
        let read = |path: &str| fs::read_to_string(target.join(path)).unwrap();
        assert_eq!((read("a"), read("b"), read("link")), ("base".into(), "over".into(), "x".into()));
        assert_eq!(target.join("b").metadata().unwrap().permissions().mode() & 0o777, 0o555);
        assert!(!target.join(".git").exists());
        let time = |path: &Path| path.metadata().unwrap().modified().unwrap();
        assert_eq!(time(&target.join("a")), time(&root.path().join("base/a")));
        remove_directory(&target).unwrap();
        assert!(!target.exists());
    }

    #[test]
    fn a_link_that_leads_out_of_the_template_is_an_error() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("over")).unwrap();
        symlink("/etc", root.path().join("over/etc")).unwrap();
        let workspace = Workspace { template: reference("over"), ..Workspace::default() };
        let error = materialise(Some(&workspace), &root.path().join("copy"), &places(root.path())).unwrap_err();
        assert!(error.to_string().contains("leads out"), "{error}");
    }

    #[test]
    fn a_template_may_be_a_link_to_a_shared_one() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join("shared/d")).unwrap();
        fs::write(root.path().join("shared/d/a"), "x").unwrap();
        symlink("shared", root.path().join("over")).unwrap();
        let workspace = Workspace { template: reference("over"), ..Workspace::default() };
        let target = root.path().join("copy");
        materialise(Some(&workspace), &target, &places(root.path())).unwrap();
        assert_eq!(fs::read_to_string(target.join("d/a")).unwrap(), "x");
    }

    #[test]
    fn copies_are_made_under_their_path_without_what_is_left_out() {
        let root = tempfile::tempdir().unwrap();
        for path in ["skill/SKILL.md", "skill/references/evals/a.md", "skill/evals/evals.json", "skill/evals/in.csv"] {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "x").unwrap();
        }
        let copy = |from: &str, to: &str, without: &[&str]| WorkspaceCopy {
            from: PathRef::new(from),
            to: to.to_owned(),
            without: without.iter().map(|name| (*name).to_owned()).collect(),
        };
        let copies =
            vec![copy("skill", ".agents/skills/skill", &["evals"]), copy("skill/evals/in.csv", "evals/in.csv", &[])];
        let workspace = Workspace { copies, ..Workspace::default() };
        let target = root.path().join("copy");
        materialise(Some(&workspace), &target, &places(root.path())).unwrap();
        let skill = target.join(".agents/skills/skill");
        assert!(skill.join("SKILL.md").is_file() && skill.join("references/evals/a.md").is_file());
        assert!(!skill.join("evals").exists());
        assert!(target.join("evals/in.csv").is_file());
    }

    #[test]
    fn a_missing_directory_is_named() {
        let root = tempfile::tempdir().unwrap();
        let workspace = Workspace { template: reference("gone"), ..Workspace::default() };
        let error = materialise(Some(&workspace), &root.path().join("copy"), &places(root.path())).unwrap_err();
        assert!(error.to_string().contains("`gone`"), "{error}");
    }

    fn write(root: &Path, path: &str, text: &str) {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn replace(root: &Path, skill: &[WorkspaceCopy]) -> io::Result<()> {
        let location = SuiteLocation { package_root: root.to_owned(), suite_dir: root.to_owned() };
        let places = [".agents/skills/csv", ".claude/skills/csv"].map(str::to_owned).into_iter().collect();
        replace_skills(&places, skill, &root.join("work"), &location)
    }

    #[test]
    fn a_workspace_has_the_skill_of_its_target_only() {
        let root = tempfile::tempdir().unwrap();
        write(root.path(), "csv/SKILL.md", "new");
        write(root.path(), "csv/evals/evals.json", "answers");
        write(root.path(), "work/.claude/skills/csv/SKILL.md", "of the template");
        write(root.path(), "work/.claude/skills/other/SKILL.md", "other");
        let to = ".agents/skills/csv".to_owned();
        let skill = WorkspaceCopy { from: PathRef::new("csv"), to, without: vec!["evals".to_owned()] };
        replace(root.path(), &[skill]).unwrap();
        let work = root.path().join("work");
        assert_eq!(fs::read_to_string(work.join(".agents/skills/csv/SKILL.md")).unwrap(), "new");
        assert!(!work.join(".agents/skills/csv/evals").exists() && !work.join(".claude/skills/csv").exists());
        assert!(work.join(".claude/skills/other/SKILL.md").is_file());
        replace(root.path(), &[]).unwrap();
        assert!(!work.join(".agents/skills/csv").exists());
    }

    #[test]
    fn nothing_outside_of_the_workspace_is_removed() {
        let root = tempfile::tempdir().unwrap();
        write(root.path(), "home/skills/csv/SKILL.md", "mine");
        fs::create_dir(root.path().join("work")).unwrap();
        symlink(root.path().join("home"), root.path().join("work/.claude")).unwrap();
        let error = replace(root.path(), &[]).unwrap_err();
        assert!(error.to_string().contains("leads out of the workspace"), "{error}");
        assert!(root.path().join("home/skills/csv/SKILL.md").is_file());
    }
}

#[cfg(test)]
mod reset_tests {
    use super::*;

    fn write(root: &Path, path: &str, text: &str) {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Everything below a directory, with its content.
    fn listed(root: &Path) -> Vec<String> {
        let mut found = Vec::new();
        let mut directories = vec![root.to_owned()];
        while let Some(directory) = directories.pop() {
            for name in fs::read_dir(&directory).unwrap().map(|entry| entry.unwrap().file_name()) {
                let path = directory.join(name);
                let shown = evalsuite_schema::discovery::with_slashes(path.strip_prefix(root).unwrap());
                if path.is_dir() {
                    directories.push(path);
                } else {
                    found.push(format!("{shown}={}", fs::read_to_string(path).unwrap()));
                }
            }
        }
        found.sort();
        found
    }

    #[test]
    fn changed_deleted_and_created_files_are_as_before() {
        let root = tempfile::tempdir().unwrap();
        let (base, pristine) = (root.path().join("base"), root.path().join("pristine"));
        for path in ["same", "changed", "deleted/a", "was_file", "node_modules/lib"] {
            write(&base, path, "old");
        }
        copy_to_trial(&base, &pristine).unwrap();
        let before = listed(&base);
        for reset in [Reset::Fast, Reset::Strict] {
            write(&base, "changed", "new");
            fs::remove_dir_all(base.join("deleted")).unwrap();
            fs::remove_file(base.join("was_file")).unwrap();
            write(&base, "was_file/now", "a directory");
            write(&base, "node_modules/cache", "kept by a fast reset");
            write(&base, "created/deep", "x");
            restore(&base, &pristine, &BaseFacts::default(), reset, Echo::Off).unwrap();
            let mut expected = before.clone();
            if reset == Reset::Fast {
                expected.push("node_modules/cache=kept by a fast reset".to_owned());
                expected.sort();
            }
            assert_eq!(listed(&base), expected);
        }
    }

    #[test]
    fn a_strict_reset_finds_a_change_that_keeps_the_modification_time() {
        let root = tempfile::tempdir().unwrap();
        let (base, pristine) = (root.path().join("base"), root.path().join("pristine"));
        write(&base, "a", "old");
        copy_to_trial(&base, &pristine).unwrap();
        let time = base.join("a").metadata().unwrap().modified().unwrap();
        write(&base, "a", "bad");
        fs::File::options().write(true).open(base.join("a")).unwrap().set_modified(time).unwrap();
        restore(&base, &pristine, &BaseFacts::default(), Reset::Strict, Echo::Off).unwrap();
        assert_eq!(listed(&base), ["a=old"]);
    }
}
