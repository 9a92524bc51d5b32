//! Small crates that break one rule each.

use evalsuite_tests::source::{CrateSource, SourceFiles};

use super::{RUNTIME, circles, files, order, untrusted_files};

/// A crate with a file for each layer of the runtime, empty but for those given.
fn crate_with(changed: &[(&str, &str)]) -> SourceFiles {
    let modules: String = RUNTIME.iter().map(|name| format!("mod {name};\n")).collect();
    let root = format!("//! Fixture.\n{modules}pub use run::{{Settings, run_case as run}};\n");
    let mut sources = SourceFiles::from([("runtime/src/lib.rs".to_owned(), root)]);
    for name in RUNTIME {
        sources.insert(format!("runtime/src/{name}/mod.rs"), "//! Fixture.\n".to_owned());
    }
    for (path, text) in changed {
        sources.insert(format!("runtime/src/{path}"), format!("//! Fixture.\n{text}\n"));
    }
    sources
}

fn violations(changed: &[(&str, &str)]) -> Vec<String> {
    order::violations(&CrateSource::parse(&crate_with(changed), "runtime/src"), &[], RUNTIME)
}

/// What is reported for a line in the lowest layer.
fn violations_of_platform(line: &str) -> Vec<String> {
    violations(&[("platform/mod.rs", "mod process;"), ("platform/process.rs", line)])
}

#[test]
fn imports_from_lower_layers_are_allowed() {
    let text = "use crate::platform::{self, clock};\nuse super::record;\nfn f() { crate::model::g() }";
    let text = text.replace("super::record", "crate::record");
    assert_eq!(violations(&[("run/mod.rs", &text)]), Vec::<String>::new());
}

#[test]
fn circles_of_files_and_of_folders_are_found() {
    let circles = |changed: &[(&str, &str)]| {
        let found = circles::circles(&CrateSource::parse(&crate_with(changed), "runtime/src"));
        found.into_iter().map(|(circle, _)| circle.join(", ")).collect::<Vec<_>>()
    };
    let modules =
        ("judge/mod.rs", "mod call; mod choice; mod reply; pub(crate) use choice::Choice;\npub(crate) struct Judge;");
    let call = ("judge/call.rs", "use super::reply::Reply;");
    let reply = ("judge/reply.rs", "use crate::judge::Choice;");
    assert_eq!(circles(&[modules, call, reply, ("judge/choice.rs", "use super::Judge;")]), [""; 0]);
    assert_eq!(
        circles(&[modules, call, reply, ("judge/choice.rs", "use super::call::Call;")]),
        ["call, reply, choice"]
    );
    let tests = "#[cfg(test)]\nmod tests { use crate::judge::call::Call; }";
    assert_eq!(circles(&[modules, call, reply, ("judge/choice.rs", tests)]), [""; 0]);
    assert_eq!(
        circles(&[("model/mod.rs", "use crate::record::R;"), ("record/mod.rs", "use crate::model::M;")]),
        ["model, record"]
    );
}

#[test]
fn every_kind_of_upward_edge_is_found() {
    let direct = "runtime/src/platform/process.rs:2: platform imports run (crate::run::Settings)";
    for line in [
        "use crate::run::Settings;",
        "use std::{fmt, io}; use crate::run::Settings as Options;",
        "use crate::{model, run::{Settings}};",
        "use super::super::run::Settings;",
        "use super::super::{run::Settings};",
        "pub use crate::run::Settings;",
        "pub(crate) use self::super::super::run::Settings;",
        "fn f(settings: &crate::run::Settings) {}",
        "fn f() { let x = crate::run::Settings { a: 1 }; }",
        "fn f() { if let crate::run::Settings { .. } = x {} }",
        "fn f() { use crate::run::Settings; }",
        "impl crate::run::Settings {}",
        "fn f() { println!(\"{}\", crate::run::Settings); }",
        "fn f() { println!(\"{}\", g(&[super::super::run::Settings])); }",
        "macro_rules! m { () => { $crate::run::Settings }; }",
        "m! { use crate::{run::Settings}; }",
        "#[serde(default = \"crate::run::Settings\")] struct S;",
        "struct S { #[serde(with = \"crate::run::Settings\")] field: u8 }",
        "struct S<T = crate::run::Settings>(T);",
    ] {
        assert!(violations_of_platform(line).contains(&direct.to_owned()), "not found: {line}");
    }
}

