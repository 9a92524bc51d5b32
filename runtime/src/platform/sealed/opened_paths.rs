//! The files and directories that a sealed command may use: what it names, its own home directory and directory for temporary files, and
//! programs on the PATH outside of the system's directories, with the libraries next to them.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::{env, fs, io, process};

use crate::platform::sealed::SealedStart;

/// A path that is opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct OpenedPath {
    pub(super) path: PathBuf,
    pub(super) rights: Rights,
    /// Whether the command starts without it if it does not exist.
    pub(super) is_optional: bool,
}

/// What may be done below a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rights {
    /// Read and run.
    Read,
    /// Read, run and change.
    Write,
    /// Read and write a device.
    Device,
}

/// Programs, libraries and settings of the system.
const SYSTEM: &[&str] = &[
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/etc",
    "/opt",
    "/nix/store",
    "/gnu/store",
    "/run/current-system",
    "/snap",
];

/// Files of the system that links in /etc lead to, and facts about processors and memory. Files of other processes are not among them, so
/// neither is `/proc/self`: which directory that is, is not known before the program runs.
const FACTS: &[&str] = &[
    "/etc/resolv.conf",
    "/etc/hosts",
    "/etc/localtime",
    "/proc/cpuinfo",
    "/proc/filesystems",
    "/proc/loadavg",
    "/proc/meminfo",
    "/proc/stat",
    "/proc/sys",
    "/proc/uptime",
    "/proc/version",
    "/proc/version_signature",
    "/sys/devices/system/cpu",
    "/sys/fs/cgroup",
    "/sys/kernel/mm/transparent_hugepage",
];

const DEVICES: &[&str] = &["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];
/// First version of Landlock that can refuse the commands of a terminal.
const TERMINAL_SINCE: u32 = 5;

/// All paths that a command may use. The error is one that the settings name and that is not there.
pub(super) fn of(start: &SealedStart) -> io::Result<Vec<OpenedPath>> {
    let files = &start.files;
    let hidden: Vec<PathBuf> = files.hidden.iter().filter_map(|path| path.canonicalize().ok()).collect();
    let mut opened = Vec::new();
    let mut add = |paths: Vec<PathBuf>, rights, is_optional| {
        opened.extend(paths.into_iter().map(|path| OpenedPath { path, rights, is_optional }));
    };
    for directory in SYSTEM.iter().chain(FACTS).map(Path::new).filter_map(|path| path.canonicalize().ok()) {
        add(around(&directory, &hidden), Rights::Read, true);
    }
    for path in of_search_path() {
        add(around(path, &hidden), Rights::Read, true);
    }
    for device in DEVICES {
        add(vec![device.into()], Rights::Device, true);
    }
    if start.rules.landlock_abi >= TERMINAL_SINCE {
        add(vec!["/dev/tty".into()], Rights::Device, true);
    }
    for (paths, rights) in [(&files.read, Rights::Read), (&files.write, Rights::Write)] {
        for path in paths {
            add(explicit(path, &hidden)?, rights, false);
        }
    }
    for file in &files.named {
        add(vec![file.clone()], Rights::Read, false);
        for path in of_program(file) {
            add(around(&path, &hidden), Rights::Read, true);
        }
    }
    if let Some(working) = files.working.as_ref().and_then(|path| path.canonicalize().ok()) {
        add(around(&working, &hidden), Rights::Read, true);
    }
    let own = start.directories.all();
    add(files.own.iter().cloned().chain(own.map(Path::to_owned)).collect(), Rights::Write, false);
    Ok(opened)
}

/// What the settings name. A hidden directory itself is not opened, whoever names it.
fn explicit(path: &Path, hidden: &[PathBuf]) -> io::Result<Vec<PathBuf>> {
    let real =
        path.canonicalize().map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))?;
    if hidden.contains(&real) {
        let why = "is the directory of the suite, of its records, or of cargo; name a file or directory in it";
        return Err(io::Error::other(format!("{} {why}", path.display())));
    }
    Ok(around(&real, hidden))
}

