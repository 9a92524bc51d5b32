//! The working directory of a trial.

use std::{
    fs::{self, File},
    io,
    path::{Component, Path},
};

use evalsuite_schema::Workspace;

use crate::place::Places;

/// Makes a fresh directory with copies of what the case names, the base first.
///
/// # Errors
///
/// What could not be copied, and why.
pub(crate) fn materialise(workspace: Option<&Workspace>, target: &Path, places: &Places) -> Result<(), String> {
    fs::create_dir_all(target).map_err(|error| at(target, &error))?;
    let Some(workspace) = workspace else { return Ok(()) };
    for source in [&workspace.base_fixture, &workspace.template].into_iter().flatten() {
        let directory = places.resolve(source);
        if !directory.is_dir() {
            return Err(format!("the directory `{}` does not exist ({})", source.written, directory.display()));
        }
        copy(&directory, &directory, target)?;
    }
    Ok(())
}

/// Copies a directory's content without `.git`, over what is there; modes and modification times are kept.
fn copy(root: &Path, from: &Path, to: &Path) -> Result<(), String> {
    for entry in fs::read_dir(from).map_err(|error| at(from, &error))? {
        let entry = entry.map_err(|error| at(from, &error))?;
        if entry.file_name() == ".git" {
            continue;
        }
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        let metadata = fs::symlink_metadata(&source).map_err(|error| at(&source, &error))?;
        if metadata.is_symlink() {
            copy_link(root, &source, &target)?;
        } else if metadata.is_dir() {
            if fs::symlink_metadata(&target).is_ok_and(|there| !there.is_dir()) {
                remove(&target)?;
            }
            fs::create_dir_all(&target).map_err(|error| at(&target, &error))?;
            copy(root, &source, &target)?;
            // After its content: a directory may be read-only.
            fs::set_permissions(&target, metadata.permissions()).map_err(|error| at(&target, &error))?;
        } else if metadata.is_file() {
            remove(&target)?;
            fs::copy(&source, &target).map_err(|error| at(&source, &error))?;
            keep_time(&metadata, &target).map_err(|error| at(&target, &error))?;
        } else {
            return Err(format!("{} is neither a file, a directory nor a link", source.display()));
        }
    }
    Ok(())
}

fn keep_time(metadata: &fs::Metadata, target: &Path) -> io::Result<()> {
    let modified = metadata.modified()?;
    if metadata.permissions().readonly() {
        // The copy cannot be opened for writing, and its time matters less than its mode.
        return match File::open(target)?.set_modified(modified) {
            Err(error) if error.kind() != io::ErrorKind::PermissionDenied => Err(error),
            _ => Ok(()),
        };
    }
    File::options().write(true).open(target)?.set_modified(modified)
}

fn copy_link(root: &Path, source: &Path, target: &Path) -> Result<(), String> {
    let destination = fs::read_link(source).map_err(|error| at(source, &error))?;
    let inside = source.parent().is_some_and(|parent| stays_inside(root, parent, &destination));
    if !inside {
        return Err(format!("the link {} leads out of the workspace's template", source.display()));
    }
    remove(target)?;
    link(&destination, source, target).map_err(|error| at(target, &error))
}

/// Whether a link's destination lies below `root`, seen from `parent`, without looking at the disk.
fn stays_inside(root: &Path, parent: &Path, destination: &Path) -> bool {
    let Ok(parent) = parent.strip_prefix(root) else { return false };
    let mut depth = parent.components().count();
    for component in destination.components() {
        match component {
            Component::Normal(_) => depth += 1,
            Component::CurDir => {}
            Component::ParentDir if depth > 0 => depth -= 1,
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return false,
        }
    }
    true
}

#[cfg(unix)]
fn link(destination: &Path, _source: &Path, target: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(destination, target)
}

#[cfg(windows)]
fn link(destination: &Path, source: &Path, target: &Path) -> io::Result<()> {
    if source.is_dir() {
        std::os::windows::fs::symlink_dir(destination, target)
    } else {
        std::os::windows::fs::symlink_file(destination, target)
    }
}

/// Makes room for a file of the same name.
fn remove(target: &Path) -> Result<(), String> {
    let result = match fs::symlink_metadata(target) {
        Ok(there) if there.is_dir() => fs::remove_dir_all(target),
        Ok(_) => fs::remove_file(target),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    };
    result.map_err(|error| at(target, &error))
}

/// Removes a trial's directory or workspace, also where an agent made it read-only.
///
/// # Errors
///
/// If something cannot be removed.
pub(crate) fn discard(directory: &Path) -> io::Result<()> {
    match fs::remove_dir_all(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            make_writable(directory)?;
            fs::remove_dir_all(directory)
        }
        result => result,
    }
}

fn make_writable(directory: &Path) -> io::Result<()> {
    let mut permissions = fs::symlink_metadata(directory)?.permissions();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        permissions.set_mode(permissions.mode() | 0o700);
    }
    #[cfg(not(unix))]
    permissions.set_readonly(false);
    fs::set_permissions(directory, permissions)?;
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            make_writable(&entry.path())?;
        }
    }
    Ok(())
}

fn at(path: &Path, error: &io::Error) -> String {
    format!("{}: {error}", path.display())
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use evalsuite_schema::PathRef;

    use super::*;

    fn places(root: &Path) -> Places {
        Places { package_root: root.to_owned(), suite_dir: root.to_owned() }
    }

    fn reference(path: &str) -> Option<PathRef> {
        Some(PathRef { written: path.into(), path: path.into() })
    }

    #[test]
    fn the_template_is_laid_over_the_base_without_git() {
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
        discard(&target).unwrap();
        assert!(!target.exists());
    }

    #[test]
    fn a_link_that_leads_out_is_refused() {
        for (parent, destination, inside) in [
            ("/t", "a/b", true),
            ("/t/d", "../a", true),
            ("/t", "../a", false),
            ("/t/d", "../../a", false),
            ("/t", "/etc/passwd", false),
            ("/t", "a/../../t/x", false),
        ] {
            assert_eq!(
                stays_inside(Path::new("/t"), Path::new(parent), Path::new(destination)),
                inside,
                "{destination}"
            );
        }
    }

    #[test]
    fn a_missing_directory_is_named() {
        let root = tempfile::tempdir().unwrap();
        let workspace = Workspace { template: reference("gone"), ..Workspace::default() };
        let error = materialise(Some(&workspace), &root.path().join("copy"), &places(root.path())).unwrap_err();
        assert!(error.contains("`gone`"), "{error}");
    }
}
