//! Finds what tests need besides a Rust toolchain and the basic programs of a POSIX system.

use std::env;
use std::path::Path;
use std::process::{Command, Stdio};

/// What an attribute names, the reason for which its tests are ignored, and a way to find out whether it is there.
type Need = (&'static str, &'static str, fn() -> bool);

/// Programs and files. A CI server has all of them: there, tests without them fail.
const TOOLS: &[Need] = &[
    ("nextest", "needs cargo-nextest", || {
        works(&env::var("CARGO").expect("cargo runs this"), &["nextest", "--version"])
    }),
    ("chromium", "needs Chromium", || {
        ["chromium", "chromium-browser", "google-chrome"].iter().any(|program| works(program, &["--version"]))
    }),
    ("axe", "needs axe-core, in the file that EVALSUITE_AXE names", has_axe),
    ("node", "needs node", || works("node", &["--version"])),
    ("python", "needs python3", || works("python3", &["--version"])),
    ("git", "needs git", || works("git", &["--version"])),
    ("script", "needs script, of util-linux", || works("script", &["--version"])),
    ("ps", "needs ps", || works("ps", &[])),
    ("readelf", "needs readelf", || works("readelf", &["--version"])),
    ("c_compiler", "needs the C compiler cc", || works("cc", &["--version"])),
];

/// What no installation changes. Without them, tests are ignored on CI servers too.
const PRIVILEGES: &[Need] = &[
    ("mounts", "needs a user who may mount a file system in an own namespace", || {
        works("unshare", &["-rm", "sh", "-c", "mount -t tmpfs none /tmp"])
    }),
    ("permissions", "needs a user who is bound by the permissions of files, not root", || {
        !works("sh", &["-c", "test \"$(id -u)\" = 0"])
    }),
    (
        "corpus",
        "needs third-party suites, in ../shared/corpus or the directory that EVALSUITE_CORPUS names",
        has_corpus,
    ),
];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=PATH");
    let missing = |needs: &'static [Need]| needs.iter().filter(|(_, _, is_there)| !is_there()).collect::<Vec<_>>();
    let (mut ignored, tools) = (missing(PRIVILEGES), missing(TOOLS));
    if !tools.is_empty() {
        println!("cargo::rerun-if-env-changed=CI");
        // Programs are installed in directories like these.
        let path = env::var_os("PATH").unwrap_or_default();
        for directory in env::split_paths(&path).filter(|directory| directory.ends_with("bin") && directory.is_dir()) {
            println!("cargo::rerun-if-changed={}", directory.display());
        }
    }
    if env::var_os("CI").is_none() {
        ignored.extend(tools);
    }
    let ignored: Vec<String> = ignored.iter().map(|(name, reason, _)| format!("{name}={reason}")).collect();
    let known: Vec<&str> = TOOLS.iter().chain(PRIVILEGES).map(|(name, _, _)| *name).collect();
    println!("cargo::rustc-env=IGNORED_NEEDS={}", ignored.join(";"));
    println!("cargo::rustc-env=KNOWN_NEEDS={}", known.join(";"));
}

fn works(program: &str, arguments: &[&str]) -> bool {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// The tests read the same files.
fn has_axe() -> bool {
    let downloaded = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/axe/package/axe.min.js");
    if downloaded.is_file() {
        println!("cargo::rerun-if-changed={}", downloaded.display());
        return true;
    }
    println!("cargo::rerun-if-env-changed=EVALSUITE_AXE");
    env::var_os("EVALSUITE_AXE").is_some_and(|file| Path::new(&file).is_file())
}

/// The tests look for the same directories.
fn has_corpus() -> bool {
    println!("cargo::rerun-if-env-changed=EVALSUITE_CORPUS");
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus");
    beside.is_dir() || env::var_os("EVALSUITE_CORPUS").is_some_and(|directory| Path::new(&directory).is_dir())
}
