//! The workflow that makes the files of a release, and the metadata with which `cargo binstall` finds them.

const TARGETS: &[&str] = &[
    "x86_64-unknown-linux-gnu",
    "aarch64-unknown-linux-gnu",
    "x86_64-apple-darwin",
    "aarch64-apple-darwin",
    "x86_64-pc-windows-msvc",
];

/// Differences between the workflow and the manifest of `cargo-evalsuite`.
pub(crate) fn problems(workflow: &str, manifest: &str) -> Vec<String> {
    let mut problems = Vec::new();
    let built: Vec<&str> =
        workflow.lines().filter_map(|line| Some(line.split_once("target: ")?.1.trim_end_matches(" }"))).collect();
    if built != TARGETS {
        problems.push(format!("the workflow builds {built:?}, not {TARGETS:?}"));
    }
    let value =
        |key: &str| manifest.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(" = \"")?.strip_suffix('"'));
    let url = value("pkg-url").unwrap_or_default();
    // `v{ version }` is the tag.
    let archive = url.rsplit('/').next().unwrap_or_default();
    let archive = archive.replace("{ name }", "cargo-evalsuite").replace("{ target }", "$TARGET");
    let archive = archive.replace("v{ version }", "$GITHUB_REF_NAME");
    if archive.contains('{') || !workflow.contains(&format!("archive=\"{archive}\"\n")) {
        problems.push(format!("the workflow does not make the archive of `pkg-url`: `{archive}`"));
    }
    if !url.starts_with("{ repo }/releases/download/v{ version }/") {
        problems.push(format!("`pkg-url` is not a file of a release: `{url}`"));
    }
    let has_program = value("bin-dir") == Some("{ bin }{ binary-ext }")
        && workflow.contains("--directory \"target/$TARGET/release\" \"$program\"");
    if value("pkg-fmt") != Some("tgz") || !has_program {
        problems.push("the program is not at the top of a `tgz` archive".to_owned());
    }
    problems
}

#[test]
fn a_workflow_with_other_names_is_found() {
    let manifest = "pkg-url = \"{ repo }/releases/download/v{ version }/{ name }-{ target }.tar\"\n";
    let problems =
        problems("- { runner: ubuntu-latest, target: x86_64-unknown-linux-gnu }\narchive=\"a.tgz\"\n", manifest);
    let starts = [
        "the workflow builds [\"x86_64-unknown-linux-gnu\"], not ",
        "the workflow does not make the archive of `pkg-url`: `cargo-evalsuite-$TARGET.tar`",
        "the program is not at the top of a `tgz` archive",
    ];
    assert_eq!(problems.len(), starts.len(), "{problems:?}");
    for (problem, start) in problems.iter().zip(starts) {
        assert!(problem.starts_with(start), "{problem}");
    }
}
