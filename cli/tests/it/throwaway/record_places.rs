//! Test programs write their records where the command line looks for them, whatever cargo puts where.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use evalsuite_needs::{needs, slow};
use evalsuite_tests::throwaway::{Artifact, Call, Package, suites};
use serde_json::Value;

/// A way to run the tests of the workspace. In all texts `SHOP` is the name of a package, `SHARED` is the target directory of all throw-away packages, in which their
/// dependencies are built, and `OWN` an empty directory outside of the workspace.
struct Layout {
    name: &'static str,
    /// Arguments of cargo.
    command: &'static [&'static str],
    /// Where cargo is called, relative to the workspace.
    directory: &'static str,
    variables: &'static [(&'static str, &'static str)],
    /// `.cargo/config.toml` of the workspace.
    config: &'static str,
}

const TESTS: &[&str] = &["test", "--workspace"];
const TARGET: (&str, &str) = ("CARGO_TARGET_DIR", "SHARED");
const BUILD: (&str, &str) = ("CARGO_BUILD_BUILD_DIR", "SHARED");
const PLAIN: Layout = Layout { name: "workspace", command: TESTS, directory: "", variables: &[TARGET], config: "" };

const LAYOUTS: &[Layout] = &[
    PLAIN,
    Layout { name: "package-of-workspace", command: &["test", "-p", "SHOP"], ..PLAIN },
    Layout { name: "in-member", command: &["test"], directory: "crates/shop", ..PLAIN },
    Layout { name: "in-sources", command: &["test"], directory: "crates/shop/src", ..PLAIN },
    Layout { name: "relative-target", variables: &[("CARGO_TARGET_DIR", "../../throwaway")], ..PLAIN },
    Layout {
        name: "relative-target-in-member",
        directory: "crates/shop",
        variables: &[("CARGO_TARGET_DIR", "../../../../throwaway")],
        ..PLAIN
    },
    Layout { name: "target-option", command: &["test", "--target-dir", "SHARED"], variables: &[], ..PLAIN },
    Layout { name: "build-dir", variables: &[BUILD], ..PLAIN },
    Layout { name: "build-dir-and-target", variables: &[BUILD, ("CARGO_TARGET_DIR", "OWN/target")], ..PLAIN },
    Layout {
        name: "build-dir-in-config",
        variables: &[],
        config: "[build]\nbuild-dir = 'SHARED'\ntarget-dir = 'OWN/target'\n",
        ..PLAIN
    },
    // The program runs where `-Zbuild-dir-new-layout` puts it.
    Layout {
        name: "build-dir-of-cargo-1.100",
        config: "[target.'cfg(all())']\nrunner = ['OWN/move', 'OWN/build/debug/build/shop/0123456789abcdef/out']\n",
        ..PLAIN
    },
    // No `CACHEDIR.TAG` is around it.
    Layout {
        name: "target-made-by-hand",
        config: "[target.'cfg(all())']\nrunner = ['OWN/move', 'OWN/volume/debug/deps']\n",
        ..PLAIN
    },
    Layout { name: "nextest", command: &["nextest", "run", "--workspace"], ..PLAIN },
    Layout {
        name: "nextest-in-member",
        command: &["nextest", "run", "-p", "SHOP"],
        directory: "crates/shop",
        variables: &[BUILD, ("CARGO_TARGET_DIR", "OWN/target")],
        ..PLAIN
    },
];

/// Runs a program at another place: `move DIRECTORY PROGRAM ARGUMENTS…`.
const MOVE: &str = "#!/bin/sh\nset -e\nmkdir -p \"$1\"\ncp \"$2\" \"$1\"\nprogram=$1/$(basename \"$2\")\nshift 2\nexec \"$program\" \"$@\"\n";

struct Workspace {
    package: Package,
    shared: PathBuf,
    own: PathBuf,
}

impl Workspace {
    fn new(name: &str) -> Self {
        let package = Package::workspace(name, &["crates/*"]);
        for member in ["shop", "desk"] {
            add_member(&package, member);
        }
        let shared =
            package.root().ancestors().nth(2).expect("packages are in a folder of the target").join("throwaway");
        let own = std::env::temp_dir().join(format!("evalsuite-record-places-{}-{name}", std::process::id()));
        Self { package, shared, own }
    }

