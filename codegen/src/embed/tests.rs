//! Tests of embedded files through expansions.

use super::*;
use crate::binding::Agent;
use crate::tests::{Call, Fixture, TASK, texts};

fn fixture() -> Fixture {
    let fixture = Fixture::new(&[
        ("suites/card_agent/tasks/b/b.json", &TASK.replace("\"a\"", "\"b\"")),
        ("suites/card_agent/tasks/b/workspace/notes/a.txt", "one"),
        ("suites/card_agent/tasks/b/workspace/.git/HEAD", "no"),
        ("suites/card_agent/tasks/b/workspace/run.sh", "#!/bin/sh"),
    ]);
    std::fs::create_dir(fixture.path("suites/card_agent/tasks/b/workspace/empty")).expect("a folder");
    #[cfg(unix)]
    {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let workspace = fixture.path("suites/card_agent/tasks/b/workspace");
        symlink("notes/a.txt", workspace.join("link")).expect("a link");
        // As another user's umask leaves it.
        for (file, mode) in [("run.sh", 0o775), ("notes/a.txt", 0o664)] {
            std::fs::set_permissions(workspace.join(file), PermissionsExt::from_mode(mode)).expect("a mode");
        }
    }
    fixture.age("suites");
    fixture
}

/// The archive of the next expansion.
fn archive_of(call: &Call) -> Option<String> {
    call.expand().code.embedded?.archive
}

/// Headers of an archive.
#[cfg(unix)]
fn headers(archive: &[u8]) -> Vec<String> {
    embedded::pairs(archive).expect("an archive").into_iter().map(|(header, _)| header.to_owned()).collect()
}

#[cfg(unix)]
#[test]
fn what_cases_name_is_embedded_with_modes_links_and_empty_directories() {
    let fixture = fixture();
    let call = fixture.call("suites/card_agent");
    let expansion = call.clone().expand_uncached();
    let embedded = expansion.code.embedded.expect("files are embedded");
    assert_eq!(embedded.archive, None);
    assert_eq!(embedded.expression().matches("include_bytes!").count(), 2, "{}", embedded.expression());

    let archive = fixture.cache.out_dir.join(archive_of(&call).expect("the first expansion leaves an archive"));
    let read = || std::fs::read(&archive).expect("an archive");
    let workspace = "suites/card_agent/tasks/b/workspace";
    let expected = [
        format!("d 755 {workspace}"),
        format!("d 755 {workspace}/empty"),
        format!("l 777 {workspace}/link"),
        format!("d 755 {workspace}/notes"),
        format!("f 644 {workspace}/notes/a.txt"),
        format!("f 755 {workspace}/run.sh"),
    ];
    assert_eq!(headers(&read()), expected);
    let before = read();
    std::fs::remove_file(&archive).expect("an archive");
    call.expand();
    assert_eq!(read(), before, "the same files make the same program");
}

#[test]
fn an_edited_file_is_embedded_anew() {
    let fixture = fixture();
    let call = fixture.call("suites/card_agent");
    let archive = || {
        let path = archive_of(&call).expect("an archive");
        String::from_utf8(std::fs::read(fixture.cache.out_dir.join(path)).expect("an archive")).expect("text")
    };
    assert!(archive().contains("one"));
    fixture.write("suites/card_agent/tasks/b/workspace/notes/a.txt", "two");
    fixture.age("suites");
    let archive = archive();
    assert!(archive.contains("two") && !archive.contains("one"), "{archive}");
}

#[test]
fn nothing_is_embedded_with_embed_off() {
    let fixture = fixture();
    let mut call = fixture.call("suites/card_agent");
    call.binding.embed = false;
    for what in ["loaded", "from the cache"] {
        assert!(call.expand().code.embedded.is_none(), "{what}");
    }
    assert!(call.expand_uncached().code.embedded.is_none());
}