/// A directory without the hidden ones in it: itself, or its entries beside them. What is in a hidden directory stays as it is named.
fn around(path: &Path, hidden: &[PathBuf]) -> Vec<PathBuf> {
    if hidden.iter().any(|hidden| hidden == path) {
        return Vec::new();
    }
    if !hidden.iter().any(|hidden| hidden.starts_with(path)) {
        return vec![path.to_owned()];
    }
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    entries
        .filter(|entry| !entry.file_type().is_ok_and(|kind| kind.is_symlink()))
        .flat_map(|entry| around(&entry.path(), hidden))
        .collect()
}

/// Two directories that are made for one command, or for all calls of a trial's agent, and removed with this value.
///
/// They are in the system's directory for temporary files, not with the records: the path of a Unix socket has at most 107 characters.
#[derive(Debug)]
pub(crate) struct OwnDirectories {
    root: PathBuf,
    home: PathBuf,
    temporary: PathBuf,
}

impl OwnDirectories {
    /// New, empty directories.
    pub(crate) fn new() -> io::Result<Self> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let around = env::temp_dir().canonicalize()?;
        loop {
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let root = around.join(format!("evalsuite-{}-{number}", process::id()));
            match make_private(&root) {
                Ok(()) => {
                    let made = Self { home: root.join("home"), temporary: root.join("tmp"), root };
                    fs::create_dir(&made.home)?;
                    fs::create_dir(&made.temporary)?;
                    return Ok(made);
                }
                // Left by a process with the same id that was killed.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => {
                    return Err(io::Error::new(error.kind(), format!("{} cannot be made: {error}", root.display())));
                }
            }
        }
    }

    /// The empty home directory.
    pub(crate) fn home(&self) -> &Path {
        &self.home
    }

    /// The directory for temporary files.
    pub(crate) fn temporary(&self) -> &Path {
        &self.temporary
    }

    /// Both.
    pub(crate) fn all(&self) -> [&Path; 2] {
        [&self.home, &self.temporary]
    }

    /// Lets the command find those of the paths in its home directory that are in the user's.
    pub(crate) fn link<'p>(&self, paths: impl IntoIterator<Item = &'p PathBuf>) -> io::Result<()> {
        let Some(home) = env::home_dir() else { return Ok(()) };
        for path in paths {
            let Ok(inner) = path.strip_prefix(&home) else { continue };
            let link = self.home.join(inner);
            if inner.as_os_str().is_empty() || link.symlink_metadata().is_ok() {
                continue;
            }
            fs::create_dir_all(link.parent().unwrap_or(&self.home))?;
            #[cfg(unix)]
            std::os::unix::fs::symlink(path, link)?;
        }
        Ok(())
    }
}

impl Drop for OwnDirectories {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.root) {
            eprintln!("evalsuite: {} cannot be removed: {error}", self.root.display());
        }
    }
}

/// Makes a directory that only this user can enter.
fn make_private(directory: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(directory)
}

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
fn of_search_path() -> &'static [PathBuf] {
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
    fn a_directory_is_opened_without_the_hidden_ones_in_it() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        for directory in ["suites/shop/cases", "suites/other", "src", "target"] {
            fs::create_dir_all(root.join(directory)).unwrap();
        }
        fs::write(root.join("main.py"), "").unwrap();
        std::os::unix::fs::symlink(root.join("target"), root.join("link")).unwrap();
        let hidden = [root.join("suites/shop"), root.join("target")];
        let mut opened = around(&root, &hidden);
        opened.sort();
        assert_eq!(opened, [root.join("main.py"), root.join("src"), root.join("suites/other")]);
        assert_eq!(around(&root.join("src"), &hidden), [root.join("src")]);
        assert_eq!(around(&root.join("suites/shop/cases"), &hidden), [root.join("suites/shop/cases")]);
        assert!(around(&root.join("target"), &hidden).is_empty());
        assert!(
            explicit(&root.join("target"), &hidden).unwrap_err().to_string().contains("is the directory of the suite")
        );
        assert!(explicit(&root.join("gone"), &hidden).unwrap_err().to_string().contains("gone"));
    }

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