#[test]
fn only_upward_edges_are_reported() {
    assert_eq!(
        violations_of_platform("use crate::{model::Trial, run::Settings};"),
        [
            "runtime/src/platform/process.rs:2: platform imports model (crate::model::Trial)",
            "runtime/src/platform/process.rs:2: platform imports run (crate::run::Settings)",
        ]
    );
    assert_eq!(
        violations(&[("grade/mod.rs", "use crate::judge::Judge;\nuse crate::run;")]),
        ["runtime/src/grade/mod.rs:3: grade imports run (crate::run)"]
    );
}

#[test]
fn globs_are_edges() {
    assert_eq!(
        violations_of_platform("use crate::run::*;"),
        ["runtime/src/platform/process.rs:2: platform imports run (crate::run::*)"]
    );
}

#[test]
fn an_import_through_the_crate_root_counts_for_the_module_it_comes_from() {
    assert_eq!(
        violations_of_platform("use crate::Settings;"),
        ["runtime/src/platform/process.rs:2: platform imports run (crate::Settings, through the crate root)"]
    );
    // `run` is the module and, as a re-export, a function of it.
    assert_eq!(
        violations_of_platform("fn f() { crate::run() }"),
        ["runtime/src/platform/process.rs:2: platform imports run (crate::run)"]
    );
    let root = RUNTIME.iter().map(|name| format!("mod {name};\n")).collect::<String>();
    let glob = ("lib.rs", &*format!("{root}pub use run::*;\npub use other_crate::Thing;"));
    let user = "use crate::Settings;\nuse crate::Thing;";
    assert_eq!(
        violations(&[glob, ("run/mod.rs", "pub struct Settings;"), ("model/mod.rs", user)]),
        ["runtime/src/model/mod.rs:2: model imports run (crate::Settings, through the crate root)"]
    );
}

#[test]
fn items_of_the_root_file_are_above_all_layers() {
    let modules = RUNTIME.iter().map(|name| format!("mod {name};\n")).collect::<String>();
    let root =
        ("lib.rs", &*format!("{modules}extern crate self as evalsuite;\npub mod __private {{}}\npub fn f() {{}}"));
    for (line, path) in [
        ("use crate::f;", "f"),
        ("use super::*;", "*"),
        ("use evalsuite::f;", "f"),
        ("use crate::__private::Direct;", "__private::Direct"),
    ] {
        let expected = format!("runtime/src/entry/mod.rs:2: entry imports the crate root (crate::{path})");
        assert_eq!(violations(&[root, ("entry/mod.rs", line)]), [expected]);
    }
    let expected = "runtime/src/entry/mod.rs:2: entry imports an unknown item (crate::nowhere)";
    assert_eq!(violations(&[root, ("entry/mod.rs", "use crate::nowhere;")]), [expected]);
}

#[test]
fn test_code_may_import_anything() {
    let text = "#[cfg(test)]\nuse crate::run::Settings;\n#[cfg(test)]\nmod tests {\n    use crate::run::Settings;\n}\n\
                impl S {\n    #[cfg(test)]\n    fn f() { crate::run::g() }\n}\n#[cfg(test)]\nmod absent;";
    assert_eq!(violations_of_platform(text), Vec::<String>::new());
}

#[test]
fn visibilities_and_documentation_import_nothing() {
    let text = "/// See [`crate::run::Settings`].\npub(in crate::run) struct S;\npub(crate) fn f() {}";
    assert_eq!(violations_of_platform(text), Vec::<String>::new());
}

#[test]
fn every_module_has_a_place_in_the_order() {
    let sources = crate_with(&[]);
    let krate = CrateSource::parse(&sources, "runtime/src");
    assert_eq!(
        order::violations(&krate, &[], &RUNTIME[1..]),
        ["runtime/src/lib.rs: module `platform` has no place in the order of layers"]
    );
    assert_eq!(
        order::violations(&krate, &[], &[RUNTIME, &["cellar"]].concat()),
        ["runtime/src/lib.rs: the order of layers names `cellar`, which is not a module of this crate"]
    );
}

