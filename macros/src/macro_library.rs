//! The file that this macro was loaded from: a suite is taken from the cache only by the macro that stored it.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use std::{env, fs};

/// Name, size and time of every library with this macro in the directories that the compiler was told to search, of which one was loaded.
/// `None` if there is none, or this is not the compiler but a language server.
pub(crate) fn stamps() -> Option<String> {
    let mut stamps: Vec<String> =
        dependency_directories(env::args_os()).iter().flat_map(|path| libraries(path)).collect();
    stamps.sort();
    stamps.dedup();
    (!stamps.is_empty()).then(|| stamps.join(" "))
}

/// `-L dependency=DIRECTORY` in the arguments of rustc.
fn dependency_directories(arguments: impl Iterator<Item = impl AsRef<OsStr>>) -> Vec<PathBuf> {
    let directory = |argument: &OsStr| {
        let argument = argument.to_str()?;
        argument.strip_prefix("-L").unwrap_or(argument).strip_prefix("dependency=").map(PathBuf::from)
    };
    arguments.filter_map(|argument| directory(argument.as_ref())).collect()
}

fn libraries(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).into_iter().flatten();
    let stamp = |entry: fs::DirEntry| {
        let name = entry.file_name().into_string().ok()?;
        if !name.contains(env!("CARGO_CRATE_NAME")) || !name.ends_with(env::consts::DLL_SUFFIX) {
            return None;
        }
        let metadata = entry.metadata().ok()?;
        let modified = metadata.modified().ok()?.duration_since(SystemTime::UNIX_EPOCH).ok()?;
        Some(format!("{name}-{}-{}", metadata.len(), modified.as_nanos()))
    };
    entries.filter_map(|entry| stamp(entry.ok()?)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_are_taken_from_both_forms_of_the_option() {
        let arguments = ["rustc", "-L", "dependency=/t/deps", "-Ldependency=/host/deps", "-L", "native=/x", "a.rs"];
        assert_eq!(dependency_directories(arguments.iter()), [Path::new("/t/deps"), Path::new("/host/deps")]);
    }

    #[test]
    fn another_build_of_the_macro_has_another_stamp() {
        let directory = env::temp_dir().join(format!("evalsuite-macro-library-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        let library = directory.join(format!("libevalsuite_macros-0123{}", env::consts::DLL_SUFFIX));
        assert_eq!(libraries(&directory), [""; 0]);
        fs::write(&library, "one").unwrap();
        fs::write(directory.join("libevalsuite_macros-0123.d"), "").unwrap();
        let one = libraries(&directory);
        assert_eq!(one.len(), 1);
        fs::write(&library, "other").unwrap();
        assert_ne!(libraries(&directory), one);
        fs::remove_dir_all(&directory).unwrap();
    }
}
