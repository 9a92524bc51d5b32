//! When a recording is stale, and the message that says why.

use std::fs;

use evalsuite_schema::{
    Grader, GraderConfig, Hook, Location, Mcp, Message, Network, Part, PathRef, Reset, Role, SealMode, Workspace,
};

use super::*;

fn reference(path: &str) -> PathRef {
    PathRef::new(path)
}

fn case(text: &str) -> Case {
    let mut case = Case::new("c", Location::new("f", 1, 1));
    let parts = vec![Part::File(reference("note.txt")), Part::Text(text.into())];
    case.input = Input::Messages(vec![Message::new(Role::User, Content::Parts(parts))]);
    case.workspace = Some(Workspace { template: Some(reference("template")), ..Workspace::default() });
    case
}

#[test]
fn a_case_that_only_moved_gives_the_same_input_and_another_target_another() {
    let places = SuiteLocation { package_root: "/p".into(), suite_dir: "/p/s".into() };
    let of = |line, target| {
        let mut case = Case::new("c", Location::new("f", line, 1));
        case.graders.push(Grader::new("g", Location::new("f", line + 1, 1), GraderConfig::IsJson));
        AgentInput::new(&case, target, None, &places).digest()
    };
    assert_eq!(of(1, "t"), of(9, "t"));
    assert_ne!(of(1, "t"), of(1, "other"));
}

#[test]
fn a_change_of_what_an_agent_is_given_is_found() {
    let root = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| {
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write("note.txt", "a");
    write("template/kept", "a");
    write("template/d/changed", "a");
    write("template/.git/HEAD", "a");
    let places = SuiteLocation { package_root: root.path().to_owned(), suite_dir: root.path().to_owned() };
    let then = AgentInput::new(&case("say hello"), "default", None, &places);
    let kept: AgentInput =
        evalsuite_schema::json::from_value(evalsuite_schema::json::to_value(&then).unwrap()).unwrap();
    assert_eq!((&kept, kept.digest()), (&then, then.digest()));
    write("template/.git/HEAD", "b");
    assert_eq!(AgentInput::new(&case("say hello"), "default", None, &places).digest(), then.digest());
    // Another checkout of the same files.
    write("note.txt", "a\n");
    write("template/kept", "a\nb\n");
    let unix = AgentInput::new(&case("say hello"), "default", None, &places);
    write("note.txt", "a\r\n");
    write("template/kept", "a\r\nb\r\n");
    assert_eq!(AgentInput::new(&case("say hello"), "default", None, &places).digest(), unix.digest());
    write("note.txt", "a");
    write("template/kept", "a");

    write("note.txt", "b");
    write("template/d/changed", "b");
    write("template/new", "b");
    let now = AgentInput::new(&case("say goodbye"), "codex", None, &places);
    assert_ne!(now.digest(), then.digest());
    assert_eq!(
        then.difference(&now),
        "\n  target: `default`, now `codex`\n  the input changed:\
         \n    --- recorded\n    +++ now\n     <file: path=\"note.txt\">\n     \n    -say hello\n    +say goodbye\
         \n  input file: `note.txt` changed\
         \n  workspace: `d/changed` changed\n  workspace: `new` was added"
    );
}

#[cfg(unix)]
#[test]
fn hooks_values_modes_and_empty_directories_count_unless_the_recording_does_not_know_them() {
    type Change = fn(&Path, &mut Case);
    let changes: [(&str, Change); 4] = [
        ("the hooks changed:", |_, case| {
            let hook =
                Hook { command: None, timeout_ms: 1, cwd: None, reset: Reset::Strict, sealing: Default::default() };
            case.workspace.as_mut().unwrap().hooks.before_each = Some(hook);
        }),
        ("workspace: `template/run` changed", |root, _| {
            make_executable(&root.join("d/template/run"));
        }),
        ("workspace: `template/empty/` was added", |root, _| {
            fs::create_dir_all(root.join("d/template/empty")).unwrap();
        }),
        ("workspace: `template/full/none/` was added", |root, _| {
            fs::create_dir_all(root.join("d/template/full/none")).unwrap();
        }),
    ];
    for (difference, change) in changes {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join("d/template/full")).unwrap();
        fs::write(root.path().join("note.txt"), "a").unwrap();
        fs::write(root.path().join("d/template/run"), "a").unwrap();
        fs::write(root.path().join("d/template/full/b"), "a").unwrap();
        let places = SuiteLocation { package_root: root.path().to_owned(), suite_dir: root.path().to_owned() };
        let mut case = case("hi");
        case.workspace.as_mut().unwrap().template = Some(reference("d"));
        let then = AgentInput::new(&case, "default", None, &places);
        assert!(then.is_same(&AgentInput::new(&case, "default", None, &places)));
        change(root.path(), &mut case);
        let now = AgentInput::new(&case, "default", None, &places);
        assert!(!then.is_same(&now) && !now.is_same(&then) && !then.asks_the_same(&now), "{difference}");
        assert!(then.difference(&now).starts_with(&format!("\n  {difference}")), "{}", then.difference(&now));
        let older = AgentInput { known_facts: 0, ..then };
        assert!(older.is_same(&now) && older.difference(&now).is_empty(), "{difference}");
    }
}