#[test]
fn a_folder_has_an_order_of_its_own() {
    let sources = crate_with(&[
        ("run/mod.rs", "mod plan;\nmod trial;\npub use self::plan::Plan;\npub fn run() { trial::start() }"),
        ("run/plan.rs", "use super::trial::start;\nuse crate::model::Trial;\nuse super::run;"),
        ("run/trial.rs", "use super::Plan;\nuse crate::entry::Report;"),
    ]);
    let krate = CrateSource::parse(&sources, "runtime/src");
    let run = |order: &[&str]| order::violations(&krate, &["run"], order);
    let root = "runtime/src/run/plan.rs:4: plan imports the folder root (crate::run::run)";
    assert_eq!(
        run(&["plan", "trial"]),
        ["runtime/src/run/plan.rs:2: plan imports trial (crate::run::trial::start)", root]
    );
    let through =
        "runtime/src/run/trial.rs:2: trial imports plan (crate::run::Plan, through the folder root)".to_owned();
    assert_eq!(run(&["trial", "plan"]), [&*through, root]);
    assert_eq!(run(&["trial"])[0], "runtime/src/run/mod.rs: module `plan` has no place in the order of layers");
}

#[test]
fn long_root_files_missing_headers_and_mixed_styles_are_found() {
    let mut sources = crate_with(&[]);
    assert_eq!(files::too_long(&sources, "runtime/src/lib.rs", 11), None);
    assert_eq!(
        files::too_long(&sources, "runtime/src/lib.rs", 10).as_deref(),
        Some("runtime/src/lib.rs has 11 lines; at most 10 are allowed")
    );
    assert_eq!(files::without_header(&sources), Vec::<String>::new());
    assert_eq!(files::of_two_styles(&sources), Vec::<String>::new());
    sources.insert("runtime/src/run.rs".to_owned(), "use std::fmt;\n//! Late.\n".to_owned());
    assert_eq!(
        files::without_header(&sources),
        ["runtime/src/run.rs:1: the first line is not a `//!` line that says what the file holds"]
    );
    assert_eq!(
        files::of_two_styles(&sources),
        ["runtime/src/run.rs: a module with child modules belongs in runtime/src/run/mod.rs"]
    );
    assert_eq!(files::with_late_needs(&sources), Vec::<String>::new());
    let test = "//! Tests.\n\n#[needs(git)]\n#[test]\nfn a() {}\n\n    #[test]\n    #[needs(git)]\n    fn b() {}\n";
    sources.insert("runtime/src/run/tests.rs".to_owned(), test.to_owned());
    let late = ["runtime/src/run/tests.rs:8: `#[needs]` belongs above `#[test]`"];
    assert_eq!(files::with_late_needs(&sources), late);
}

#[test]
fn a_file_that_is_opened_by_its_path_is_found() {
    let openings = |text: &str, trusted: &[(&str, &str)]| {
        let krate = CrateSource::parse(&crate_with(&[("grade/mod.rs", text)]), "runtime/src");
        untrusted_files::violations(&krate, "runtime/src", untrusted_files::OF_RUNTIME, &[], trusted)
    };
    let at = "runtime/src/grade/mod.rs:2: `";
    for (text, call) in [
        ("fn f() { std::fs::read(path); }", "std::fs::read"),
        ("fn f() { fs::write(path, text); }", "fs::write"),
        ("fn f() { path.map(File::open); }", "File::open"),
        ("fn f() { std::fs::OpenOptions::new(); }", "std::fs::OpenOptions::new"),
    ] {
        assert_eq!(openings(text, &[]), [format!("{at}{call}` opens a path")], "{text}");
        assert_eq!(openings(text, &[("grade/mod.rs", "")]), [] as [String; 0]);
    }
    for text in ["use std::fs::File;", "fn f(file: &fs::File) {}", "#[cfg(test)]\nmod t { fn f() { fs::read(path); } }"]
    {
        assert_eq!(openings(text, &[]), [] as [String; 0], "{text}");
    }
    // With a list of functions, only calls of these are found.
    let text = "fn f() { fs::write(path, text); fs::read_dir(path); }";
    let krate = CrateSource::parse(&crate_with(&[("grade/mod.rs", text)]), "runtime/src");
    let found = untrusted_files::violations(&krate, "runtime/src", &[], untrusted_files::READING, &[]);
    assert_eq!(found, [format!("{at}fs::read_dir` opens a path")]);
    let needless = "runtime/src/grade/mod.rs: opens no file by its path, and need not be listed";
    assert_eq!(openings("fn f() {}", &[("grade/mod.rs", "")]), [needless]);
}
