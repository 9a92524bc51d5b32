use std::{fs, io, path::Path};

/// Removes a directory and all it holds, also where an agent made it read-only.
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

/// Makes room for something else of the same name.
pub(crate) fn make_room(target: &Path) -> io::Result<()> {
    match fs::symlink_metadata(target) {
        Ok(there) if there.is_dir() => discard(target),
        Ok(_) => fs::remove_file(target),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
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
