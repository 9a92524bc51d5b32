//! Lets cargo notice added, renamed and removed cases, and finds the examples of `agent-client-protocol`, which tests start as agents.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

const CRATE: &str = "agent-client-protocol";

fn main() {
    evalsuite_build::track("suites");
    println!("cargo:rerun-if-changed=build.rs");
    let examples = crate_directory().join("examples");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    for name in ["simple_agent.rs", "simple_agent_v2.rs"] {
        let source = fs::read_to_string(examples.join(name)).expect("the crate is published with its examples");
        // An included file cannot begin with the documentation of a crate.
        let code: Vec<&str> = source.lines().filter(|line| !line.starts_with("//!")).collect();
        fs::write(out.join(name), code.join("\n")).expect("cargo made OUT_DIR");
    }
}

/// Where cargo unpacked the crate.
fn crate_directory() -> PathBuf {
    let cargo = env::var_os("CARGO").expect("cargo sets it");
    let target = env::var("TARGET").expect("cargo sets it");
    let metadata = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--locked", "--filter-platform", &target])
        .output()
        .expect("cargo runs");
    assert!(metadata.status.success(), "{}", String::from_utf8_lossy(&metadata.stderr));
    let metadata: serde_json::Value = serde_json::from_slice(&metadata.stdout).expect("cargo writes JSON");
    let packages = metadata["packages"].as_array().expect("a list");
    let package = packages.iter().find(|package| package["name"] == CRATE).expect("a dependency of this package");
    let manifest = Path::new(package["manifest_path"].as_str().expect("a path"));
    manifest.parent().expect("a file is in a directory").to_owned()
}