#[cfg(unix)]
fn make_executable(file: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(file, fs::Permissions::from_mode(0o755)).unwrap();
}

/// A case that names no files.
fn plain_case(text: &str) -> Case {
    let mut case = Case::new("c", Location::new("f", 1, 1));
    case.input = Input::Messages(vec![Message::text(Role::User, text)]);
    case
}

#[cfg(unix)]
#[test]
fn a_template_that_is_a_link_counts_and_what_cannot_be_read_is_never_the_same() {
    let root = tempfile::tempdir().unwrap();
    let places = SuiteLocation { package_root: root.path().to_owned(), suite_dir: root.path().to_owned() };
    fs::create_dir(root.path().join("shared")).unwrap();
    fs::write(root.path().join("note.txt"), "a").unwrap();
    let limit = |text: &str| fs::write(root.path().join("shared/limit"), text).unwrap();
    limit("10");
    let input = || AgentInput::new(&case("hi"), "t", None, &places);
    let missing = input();
    assert!(!missing.is_readable() && !missing.is_same(&missing));
    assert!(missing.difference(&missing).contains(" cannot be read"), "{}", missing.difference(&missing));

    std::os::unix::fs::symlink("shared", root.path().join("template")).unwrap();
    let then = input();
    assert!(then.is_readable() && then.is_same(&input()) && !missing.is_same(&then));
    limit("20");
    assert!(!then.is_same(&input()));
    assert_eq!(then.difference(&input()), "\n  workspace: `limit` changed");
}

#[test]
fn metadata_and_the_window_of_a_conversation_count_unless_the_recording_does_not_know_them() {
    type Change = fn(&mut Case);
    let changes: [(&str, Change); 2] = [
        ("the metadata changed:", |case| _ = case.metadata.insert("limit".to_owned(), 20.into())),
        ("`window_size` changed", |case| case.conversation.as_mut().unwrap().window_size = Some(1)),
    ];
    for (difference, change) in changes {
        let mut case = plain_case("hi");
        case.metadata.insert("limit".to_owned(), 10.into());
        case.conversation = Some(evalsuite_schema::Conversation::new(Vec::new()));
        let then = AgentInput::new(&case, "t", None, &places());
        assert!(then.is_same(&AgentInput::new(&case, "t", None, &places())));
        change(&mut case);
        let now = AgentInput::new(&case, "t", None, &places());
        assert!(!then.is_same(&now) && then.digest() != now.digest(), "{difference}");
        assert!(then.difference(&now).starts_with(&format!("\n  {difference}")), "{}", then.difference(&now));
        let older = AgentInput { known_facts: 3, ..then };
        assert!(older.is_same(&now) && older.difference(&now).is_empty(), "{difference}");
    }
}

