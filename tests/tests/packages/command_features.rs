//! The command line as `cargo install` compiles it: without its features.

use evalsuite_needs::slow;
use evalsuite_tests::source::workspace_root;
use evalsuite_tests::throwaway::{Call, Package};

fn command(package: &Package, arguments: &[&str]) -> Call {
    let manifest = workspace_root().join("cli/Cargo.toml");
    let manifest = manifest.to_str().expect("a path in UTF-8");
    package.cargo([&["run", "--quiet", "--locked", "--manifest-path", manifest, "--"], arguments].concat())
}

#[slow(builds)]
#[test]
fn a_command_without_its_feature_names_the_feature_to_install() {
    let package = Package::new("featureless");
    for (arguments, feature) in [
        (&["lsp"][..], "lsp"),
        (&["convert", "promptfooconfig.yaml", "suites/new"], "convert"),
        (&["calibrate", "labels.jsonl"], "judge"),
        (&["watch"], "watch"),
        (&["run", "--record"], "record"),
        (&["run", "--replay"], "record"),
    ] {
        let ran = command(&package, arguments).run().fails("the feature is off");
        ran.says(&format!("error: this command was built without the feature `{feature}`"))
            .says(&format!("= help: `cargo install cargo-evalsuite --features {feature}`"));
    }
    command(&package, &["convert", "--help"]).run().succeeds("help needs no feature").says("Requires the feature");
}
