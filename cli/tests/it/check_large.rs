//! `cargo evalsuite check` of suites that are made to take time and memory: each ends with the expected problem, in limited memory.
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use evalsuite_needs::slow;
use evalsuite_tests::large_suites::{LARGE_SUITES, LargeSuite};

/// Most memory of a process, in KiB, far more than any of these takes: the campaign asks for 256 MiB. The limit is one of addresses, of
/// which threads reserve more than they use.
const ADDRESSES: u64 = 2 << 20;

fn check(large: &LargeSuite, package: &Path) -> Result<(), String> {
    fs::write(package.join("Cargo.toml"), "[package]\nname = \"large\"\n").expect("a manifest");
    for (path, text) in (large.files)() {
        let path = package.join("suite").join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        fs::write(path, text).expect("a file");
    }
    let output = Command::new("sh")
        .args(["-c", &format!("ulimit -v {ADDRESSES}; exec \"$0\" evalsuite check suite --format short")])
        .arg(assert_cmd::cargo::cargo_bin!("cargo-evalsuite"))
        .current_dir(package)
        .stdin(Stdio::null())
        .output()
        .expect("the program runs");
    let out = String::from_utf8_lossy(&output.stdout);
    let is_expected = match large.code {
        "" => output.status.success(),
        code => output.status.code() == Some(1) && out.contains(&format!("error[{code}]")),
    };
    let start: String = out.chars().take(300).collect();
    let errors = String::from_utf8_lossy(&output.stderr).chars().take(300).collect::<String>();
    if !is_expected {
        return Err(format!("{}: {}, expected {:?}\n{start}\n{errors}", large.name, output.status, large.code));
    }
    // A thousand problems of a thousand characters each are printed.
    if out.len() > 2 << 20 {
        return Err(format!("{}: {} bytes are printed\n{start}", large.name, out.len()));
    }
    Ok(())
}

/// Every fourth suite, so that tests run beside each other.
fn check_part(part: usize) {
    let problems: Vec<String> = LARGE_SUITES
        .iter()
        .skip(part)
        .step_by(4)
        .filter_map(|large| {
            let package = tempfile::tempdir().expect("a temporary directory");
            check(large, package.path()).err()
        })
        .collect();
    assert!(problems.is_empty(), "{}", problems.join("\n\n"));
}

#[slow(hostile)]
#[test]
fn large_suites_are_refused_or_checked_in_limited_memory_1() {
    check_part(0);
}

#[slow(hostile)]
#[test]
fn large_suites_are_refused_or_checked_in_limited_memory_2() {
    check_part(1);
}

#[slow(hostile)]
#[test]
fn large_suites_are_refused_or_checked_in_limited_memory_3() {
    check_part(2);
}

#[slow(hostile)]
#[test]
fn large_suites_are_refused_or_checked_in_limited_memory_4() {
    check_part(3);
}
