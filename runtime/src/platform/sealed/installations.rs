//! Programs outside of the system's directories: those on the PATH, with the libraries next to them.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::{env, fs};

/// Where the files of a program are, beside its directory `bin`.
const BESIDE_PROGRAMS: &[&str] =
    &["bin", "lib", "lib32", "lib64", "libexec", "include", "pyvenv.cfg", "Cellar", "Frameworks"];

/// Toolchain managers: the directory of their programs in the home directory, their own, and the variable that names it.
const MANAGERS: &[(&str, &str, &str)] = &[
    (".cargo/bin", ".rustup", "RUSTUP_HOME"),
    (".pyenv/shims", ".pyenv", "PYENV_ROOT"),
    (".rbenv/shims", ".rbenv", "RBENV_ROOT"),
    (".nodenv/shims", ".nodenv", "NODENV_ROOT"),
    (".asdf/shims", ".asdf", "ASDF_DATA_DIR"),
    (".volta/bin", ".volta", "VOLTA_HOME"),
    (".local/share/mise/shims", ".local/share/mise", "MISE_DATA_DIR"),
];

/// The most links in a directory of programs that are followed.
const MOST_LINKS: usize = 2000;

/// What programs on the PATH need, found once per process.
pub(super) fn of_search_path() -> &'static [PathBuf] {
    static FOUND: OnceLock<Vec<PathBuf>> = OnceLock::new();
    FOUND.get_or_init(|| {
        let path = env::var_os("PATH").unwrap_or_default();
        let mut found: Vec<PathBuf> = env::split_paths(&path).flat_map(|directory| of_directory(&directory)).collect();
        found.extend(manager_variables().map(|(_, directory)| directory));
        found.retain(|path| !is_of_system(path));
        found.sort();
        found.dedup();
        found
    })
}

/// Variables by which the programs of toolchain managers on the PATH find their toolchains, whatever the home directory is.
pub(super) fn manager_variables() -> impl Iterator<Item = (&'static str, PathBuf)> {
    let path = env::var_os("PATH").unwrap_or_default();
    let home = env::home_dir().unwrap_or_default();
    let on_path: Vec<PathBuf> = env::split_paths(&path).collect();
    let used = move |&(programs, own, variable): &(&str, &str, &'static str)| {
        let directory = env::var_os(variable).map_or_else(|| home.join(own), PathBuf::from);
        let is_used = on_path.contains(&home.join(programs)) || env::var_os(variable).is_some();
        (is_used && directory.is_dir()).then_some((variable, directory))
    };
    MANAGERS.iter().filter_map(used)
}

/// A directory of programs, with what links in it lead to.
fn of_directory(directory: &Path) -> Vec<PathBuf> {
    let Ok(real) = directory.canonicalize() else { return Vec::new() };
    if is_of_system(&real) || is_around_home(&real) {
        return Vec::new();
    }
    let mut found = beside(&real);
    let entries = fs::read_dir(&real).into_iter().flatten().flatten();
    let links = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_symlink())).take(MOST_LINKS);
    for program in links.filter_map(|link| link.path().canonicalize().ok()) {
        if !program.starts_with(&real) && !is_of_system(&program) {
            found.extend(of_program(&program));
        }
    }
    found.push(real);
    found
}

/// A program, and what is installed with it.
pub(super) fn of_program(program: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    if let Some(directory) = program.parent() {
        found.extend(beside(directory));
    }
    if let Ok(real) = program.canonicalize() {
        found.extend(real.parent().map(beside).unwrap_or_default());
        found.push(real);
    }
    found.retain(|path| !is_of_system(path));
    found
}

/// What is next to the directory `bin` of an installation. Directories of users that have a `bin` are none.
fn beside(programs: &Path) -> Vec<PathBuf> {
    let Some(prefix) = programs.parent().filter(|_| programs.ends_with("bin")) else { return Vec::new() };
    if is_around_home(prefix) || prefix.parent().is_none() {
        return Vec::new();
    }
    BESIDE_PROGRAMS.iter().map(|name| prefix.join(name)).filter(|path| path.exists()).collect()
}

fn is_around_home(path: &Path) -> bool {
    env::home_dir()
        .is_some_and(|home| home.starts_with(path) || home.canonicalize().is_ok_and(|home| home.starts_with(path)))
}

fn is_of_system(path: &Path) -> bool {
    ["/usr", "/bin", "/sbin", "/lib", "/lib64", "/opt"].iter().any(|system| path.starts_with(system))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_next_to_a_program_belong_to_it() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        for directory in ["node/bin", "node/lib", "node/private", "links/bin"] {
            fs::create_dir_all(root.join(directory)).unwrap();
        }
        fs::write(root.join("node/bin/node"), "").unwrap();
        std::os::unix::fs::symlink(root.join("node/bin/node"), root.join("links/bin/node")).unwrap();
        let found = of_directory(&root.join("links/bin"));
        assert!(found.contains(&root.join("node/lib")) && found.contains(&root.join("node/bin/node")), "{found:?}");
        assert!(!found.iter().any(|path| path.ends_with("private")), "{found:?}");
        assert!(of_directory(&root.join("gone")).is_empty());
    }
}