#[test]
fn another_value_of_a_variable_in_the_input_is_another_input_and_is_not_shown() {
    let then = AgentInput::new(&plain_case("go to ${{ PATH }}"), "t", None, &places());
    assert_eq!(then.variables.keys().collect::<Vec<_>>(), ["PATH"]);
    let value = std::env::var("PATH").unwrap();
    assert!(!evalsuite_schema::json::to_string(&then).unwrap().contains(&value));
    let mut now = then.clone();
    assert!(then.is_same(&now));
    now.variables.insert("PATH".to_owned(), "other".to_owned());
    assert!(!then.is_same(&now) && then.digest() == now.digest());
    assert_eq!(then.difference(&now), "\n  the variable `PATH` of the input has another value");
    // Where it is not set, the recording says what the agent got.
    now.variables.clear();
    assert!(then.is_same(&now) && now.is_same(&then));
}

fn places() -> SuiteLocation {
    SuiteLocation { package_root: "/p".into(), suite_dir: "/p/s".into() }
}

#[test]
fn every_field_of_the_input_is_a_part_of_it() {
    let mut input = AgentInput::new(&case("go to ${{ PATH }}"), "t", None, &places());
    let hook = Hook { command: None, timeout_ms: 1, cwd: None, reset: Reset::Strict, sealing: Default::default() };
    let hooks = Hooks { before_all: Some(hook), ..Hooks::default() };
    input = input.with_target_hooks(Some(&hooks), &plain_case(""), &places());
    let digests = BTreeMap::from([("a".to_owned(), "b".to_owned())]);
    (input.files, input.workspace, input.scripts) = (digests.clone(), digests.clone(), digests);
    (input.turns, input.repos, input.hooks) = (vec!["a".into()], vec!["a".into()], "a".into());
    input.window_size = Some(1);
    input.metadata.insert("a".to_owned(), "b".into());
    let command = "cat".to_owned();
    let files_format = String::new();
    let (cwd, in_suite_directory, env) = (None, false, BTreeMap::new());
    let (output, [sealing, acp, mcp]) = (None, [const { Value::Null }; 3]);
    let command = CommandInput { command, cwd, in_suite_directory, files_format, env, acp, mcp, output, sealing };
    input.command = Some(command);
    let json = evalsuite_schema::json::to_value(&input).unwrap();
    let fields = json.as_object().unwrap();
    for field in fields.keys().filter(|field| *field != "known_facts") {
        let text = json.to_string();
        let other = match &fields[field] {
            Value::String(_) => "other".into(),
            Value::Number(_) => 2.into(),
            Value::Array(_) => evalsuite_schema::json::json!(["other"]),
            Value::Object(_) if field == "input" => {
                evalsuite_schema::json::to_value(&Input::Data(evalsuite_schema::Object::new())).unwrap()
            }
            Value::Object(_) if field == "command" => Value::Null,
            Value::Object(_) if field == "variables" => evalsuite_schema::json::json!({"PATH": "other"}),
            _ => evalsuite_schema::json::json!({"a": "other"}),
        };
        let mut changed = evalsuite_schema::json::from_str::<Value>(&text).unwrap();
        changed[field.as_str()] = other;
        let changed: AgentInput = evalsuite_schema::json::from_value(changed).unwrap();
        assert!(!input.is_same(&changed), "a change of `{field}` is found");
        assert_ne!(input.difference(&changed), "", "{field}");
    }
}

#[test]
fn the_table_in_the_documentation_has_a_row_for_each_part() {
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/runs.md")).unwrap();
    let (_, table) = text.split_once("| part | compared |\n| --- | --- |\n").expect("the table");
    let rows = table.lines().take_while(|line| !line.starts_with("| requests to judges |"));
    assert_eq!(rows.count(), PARTS.len());
}