    /// Starts a layout from an empty `target` and an empty directory of its own.
    fn begin(&self, config: &str) {
        for directory in [&self.package.root().join("target"), &self.own] {
            let _ = fs::remove_file(directory).or_else(|_| fs::remove_dir_all(directory));
        }
        fs::create_dir_all(&self.own).expect("a directory");
        fs::write(self.own.join("move"), MOVE).expect("a script");
        make_executable(&self.own.join("move"));
        self.package.write(".cargo/config.toml", &self.filled(config));
    }

    fn filled(&self, text: &str) -> String {
        let path = |path: &Path| path.to_str().expect("UTF-8").to_owned();
        text.replace("SHOP", &member_name(&self.package, "shop"))
            .replace("SHARED", &path(&self.shared))
            .replace("OWN", &path(&self.own))
    }

    /// Cargo as users call it: without a variable that says where records are.
    fn cargo(&self, layout: &Layout) -> Call {
        let arguments: Vec<String> = layout.command.iter().map(|argument| self.filled(argument)).collect();
        let call = self.package.cargo(arguments.iter().map(String::as_str));
        let call = call.without_env("EVALSUITE_OUTPUT").without_env("CARGO_TARGET_DIR");
        let call = call.in_directory(&self.package.root().join(layout.directory));
        layout.variables.iter().fold(call, |call, (name, value)| call.env(name, self.filled(value)))
    }

    fn assert_runs(&self, layout: &str, ids: &[&str]) {
        for directory in ["", "crates/shop", "crates/desk/suites"] {
            let found = runs_seen_in(&self.package, &self.package.root().join(directory));
            assert_eq!(found, ids, "{layout}: the runs that the command line shows in `{directory}`");
        }
    }
}

impl Drop for Workspace {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.own);
    }
}

/// Its own in each test: packages of one name and version share files in the target directory.
fn member_name(package: &Package, member: &str) -> String {
    format!("{}_{member}", package.name())
}

fn add_member(package: &Package, member: &str) {
    let at = |path: &str| format!("crates/{member}/{path}");
    package
        .write(&at("Cargo.toml"), &Package::manifest(&member_name(package, member)))
        .write(&at("src/lib.rs"), "")
        .write(&at("tests/evals.rs"), &format!("{}evalsuite::include_eval_suite!(\"suites/{member}\");", suites::AGENT))
        .write(&at(&format!("suites/{member}/EVAL.yaml")), suites::EVAL_YAML)
        .write(&at(&format!("suites/{member}/cases/first/case.yaml")), &suites::case("hello", "hello"));
}

fn make_executable(file: &Path) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(file, fs::Permissions::from_mode(0o755)).expect("a mode");
}

/// The ids of the runs that `cargo evalsuite list --runs` shows in a directory, the newest first.
fn runs_seen_in(package: &Package, directory: &Path) -> Vec<String> {
    let call = Call::program(assert_cmd::cargo::cargo_bin!("cargo-evalsuite"), package);
    let call = call.args(["evalsuite", "list", "--runs", "--format", "json"]).without_env("EVALSUITE_OUTPUT");
    let listed = call.in_directory(directory).run().succeeds("the runs are listed");
    let listing: Value = serde_json::from_str(&listed.stdout).expect("JSON");
    let runs = listing["runs"].as_array().expect("a list");
    runs.iter().map(|run| run["run_id"].as_str().expect("an id").to_owned()).collect()
}

#[slow(builds)]
#[needs(nextest)]
#[test]
fn the_command_line_finds_the_records_of_test_programs() {
    let workspace = Workspace::new("record_places");
    for layout in LAYOUTS {
        workspace.begin(layout.config);
        workspace.cargo(layout).env("EVALSUITE_RUN_ID", layout.name).run().succeeds(layout.name);
        workspace.assert_runs(layout.name, &[layout.name]);
    }
}

#[slow(builds)]
#[test]
fn a_target_directory_may_be_a_link() {
    let workspace = Workspace::new("linked_record_places");
    workspace.begin("");
    let linked = workspace.own.join("linked");
    fs::create_dir(&linked).expect("a directory");
    symlink(&linked, workspace.package.root().join("target")).expect("a link");
    let layout = Layout { variables: &[BUILD], ..PLAIN };
    workspace.cargo(&layout).env("EVALSUITE_RUN_ID", "linked").run().succeeds("the tests pass");
    workspace.assert_runs("linked", &["linked"]);
    assert!(linked.join("evalsuite/runs/linked/run.json").is_file());
}