#[test]
fn too_much_is_a_warning_that_names_the_largest_files() {
    let fixture = fixture();
    let large = fixture.path("suites/card_agent/tasks/b/workspace/large.bin");
    std::fs::File::create(large).and_then(|file| file.set_len(33 * 1024 * 1024)).expect("a file");
    fixture.age("suites");
    let warns = |texts: &[String]| {
        texts.iter().any(|text| {
            text.contains("W017 not-embedded")
                && text.contains("are 33.0 MiB, more than the 32.0 MiB")
                && text.contains("large.bin` (33.0 MiB)")
        })
    };
    let call = fixture.call("suites/card_agent");
    for expansion in [call.clone().expand_uncached(), call.expand(), call.expand()] {
        assert!(warns(&texts(&expansion, false)), "{:?}", texts(&expansion, false));
        assert!(expansion.code.embedded.is_none() && !expansion.has_errors());
    }
    let mut denied = call;
    denied.binding.deny_warnings = true;
    assert!(warns(&texts(&denied.expand(), true)));
    denied.binding.embed = false;
    assert!(!denied.expand().has_errors());
}

#[test]
fn commands_are_embedded_with_their_file_and_directories() {
    let fixture = fixture();
    let targets = "targets:\n  - { name: default, provider: cli, command: ./run.sh, cwd: ./agent }\n";
    fixture.write("targets.yaml", targets);
    fixture.write("agent/run.sh", "#!/bin/sh");
    let mut call = fixture.call("suites/card_agent");
    let included = |call: &Call| {
        let expression = call.expand().code.embedded.map(|embedded| embedded.expression()).unwrap_or_default();
        let of = |mode: &str, path: &str| expression.contains(&format!("\"f {mode} {path}\", ::core::include_bytes!("));
        // Windows has no modes: a file that starts with `#!` is a program.
        [of("644", "targets.yaml"), of(if cfg!(windows) { "755" } else { "644" }, "agent/run.sh")]
    };
    assert_eq!(included(&call), [false, false], "no agent or judge is a command");
    call.judges(&["default"], "default");
    assert_eq!(included(&call), [false, false], "the judge is a function");
    call.judges(&[], "default");
    assert_eq!(included(&call), [true, true], "the judge is a command");
    call.binding.judge = None;
    call.binding.agent = Agent::Commands { acp: false };
    assert_eq!(included(&call), [true, true], "the agent is a command");
    assert!(archive_of(&call).is_some());
    assert_eq!(included(&call), [true, true], "beside the archive");

    let large = fixture.path("agent/large.bin");
    std::fs::File::create(large).and_then(|file| file.set_len(33 * 1024 * 1024)).expect("a file");
    assert_eq!(included(&call), [false, false]);
    let warnings = texts(&call.expand(), false);
    let warning = warnings.iter().find(|warning| warning.contains("not-embedded")).expect("a warning");
    assert!(warning.contains("targets.yaml") && warning.contains("`agent/large.bin` (33.0 MiB)"), "{warning}");
    call.binding.embed = false;
    assert_eq!(texts(&call.expand(), false), [""; 0]);
}

#[test]
fn scripts_are_known_by_their_first_line_where_files_have_no_modes() {
    let root = tempfile::tempdir().unwrap();
    let mode = |name: &str, content: &str| {
        let path = root.path().join(name);
        fs::write(&path, content).unwrap();
        mode_by_content(&fs::metadata(&path).unwrap(), &path)
    };
    assert_eq!((mode("run", "#!/bin/sh\n"), mode("note.txt", "# text"), mode("empty", "")), (0o755, 0o644, 0o644));
    assert_eq!(mode_by_content(&fs::metadata(root.path()).unwrap(), root.path()), 0o755);
}

#[test]
fn paths_are_found_by_what_they_are_for() {
    let code = r##"json: r#"{"id":"{\"written\":\"no\"}","template":{"written":"t","path":"s/t"},"cwd":{"written":".","path":"s"},
        "source":{"local":{"written":"r","path":"s/r"}},"file":{"file":{"written":"p","path":"s/p.md"},"text":"x"},
        "parts":[{"file":{"written":"n","path":"s/n\u00e4"}}],"late":{"local":{"written":"${{ R }}","path":"${{ R }}"}}}"#,
        json: r#"{"template":{"written":"t","path":"s/t"}}"#"##;
    let reference = |path: &str, need| Reference { path: path.to_owned(), need };
    assert_eq!(
        in_text(code).into_iter().collect::<Vec<_>>(),
        [
            reference("s", Need::WorkingDirectory),
            reference("s/nä", Need::Content),
            reference("s/r", Need::Repository),
            reference("s/t", Need::Content),
        ]
    );
}
