//! A file of the user that cannot be written to the end, such as to a full disk, stays as it was.

#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use crate::package::Package;

/// Runs `cargo evalsuite …` where no file can have more than a few KiB.
fn run_on_full_disk(package: &Package, arguments: &str) {
    let program = assert_cmd::cargo::cargo_bin!("cargo-evalsuite").display().to_string();
    // Without the trap, the signal ends the program before it can report the error.
    let line = format!("trap '' XFSZ; ulimit -f 8; exec '{program}' evalsuite {arguments}");
    let mut command = assert_cmd::Command::new("sh");
    let output = command.args(["-c", &line]).current_dir(package.root()).output().expect("a shell");
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && error.contains("File too large"), "{arguments}: {error}");
}

#[test]
fn what_cannot_be_written_leaves_the_old_file_with_its_mode_and_its_line_ends() {
    let padding = "# a line of the user\r\n".repeat(2_000);
    let suite = "name: shop\r\ntests:\r\n  - id: a\r\n    input: hi\r\n    assert:\r\n      - contains: hello\r\n";
    let configuration = format!(
        "prompts: ['Say {{{{word}}}} {}']\nproviders: [echo]\ntests:\n  - vars: {{ word: tea }}\n    assert: [{{ type: contains, value: tea }}]\n",
        "x".repeat(40_000)
    );
    for (arguments, file, old, changed) in [
        ("check --fix", "suites/shop/EVAL.yaml", format!("{padding}{suite}"), "assertions:\r\n"),
        ("new suite --force", "Cargo.toml", format!("{padding}[package]\r\nname = \"cards\"\r\n"), "evalsuite"),
        ("convert . suites/words --force", "suites/words/EVAL.yaml", format!("{padding}mine: 1\r\n"), "Say tea"),
    ] {
        let package = Package::new(&[("promptfooconfig.yaml", &configuration), (file, &old)]);
        let path = package.root().join(file);
        let mode = || fs::metadata(&path).expect("the file").permissions().mode() & 0o777;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).expect("a mode");
        run_on_full_disk(&package, arguments);
        assert_eq!((fs::read_to_string(&path).expect("the file"), mode()), (old, 0o640), "{arguments}");
        let beside = fs::read_dir(path.parent().expect("a directory")).expect("a directory");
        let left =
            beside.filter(|entry| entry.as_ref().is_ok_and(|entry| entry.path().extension() == Some("tmp".as_ref())));
        assert_eq!(left.count(), 0, "{arguments}: a temporary file is left");
        let output = package.run(&Vec::from_iter(arguments.split(' ')));
        let new = fs::read_to_string(&path).expect("the file");
        assert!(new.contains(changed), "{arguments}: {}{}", output.out, output.err);
        let lines = || new.split_inclusive('\n').filter(|line| line.ends_with('\n'));
        assert!(lines().all(|line| line.ends_with("\r\n")), "{arguments}");
        assert_eq!(mode(), 0o640, "{arguments}");
    }
}