#[slow(builds)]
#[test]
fn packages_that_share_a_target_directory_have_runs_of_their_own() {
    let workspace = Workspace::new("sharing_record_places");
    let other = Package::workspace("other_sharing_record_places", &["crates/*"]);
    add_member(&other, "third");
    workspace.begin("");
    let run = |package: &Package, id: &str| {
        let call = package.cargo(["test"]).without_env("EVALSUITE_OUTPUT").env("EVALSUITE_RUN_ID", id);
        call.run().succeeds("the tests pass");
    };
    run(&workspace.package, "first");
    run(&other, "second");
    workspace.assert_runs("first", &["first"]);
    assert_eq!(runs_seen_in(&other, other.root()), ["second"]);
}

#[slow(builds)]
#[test]
fn a_program_that_was_moved_writes_to_its_workspace_and_without_one_to_the_current_directory() {
    let workspace = Workspace::new("moved_record_places");
    workspace.begin("");
    let build = workspace
        .package
        .build(["-p", &member_name(&workspace.package, "shop"), "--test", "evals"])
        .succeeds("the tests are built");
    let program = build.artifacts.iter().find_map(|artifact: &Artifact| artifact.executable.as_deref());
    let moved = workspace.own.join("moved");
    fs::copy(program.expect("a test program"), &moved).expect("the program can be copied");
    let run = |id: &str| {
        let call = Call::program(&moved, &workspace.package).without_env("EVALSUITE_OUTPUT");
        call.in_directory(&workspace.own).env("EVALSUITE_RUN_ID", id).run().succeeds("the tests pass")
    };
    run("moved");
    workspace.assert_runs("moved", &["moved"]);

    // As on a machine without the sources.
    let root = workspace.package.root();
    let hidden = root.with_extension("hidden");
    let _ = fs::remove_dir_all(&hidden);
    fs::rename(root, &hidden).expect("the workspace can be renamed");
    run("without-sources");
    let seen = runs_seen_in(&workspace.package, &workspace.own);
    let was_made_again = root.exists();
    if was_made_again {
        fs::remove_dir_all(root).expect("it can be removed");
    }
    fs::rename(&hidden, root).expect("the workspace can be renamed");
    assert!(!was_made_again, "nothing is written where the sources were");
    assert_eq!(seen, ["without-sources"]);
    workspace.assert_runs("moved", &["moved"]);
}

#[slow(builds)]
#[needs(nextest)]
#[test]
fn a_nextest_archive_writes_to_the_workspace_that_it_is_mapped_to() {
    let workspace = Workspace::new("archived_record_places");
    workspace.begin("");
    let own = |path: &str| workspace.own.join(path).to_str().expect("UTF-8").to_owned();
    let (archive, extracted) = (own("archive.tar.zst"), own("extracted"));
    workspace.package.cargo(["nextest", "archive", "--archive-file", &archive]).run().succeeds("the tests are packed");
    // Another checkout.
    let checkout = Package::workspace("checkout_of_record_places", &["crates/*"]);
    for member in ["shop", "desk"] {
        add_member(&checkout, member);
    }
    fs::create_dir(&extracted).expect("a directory");
    let root = checkout.root().to_str().expect("UTF-8");
    let call = checkout.cargo(["nextest", "run", "--archive-file", &archive, "--extract-to", &extracted]);
    let call = call.args(["--workspace-remap", root]).without_env("EVALSUITE_OUTPUT");
    call.env("EVALSUITE_RUN_ID", "archived").run().succeeds("the tests of the archive pass");
    assert_eq!(runs_seen_in(&checkout, checkout.root()), ["archived"]);
    assert_eq!(runs_seen_in(&checkout, &checkout.root().join("crates/desk")), ["archived"]);
    workspace.assert_runs("archived elsewhere", &[]);
}

#[slow(builds)]
#[test]
fn a_relative_setting_starts_at_the_workspace() {
    let workspace = Workspace::new("set_record_places");
    workspace.begin("");
    for (directory, id) in [("", "from-root"), ("crates/desk", "from-member")] {
        let layout = Layout { directory, ..PLAIN };
        let call = workspace.cargo(&layout).env("EVALSUITE_OUTPUT", "kept/records").env("EVALSUITE_RUN_ID", id);
        call.run().succeeds("the tests pass");
        let shown = Call::program(assert_cmd::cargo::cargo_bin!("cargo-evalsuite"), &workspace.package);
        let shown =
            shown.args(["evalsuite", "report", "latest", "--format", "json"]).env("EVALSUITE_OUTPUT", "kept/records");
        let shown = shown.in_directory(&workspace.package.root().join("crates/shop")).run();
        shown.says(id);
        assert!(workspace.package.root().join("kept/records/runs").join(id).is_dir());
    }
}
