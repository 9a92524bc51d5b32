//! Which programs the runtime starts for itself.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::failing_test::run_test_in;

/// Makes a program that writes its name to a file, and answers like git.
fn install(bin: &Path, name: &str, calls: &Path) {
    let script = format!("#!/bin/sh\necho {name} >> '{}'\necho '# branch.oid 0123abcd'\n", calls.display());
    fs::write(bin.join(name), script).unwrap();
    fs::set_permissions(bin.join(name), fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn a_case_without_commands_starts_git_once_per_run_and_nothing_else() {
    let directory = tempfile::tempdir().unwrap();
    let (bin, calls) = (directory.path().join("bin"), directory.path().join("calls"));
    fs::create_dir(&bin).unwrap();
    ["git", "sh"].into_iter().for_each(|name| install(&bin, name, &calls));
    let variables = [("PATH", bin.to_str().unwrap()), ("EVALSUITE_RUN_ID", "one")];
    for _ in 0..2 {
        let (passed, out, err) = run_test_in(directory.path(), 0, &variables);
        assert!(passed, "{out}{err}");
        assert_eq!(fs::read_to_string(&calls).unwrap(), "git\n");
        let run = fs::read(directory.path().join("runs/one/run.json")).unwrap();
        let run: evalsuite_schema::Value = evalsuite_schema::json::from_slice(&run).unwrap();
        assert_eq!(run["git"]["commit"], "0123abcd", "the answer is in the record when the first test ends");
    }
}
