//! The package and source file of a call.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use std::{env, fs};

use evalsuite_codegen::cargo_environment;
use evalsuite_codegen::expansion::{CacheLocation, Context};
use evalsuite_loader::Request;
use proc_macro2::Span;

/// What the compiler and cargo say about a call with the path `entry` in a source file.
pub(crate) fn context(entry: &str, source_file: Option<&Path>) -> Result<Context, String> {
    let of_cargo = PathBuf::from(cargo_environment::variable("CARGO_MANIFEST_DIR")?);
    let source_dir = source_file.and_then(Path::parent);
    // A path relative to the source file is one of the package that this file belongs to. It is another one than cargo's where a test tool
    // compiles the file inside a generated package.
    let mut around = source_dir.filter(|_| entry.starts_with("./")).into_iter().flat_map(Path::ancestors);
    let package_root = around.find(|parent| parent.join("Cargo.toml").is_file()).unwrap_or(&of_cargo);
    let mut request = Request::new(entry, package_root);
    request.source_dir = source_dir.map(Path::to_path_buf);
    let mut context = Context::new(request);
    context.source_file = source_file.map(Path::to_path_buf);
    context.cache = cache_location();
    context.deny_warnings = cargo_environment::warnings_are_denied()?;
    Ok(context)
}

/// Where the suite is stored for the next expansion: in a package with a build script, by a compiler that cargo has called.
fn cache_location() -> Option<CacheLocation> {
    Some(CacheLocation { out_dir: env::var_os("OUT_DIR")?.into(), program: macro_library_stamps()? })
}

/// The source file at `span`. Language servers often do not know it.
pub(crate) fn source_file(span: Span) -> Option<PathBuf> {
    let file = span.unwrap().local_file()?;
    // The compiler's paths are relative to the directory it was started in.
    Some(env::current_dir().ok()?.join(file))
}

/// Name, size and time of every library with this macro in the directories that the compiler was told to search, of which one was loaded.
/// `None` if there is none, or this is not the compiler but a language server.
fn macro_library_stamps() -> Option<String> {
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