#[test]
fn the_seal_the_servers_and_the_form_of_the_output_of_a_command_count() {
    let places = SuiteLocation { package_root: "/p".into(), suite_dir: "/p/s".into() };
    let target = CliTarget {
        command: "run".into(),
        cwd: None,
        in_suite_directory: false,
        timeout_seconds: None,
        files_format: "{path}".into(),
        healthcheck: None,
        env: Vec::new(),
        output: None,
        keep_temp_files: false,
        verbose: false,
        provider_batching: false,
        sealing: Sealing::default(),
        mcp: None,
    };
    let input = |target: &CliTarget| AgentInput::new(&plain_case("hi"), "t", Some(target), &places);
    let then = input(&target);
    assert!(then.is_same(&input(&target)));
    let sealed = |sealing: Sealing| CliTarget { sealing, ..target.clone() };
    let servers = Mcp {
        servers: Vec::new(),
        record: true,
        replay: false,
        recorded_by: None,
        only_tools: false,
        faults: Vec::new(),
    };
    let others = [
        CliTarget { output: Some(OutputForm::Text), ..target.clone() },
        sealed(Sealing { sealed: Some(SealMode::Required), ..Sealing::default() }),
        sealed(Sealing { network: Some(Network::None), ..Sealing::default() }),
        sealed(Sealing { read: vec![reference("more")], ..Sealing::default() }),
    ];
    for other in &others {
        let now = input(other);
        assert!(!then.is_same(&now) && then.difference(&now).contains("the target's command changed"), "{other:?}");
        let older = AgentInput { known_facts: 2, ..then.clone() };
        assert!(older.is_same(&now), "an older recording does not know it");
    }
    let with_servers = input(&CliTarget { mcp: Some(servers), ..target.clone() });
    assert!(!then.is_same(&with_servers), "also of an older recording: it was made without servers");
    // The same files, found elsewhere.
    let mut moved = others[3].clone();
    moved.sealing.read[0].path = "/elsewhere/more".into();
    assert_eq!(input(&moved).digest(), input(&others[3]).digest());
}

#[test]
fn the_content_of_a_script_that_a_hook_names_counts() {
    let root = tempfile::tempdir().unwrap();
    let places = SuiteLocation { package_root: root.path().to_owned(), suite_dir: root.path().join("s") };
    fs::create_dir_all(root.path().join("s/scripts")).unwrap();
    fs::create_dir(root.path().join("template")).unwrap();
    fs::write(root.path().join("note.txt"), "a").unwrap();
    let write = |path: &str, text: &str| fs::write(root.path().join("s").join(path), text).unwrap();
    let shell = evalsuite_schema::Command::Shell("sh scripts/seed.sh && PYTHON=x ./more.py; ls /etc/hosts".into());
    let argv = evalsuite_schema::Command::Argv(vec![
        evalsuite_schema::Argument::Text("sh".into()),
        evalsuite_schema::Argument::Path(PathRef::found("./seed.sh", "s/scripts/seed.sh")),
    ]);
    let by_variable = [
        "sh $EVALSUITE_SUITE_DIR/scripts/seed.sh",
        "sh \"${EVALSUITE_CASE_DIR}/seed.sh\"",
        "sh {{ case_dir }}/seed.sh",
        "sh {{case_dir}}/seed.sh",
    ];
    let by_variable = by_variable.map(|line| (evalsuite_schema::Command::Shell(line.into()), "scripts/seed.sh"));
    let named = [(shell.clone(), "scripts/seed.sh"), (shell, "more.py"), (argv, "scripts/seed.sh")];
    for (command, script) in named.into_iter().chain(by_variable) {
        write("scripts/seed.sh", "a");
        write("more.py", "a");
        let hook =
            Hook { command: Some(command), timeout_ms: 1, cwd: None, reset: Reset::None, sealing: Default::default() };
        let hooks = Hooks { before_each: Some(hook), ..Hooks::default() };
        let input = |in_target: bool| {
            let mut case = case("hi");
            case.dir = "s/scripts".to_owned();
            let of_target = in_target.then(|| hooks.clone());
            case.workspace.as_mut().unwrap().hooks = if in_target { Hooks::default() } else { hooks.clone() };
            AgentInput::new(&case, "t", None, &places).with_target_hooks(of_target.as_ref(), &case, &places)
        };
        for in_target in [false, true] {
            write(script, "a");
            let then = input(in_target);
            assert!(then.is_same(&input(in_target)) && !then.scripts.keys().any(|name| name.starts_with("/etc")));
            write(script, "b");
            let now = input(in_target);
            assert!(!then.is_same(&now), "{script}");
            assert!(then.difference(&now).contains("file of a hook: `"), "{}", then.difference(&now));
            let older = AgentInput { known_facts: 1, ..then };
            assert!(older.is_same(&now), "an older recording does not know it");
        }
    }
}
