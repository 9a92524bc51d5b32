//! Paths as people read them.

use std::path::Path;

use evalsuite_loader::workspace_root;

use crate::platform::cli_error::Result;

/// A path as it is typed in the current directory.
pub(crate) fn relative(path: &Path) -> Result<String> {
    let here = std::env::current_dir()?;
    let shown = match path.strip_prefix(&here) {
        Ok(below) if below.as_os_str().is_empty() => Path::new(".").to_owned(),
        Ok(below) => below.to_owned(),
        // In the same workspace, the way up is short.
        Err(_) => {
            let root = workspace_root(&here);
            let up =
                here.ancestors().take_while(|parent| parent.starts_with(&root)).position(|up| path.starts_with(up));
            let path_up = up.and_then(|up| Some((here.ancestors().nth(up)?, up)));
            path_up
                .and_then(|(above, up)| Some(Path::new(&"../".repeat(up)).join(path.strip_prefix(above).ok()?)))
                .unwrap_or_else(|| path.to_owned())
        }
    };
    Ok(shown.display().to_string())
}
