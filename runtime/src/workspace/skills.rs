//! The skill of a target in a workspace, without the skills of other targets.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use evalsuite_schema::WorkspaceCopy;

use crate::model::suite_location::SuiteLocation;
use crate::platform::files::error_at;
use crate::workspace::base;
use crate::workspace::copy::remove_entry;

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
    skill.iter().try_for_each(|copy| base::copy(copy, workspace, location))
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
    use std::fs;
    use std::os::unix::fs::symlink;

    use evalsuite_schema::PathRef;

    use super::*;

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
