use evalsuite_schema::embedded;

use crate::expansion::{Judges, expand};
use crate::fixture::{Fixture, TASK};
use crate::track::Tracker;

use super::Embedded;

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
    fixture.age();
    fixture
}

/// Headers of an archive.
fn headers(archive: &[u8]) -> Vec<String> {
    embedded::pairs(archive).expect("an archive").into_iter().map(|(header, _)| header.to_owned()).collect()
}

#[cfg(unix)]
#[test]
fn what_cases_name_is_embedded_with_modes_links_and_empty_directories() {
    let fixture = fixture();
    let options = fixture.options("suites/card_agent");
    let expansion = expand(&options);
    let Embedded::Files(_) = &expansion.embedded else { panic!("{:?}", expansion.embedded) };
    let included = expansion.embedded.expression().matches("include_bytes!").count();
    assert_eq!(included, 2, "{}", expansion.embedded.expression());

    Tracker::new("suites").instructions(&fixture.package);
    let Embedded::Archive(path, _) = expand(&options).embedded else { panic!("the build script has left an archive") };
    let archive = fixture.package.out_dir.join(path);
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
    Tracker::new("suites").instructions(&fixture.package);
    assert_eq!(read(), before, "the same files make the same program");
}

#[test]
fn an_edited_file_is_embedded_anew() {
    let fixture = fixture();
    let options = fixture.options("suites/card_agent");
    Tracker::new("suites").instructions(&fixture.package);
    assert!(matches!(expand(&options).embedded, Embedded::Archive(..)));
    fixture.write("suites/card_agent/tasks/b/workspace/notes/a.txt", "two");
    assert!(matches!(expand(&options).embedded, Embedded::Files(_)), "the archive is not the suite's any more");
}

#[test]
fn nothing_is_embedded_where_nobody_wants_it() {
    let fixture = fixture();
    Tracker::new("suites").instructions(&fixture.package);
    let mut options = fixture.options("suites/card_agent");
    options.embed = false;
    assert!(matches!(expand(&options).embedded, Embedded::Off));
    options.out_dir = None;
    assert!(matches!(expand(&options).embedded, Embedded::Off));
}

#[test]
fn too_much_is_a_warning_that_names_the_largest_files() {
    let fixture = fixture();
    let large = fixture.path("suites/card_agent/tasks/b/workspace/large.bin");
    std::fs::File::create(large).and_then(|file| file.set_len(33 * 1024 * 1024)).expect("a file");
    fixture.age();
    let warns = |texts: &[String]| {
        texts.iter().any(|text| {
            text.contains("W017 not-embedded")
                && text.contains("are 33.0 MiB, more than the 32.0 MiB")
                && text.contains("large.bin` (33.0 MiB)")
        })
    };
    let options = fixture.options("suites/card_agent");
    let expansion = expand(&options);
    assert!(warns(&expansion.warnings), "{:?}", expansion.warnings);
    assert!(matches!(expansion.embedded, Embedded::Off) && expansion.suite.is_some());

    let instructions = Tracker::new("suites").instructions(&fixture.package);
    assert!(warns(&[instructions.lines().join("\n")]), "{:?}", instructions.lines());
    let mut denied = options.clone();
    denied.deny_warnings = true;
    assert!(warns(&expand(&denied).errors));
    denied.embed = false;
    assert!(expand(&denied).errors.is_empty());
}

#[test]
fn commands_travel_with_their_file_and_directories() {
    let fixture = fixture();
    let targets = "targets:\n  - { name: default, provider: cli, command: ./run.sh, cwd: ./agent }\n";
    fixture.write("targets.yaml", targets);
    fixture.write("agent/run.sh", "#!/bin/sh");
    let mut options = fixture.options("suites/card_agent");
    let included = |expression: String| {
        let of = |path: &str| expression.contains(&format!("\"f 644 {path}\", ::core::include_bytes!("));
        [of("targets.yaml"), of("agent/run.sh")]
    };
    assert_eq!(included(expand(&options).embedded.expression()), [false, false], "nobody asks for commands");
    let judge = || vec!["default".to_owned()];
    options.judges = Some(Judges { default: judge(), registered: judge() });
    assert_eq!(included(expand(&options).embedded.expression()), [false, false], "the judge is a function");
    options.judges = Some(Judges { default: judge(), registered: Vec::new() });
    assert_eq!(included(expand(&options).embedded.expression()), [true, true], "the judge is a command");
    options.judges = None;
    options.commands = Some(Vec::new());
    assert_eq!(included(expand(&options).embedded.expression()), [true, true]);
    Tracker::new("suites").instructions(&fixture.package);
    let expression = expand(&options).embedded.expression();
    assert!(expression.contains("\"archive\""), "{expression}");
    assert_eq!(included(expression), [true, true], "beside the archive");

    let large = fixture.path("agent/large.bin");
    std::fs::File::create(large).and_then(|file| file.set_len(33 * 1024 * 1024)).expect("a file");
    let expansion = expand(&options);
    assert_eq!(included(expansion.embedded.expression()), [false, false]);
    let warning = expansion.warnings.iter().find(|warning| warning.contains("not-embedded")).expect("a warning");
    assert!(warning.contains("targets.yaml") && warning.contains("`agent/large.bin` (33.0 MiB)"), "{warning}");
    options.embed = false;
    assert_eq!(expand(&options).warnings, [] as [&str; 0]);
}
