//! Skills with their evals, and the problems reported in them.

mod arms;

use evalsuite_schema::diagnostics::Diagnostic;
use evalsuite_schema::grader::GraderConfig;
use evalsuite_schema::json::{Value, from_str};
use evalsuite_schema::keys::Keys as _;
use evalsuite_schema::{Case, Content, Input, Layout, Object, Skill, SkillEval, SkillEvals, SkillExpectation};
use tempfile::TempDir;

use crate::source::Position;
use crate::{Loaded, Request, load};

const SKILL: &str = "---\nname: pdf-forms\ndescription: Fills in PDF forms.\nlicense: MIT\n---\n\n# Forms\n";

/// Loads the entry of a package with a skill.
fn loaded_from(entry: &str, skill: &str, evals: &str) -> (TempDir, Loaded) {
    let package = TempDir::new().unwrap();
    let write = |path: &str, text: &str| {
        let path = package.path().join("skills/pdf-forms").join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    write("SKILL.md", skill);
    write("evals/evals.json", evals);
    write("evals/files/form.pdf", "form");
    write("assets/font.ttf", "font");
    let mut request = Request::new(entry, package.path());
    request.workspace_root = package.path().to_owned();
    let loaded = load(&request);
    (package, loaded)
}

/// Lines `FILE:LINE:COLUMN CODE MESSAGE, HELP` of all problems.
fn lines(loaded: &Loaded) -> Vec<String> {
    let line = |problem: &Diagnostic| {
        let place = problem.place.as_ref().expect("problems of files have a place");
        let start = place.start().unwrap_or(Position::START);
        let file = place.file.rsplit('/').next().unwrap_or_default();
        let help = problem.help.as_deref().unwrap_or_default();
        format!("{file}:{}:{} {} {}; {help}", start.line, start.column, problem.code.as_str(), problem.message)
    };
    loaded.diagnostics.iter().map(line).collect()
}

#[track_caller]
fn problems(skill: &str, evals: &str, expected: &[&str]) {
    let (_package, loaded) = loaded_from("skills/pdf-forms", skill, evals);
    assert_eq!(lines(&loaded), expected, "{skill}\n{evals}");
}

/// The problems of a front matter.
#[track_caller]
fn skill_problems(skill: &str, expected: &[&str]) {
    problems(skill, r#"{"evals": [{"id": 1, "prompt": "Hi", "expectations": ["Polite"]}]}"#, expected);
}

/// The problems of an eval with these keys.
#[track_caller]
fn eval_problems(keys: &str, expected: &[&str]) {
    problems(SKILL, &format!("{{\"evals\": [\n{{{keys}}}]}}"), expected);
}

fn cases(loaded: Loaded) -> Vec<Case> {
    let problems = lines(&loaded);
    let suite = loaded.suite.unwrap_or_else(|| panic!("{problems:?}"));
    assert!(problems.is_empty(), "{problems:?}");
    suite.cases.into_iter().map(|loaded| (*loaded.case).clone()).collect()
}

#[test]
fn every_key_of_an_eval_has_its_effect() {
    let evals = r#"{
  "skill_name": "pdf-forms",
  "metadata": {"team": "forms"},
  "evals": [
    {
      "id": 1, "name": "simple form", "tags": ["short"], "category": "forms", "metadata": {"owner": "Ada"}, "timeout": 90,
      "prompt": "Fill in ${{ FORM }}", "expected_output": "A filled-in form.",
      "expectations": ["Every field is filled.", {"id": "form", "description": "The form is unchanged."}],
      "files": ["evals/files/form.pdf", "files/form.pdf", "../pdf-forms/assets"], "should_trigger": true
    },
    {"id": "weather", "prompt": "Will it rain?", "expected_output": "A forecast.", "should_trigger": false},
    {"id": "old word", "prompt": "Hi", "assertions": ["Polite"]}
  ]
}"#;
    let (_package, loaded) = loaded_from("skills/pdf-forms", SKILL, evals);
    let suite = &loaded.suite.as_ref().unwrap().suite;
    assert_eq!((suite.name.as_str(), suite.layout), ("pdf-forms", Layout::Skill));
    assert_eq!(suite.description.as_deref(), Some("Fills in PDF forms."));
    assert_eq!((suite.license.as_deref(), suite.root.as_str()), (Some("MIT"), "skills/pdf-forms"));
    let functions: Vec<_> = loaded.suite.as_ref().unwrap().tests.iter().map(|test| test.path.join("::")).collect();
    let module = loaded.suite.as_ref().unwrap().module.clone();
    assert_eq!((module.as_str(), functions.join(" ").as_str()), ("pdf_forms", "_1 weather old_word"));

    let cases = cases(loaded);
    let first = &cases[0];
    let Input::Messages(messages) = &first.input else { panic!("{:?}", first.input) };
    assert_eq!(messages[0].content, Some(Content::Text("Fill in ${{ FORM }}".into())));
    assert_eq!((first.id.as_str(), first.criteria.as_deref()), ("1", Some("A filled-in form.")));
    assert!(first.expected_output.is_empty(), "the description is not an answer to compare with");
    assert_eq!(first.timeout_seconds, Some(90.0));
    let metadata = evalsuite_schema::json::to_value(&first.metadata).unwrap().to_string();
    assert_eq!(metadata, r#"{"owner":"Ada","team":"forms","name":"simple form","category":"forms","tags":["short"]}"#);
    let copies = &first.workspace.as_ref().unwrap().copies;
    let copies: Vec<_> = copies.iter().map(|copy| format!("{} -> {}", copy.from.path, copy.to)).collect();
    let root = "skills/pdf-forms";
    assert_eq!(
        copies,
        [
            format!("{root} -> .agents/skills/pdf-forms"),
            format!("{root}/evals/files/form.pdf -> evals/files/form.pdf"),
            format!("{root}/evals/files/form.pdf -> files/form.pdf"),
            format!("{root}/assets -> assets"),
        ]
    );

    let graders: Vec<Vec<&str>> =
        cases.iter().map(|case| case.graders.iter().map(|grader| grader.config.type_name()).collect()).collect();
    assert_eq!(graders, [vec!["rubrics", "skill-trigger"], vec!["llm-grader", "skill-trigger"], vec!["rubrics"]]);
    let GraderConfig::Rubrics(rubrics) = &first.graders[0].config else { panic!("{:?}", first.graders) };
    let outcomes: Vec<_> = rubrics.criteria.iter().filter_map(|criterion| criterion.outcome.as_deref()).collect();
    assert_eq!(outcomes, ["Every field is filled.", "The form is unchanged."]);
    let ids: Vec<_> = rubrics.criteria.iter().map(|criterion| criterion.id.as_str()).collect();
    assert_eq!(ids, ["expectation-1", "form"]);
    let GraderConfig::SkillTrigger(trigger) = &cases[1].graders[1].config else { panic!("{:?}", cases[1].graders) };
    assert_eq!((trigger.skill.as_str(), trigger.should_trigger), ("pdf-forms", false));
}

#[test]
fn a_skill_is_named_by_its_directory_or_one_of_its_files() {
    let evals = r#"{"evals": [{"id": 1, "prompt": "Hi", "expectations": ["Polite"]}]}"#;
    for entry in
        ["skills/pdf-forms", "skills/pdf-forms/", "skills/pdf-forms/SKILL.md", "skills/pdf-forms/evals/evals.json"]
    {
        let (_package, loaded) = loaded_from(entry, SKILL, evals);
        let suite = loaded.suite.as_ref().unwrap_or_else(|| panic!("{entry}: {:?}", lines(&loaded)));
        assert_eq!((suite.suite.root.as_str(), suite.module.as_str()), ("skills/pdf-forms", "pdf_forms"), "{entry}");
    }
}

#[test]
fn an_eval_file_next_to_a_skill_is_the_suite() {
    let (package, _) = loaded_from("skills/pdf-forms", SKILL, "{}");
    let eval_file = package.path().join("skills/pdf-forms/EVAL.yaml");
    std::fs::write(eval_file, "tests: [{id: a, input: Hi, criteria: Polite}]").unwrap();
    let loaded = load(&Request::new("skills/pdf-forms", package.path()));
    assert_eq!(loaded.suite.unwrap().suite.layout, Layout::Cases);
}

#[test]
fn a_skill_without_one_of_its_files_is_reported() {
    let (package, _) = loaded_from("skills/pdf-forms", SKILL, "{}");
    let load = |entry: &str| {
        let mut request = Request::new(entry, package.path());
        request.workspace_root = package.path().to_owned();
        lines(&load(&request))
    };
    std::fs::remove_file(package.path().join("skills/pdf-forms/evals/evals.json")).unwrap();
    assert_eq!(
        load("skills/pdf-forms"),
        [
            "pdf-forms:1:1 E011 no suite file in `skills/pdf-forms`, which has a skill; write the evals of the skill: `skills/pdf-forms/evals/evals.json`"
        ]
    );
    let help = "an Agent Skill has `SKILL.md` in its directory, and its evals in `evals/evals.json`";
    let missing = format!("evals.json:1:1 E018 `skills/pdf-forms/evals/evals.json` not found; {help}");
    assert_eq!(load("skills/pdf-forms/SKILL.md"), [missing]);
    std::fs::rename(
        package.path().join("skills/pdf-forms/SKILL.md"),
        package.path().join("skills/pdf-forms/evals/evals.json"),
    )
    .unwrap();
    assert_eq!(
        load("skills/pdf-forms"),
        [
            "pdf-forms:1:1 E011 no suite file in `skills/pdf-forms`, which has evals of a skill but no `SKILL.md`; move `evals` to the directory of the skill, which has its `SKILL.md`"
        ]
    );
    let found = load("skills/pdf-forms/evals/evals.json");
    assert_eq!(found[0], format!("SKILL.md:1:1 E018 `skills/pdf-forms/SKILL.md` not found; {help}"));
}

#[test]
fn problems_of_the_front_matter_are_reported_at_their_lines() {
    skill_problems(SKILL, &[]);
    skill_problems("---\r\nname: pdf-forms\r\ndescription: Fills in forms.\r\n---\r\n", &[]);
    skill_problems("--- # of a form\nname: pdf-forms\ndescription: Fills in forms.\n---\n", &[]);
    let help = "start the file with a line `---`, then `name: …`, `description: …` and another line `---`";
    let none = format!("SKILL.md:1:1 E007 the file has no front matter; {help}");
    skill_problems("# Forms\n", &[&none]);
    skill_problems("", &[&none]);
    skill_problems("---#\nname: pdf-forms\ndescription: Fills in forms.\n---\n", &[&none]);
    skill_problems(
        "---\nname: pdf-forms\n",
        &["SKILL.md:1:1 E007 the front matter has no end; add a line `---` after the last key"],
    );
    skill_problems(
        "---\n- a\n---\n",
        &["SKILL.md:2:1 E007 expected a mapping, found a list; write `name: …` and `description: …`"],
    );
    skill_problems(
        "---\nname: pdf-forms\ndescripton: x\n---\n",
        &["SKILL.md:3:1 E019 unknown key `descripton` in the front matter of SKILL.md; did you mean `description`?"],
    );
    skill_problems(
        "---\nname: PDF Forms\ndescription: x\n---\n",
        &[
            "SKILL.md:2:7 E032 `name` is `PDF Forms`, which is not 1 to 64 lowercase letters, digits and `-`; write `pdf-forms`",
        ],
    );
    skill_problems(
        "---\nname: pdf--forms\ndescription: x\n---\n",
        &["SKILL.md:2:7 E032 `name` is `pdf--forms`, which has a `-` at an end or next to another; write `pdf-forms`"],
    );
    skill_problems(
        "---\nname: forms\ndescription: x\n---\n",
        &[
            "SKILL.md:2:7 E032 `name` is `forms`, but the directory of the skill is `pdf-forms`; rename the directory to `forms`, or write its name",
        ],
    );
    let long =
        format!("---\nname: pdf-forms\ndescription: {}\ncompatibility: {}\n---\n", "x".repeat(1025), "y".repeat(501));
    skill_problems(
        &long,
        &[
            "SKILL.md:3:14 E024 `description` has 1025 characters; write at most 1024 characters",
            "SKILL.md:4:16 E024 `compatibility` has 501 characters; write at most 500 characters",
        ],
    );
    skill_problems(
        "---\nname: pdf-forms\ndescription: Use when: always\n---\n",
        &["SKILL.md:3:14 E003 text without quotes cannot contain `: `; quote it: `\"Use when: always\"`"],
    );
}

#[test]
fn scalars_of_the_front_matter_are_text() {
    let skill = "---\nname: 123\ndescription: 2024-01-01\nlicense: 1.10\ncompatibility: ~\nmetadata:\n  version: 1.10\n  \
                 draft: true\n  empty:\nallowed-tools: 5\n---\n";
    let (package, _) =
        loaded_from("skills/pdf-forms", skill, r#"{"evals": [{"id": 1, "prompt": "Hi", "expectations": ["Polite"]}]}"#);
    std::fs::rename(package.path().join("skills/pdf-forms"), package.path().join("skills/123")).unwrap();
    let loaded = load(&Request::new("skills/123", package.path()));
    assert_eq!(lines(&loaded), Vec::<String>::new());
    let suite = loaded.suite.unwrap().suite;
    assert_eq!((suite.name.as_str(), suite.description.as_deref()), ("123", Some("2024-01-01")));
    assert_eq!(suite.license.as_deref(), Some("1.10"));
}

#[test]
fn a_name_has_lowercase_letters_of_any_script() {
    let evals = r#"{"evals": [{"id": 1, "prompt": "Hi", "expectations": ["Polite"]}]}"#;
    for (name, is_valid) in [
        ("café", true),
        ("навык-2", true),
        ("技能", true),
        ("cafe\u{301}", true),
        ("Навык", false),
        ("ab_c", false),
        ("कि", false),
        ("\u{1F150}", false),
    ] {
        let (package, _) = loaded_from("skills/pdf-forms", &SKILL.replace("pdf-forms", name), evals);
        std::fs::rename(package.path().join("skills/pdf-forms"), package.path().join("skills").join(name)).unwrap();
        let loaded = load(&Request::new(format!("skills/{name}"), package.path()));
        let codes: Vec<&str> = loaded.diagnostics.iter().map(|problem| problem.code.as_str()).collect();
        assert_eq!(codes, if is_valid { vec![] } else { vec!["E032"] }, "{name}");
    }
}

#[test]
fn the_examples_of_the_reference_page_are_silent() {
    for key in Skill::TABLE.all_keys() {
        let mut lines: Vec<String> = vec!["name: pdf-forms".to_owned(), "description: x".to_owned()];
        lines.retain(|line| !line.starts_with(&format!("{}:", key.name)));
        lines.push(key.written_example());
        let is_extension =
            !["name", "description", "license", "compatibility", "metadata", "allowed-tools"].contains(&key.name);
        let extension = format!(
            "SKILL.md:4:1 W037 `{}` is an extension, which the reference reader of Agent Skills refuses; write it below `metadata`, if \
             no agent reads it",
            key.name
        );
        let expected = [&*extension];
        skill_problems(&format!("---\n{}\n---\n", lines.join("\n")), if is_extension { &expected } else { &[] });
    }
    let eval = r#""id": 1, "prompt": "Hi", "expectations": ["Polite"]"#;
    let expectation = r#""text": "Polite""#;
    for (table, around) in [
        (SkillEvals::TABLE, vec![String::new(), format!("\"evals\": [{{{eval}}}]")]),
        (SkillEval::TABLE, vec!["\"evals\": [{".to_owned(), eval.to_owned(), "}]".to_owned()]),
        (
            SkillExpectation::TABLE,
            vec![
                r#""evals": [{"id": 1, "prompt": "Hi", "expectations": [{"#.to_owned(),
                expectation.to_owned(),
                "}]}]".to_owned(),
            ],
        ),
    ] {
        for key in table.all_keys() {
            let mut object: Object = from_str(&format!("{{{}}}", around[1])).unwrap();
            let example = from_str(key.example).unwrap_or_else(|_| Value::String(key.example.to_owned()));
            object.insert(key.name.to_owned(), example);
            let written = Value::Object(object).to_string();
            let inner = written.trim_start_matches('{').strip_suffix('}').unwrap();
            let evals = format!("{{{}{inner}{}}}", around[0], around.get(2).map_or("", String::as_str));
            problems(SKILL, &evals, &[]);
        }
    }
}

#[test]
fn what_the_reference_reader_refuses_is_a_warning() {
    let refuses = "which the reference reader of Agent Skills refuses";
    for (line, expected) in [
        ("allowed-tools: [Read]", format!("4:16 W037 a list in brackets, {refuses}; write each element on a line of its own, after `- `")),
        ("metadata: {a: b}", format!("4:11 W037 a mapping in braces, {refuses}; write each key on a line of its own, indented")),
        ("license: &a MIT", format!("4:13 W037 an anchor, {refuses}; write the value where it is used")),
        ("license: !!str MIT", format!("4:10 W037 a tag, {refuses}; delete it: every value is text")),
        ("model: opus", format!("4:1 W037 `model` is an extension, {refuses}; write it below `metadata`, if no agent reads it")),
        (
            "license: a --- b",
            "4:12 W037 `---` in a line of the front matter, where it ends for the reference reader of Agent Skills; write other \
             characters, such as `–`"
                .to_owned(),
        ),
    ] {
        let skill = format!("---\nname: pdf-forms\ndescription: x\n{line}\n---\n");
        skill_problems(&skill, &[&format!("SKILL.md:{expected}")]);
    }
    for (line, place) in [
        ("license: a\tb", "4:11"),
        ("license:\tMIT", "4:9"),
        ("license: MIT\t", "4:13"),
        ("# a\nlicense: MIT \t# b", "5:14"),
    ] {
        let skill = format!("---\nname: pdf-forms\ndescription: x\n{line}\n---\n");
        skill_problems(&skill, &[&format!("SKILL.md:{place} W037 a tab, {refuses}; write spaces, or quote the text")]);
    }
    skill_problems("---\nname: pdf-forms\ndescription: \"a\tb\" # c\td\nlicense: |\n  a\tb\t\n---\n", &[]);
    skill_problems(
        "---\nname: pdf-forms\ndescription: <<\nx-own: 1\n---\n",
        &[
            &format!("SKILL.md:3:14 W037 this value, {refuses}; quote it"),
            &format!(
                "SKILL.md:4:1 W037 `x-own` is an extension, {refuses}; write it below `metadata`, if no agent reads it"
            ),
        ],
    );
    let blank = "`description` is blank; write a value or delete the key";
    skill_problems("---\nname: pdf-forms\ndescription: # c\n---\n", &[&format!("SKILL.md:3:12 E022 {blank}")]);
    let alias = "---\nname: pdf-forms\ndescription: &a x\nlicense: *a\n---\n";
    let alias_problems = [
        format!("SKILL.md:3:17 W037 an anchor, {refuses}; write the value where it is used"),
        format!("SKILL.md:4:10 W037 an alias, {refuses}; write the value itself"),
    ];
    skill_problems(alias, &alias_problems.each_ref().map(String::as_str));
    skill_problems(
        &format!("\u{feff}{SKILL}"),
        &[&format!(
            "SKILL.md:1:1 W037 the file starts with a byte order mark, {refuses}; save the file as UTF-8 without it"
        )],
    );
}

#[test]
fn a_skill_that_is_its_own_package_is_copied_without_what_is_built() {
    let evals = r#"{"evals": [{"id": 1, "prompt": "Hi", "expectations": ["Polite"]}]}"#;
    let (package, _) = loaded_from("skills/pdf-forms", SKILL, evals);
    let loaded = load(&Request::new("SKILL.md", package.path().join("skills/pdf-forms")));
    let case = cases(loaded).remove(0);
    assert_eq!(case.workspace.unwrap().copies[0].without, ["evals", "target", ".evalsuite"]);
}

#[test]
fn the_root_of_a_repository_may_have_another_name_than_its_skill() {
    let evals = r#"{"skill_name": "forms", "evals": [{"id": 1, "prompt": "Hi", "expectations": ["Polite"]}]}"#;
    let skill = SKILL.replace("pdf-forms", "forms");
    let (package, _) = loaded_from("skills/pdf-forms", &skill, evals);
    std::fs::create_dir(package.path().join("skills/pdf-forms/.git")).unwrap();
    let mut request = Request::new("skills/pdf-forms", package.path());
    request.workspace_root = package.path().to_owned();
    let loaded = load(&request);
    let help = "clone it into a directory `forms`: agents load a skill only from a directory with its name";
    let warning = format!("SKILL.md:2:7 W025 `name` is `forms`, but the directory of the skill is `pdf-forms`; {help}");
    assert_eq!(lines(&loaded), [warning]);
    let suite = loaded.suite.unwrap();
    assert_eq!((suite.suite.name.as_str(), suite.module.as_str()), ("forms", "forms"));
}

#[test]
fn evals_are_not_compared_with_a_name_that_is_wrong() {
    let evals = r#"{"skill_name": "PDF", "evals": [{"id": 1, "prompt": "Hi", "expectations": ["Polite"]}]}"#;
    let skill = SKILL.replace("pdf-forms", "PDF");
    let message = "`name` is `PDF`, which is not 1 to 64 lowercase letters, digits and `-`";
    problems(&skill, evals, &[&format!("SKILL.md:2:7 E032 {message}; write `pdf`")]);
}

#[test]
fn problems_of_evals_are_reported_at_their_lines() {
    problems(SKILL, "{}", &["evals.json:1:1 E021 missing key `evals` in evals.json; add `evals`"]);
    problems(
        SKILL,
        r#"{"evals": []}"#,
        &["evals.json:1:11 E015 `evals` is empty; add an eval: `{\"id\": 1, \"prompt\": …}`"],
    );
    problems(
        SKILL,
        "{\"skill_name\": \"pdf\",\n\"evals\": [{\"id\": 1, \"prompt\": \"Hi\", \"expectations\": [\"Polite\"]}]}",
        &["evals.json:1:16 W025 `skill_name` is `pdf`, but the skill is `pdf-forms`; write `pdf-forms`, or delete it"],
    );
    eval_problems(
        r#""expectations": ["Polite"]"#,
        &[
            "evals.json:2:1 E021 missing key `id` in an eval; add `id`",
            "evals.json:2:1 E033 missing key `prompt` in an eval; add `prompt`",
        ],
    );
    eval_problems(
        r#""id": true, "prompt": 5, "expectations": ["Polite"]"#,
        &[
            "evals.json:2:8 E029 `id` is the boolean true; quote it: \"true\"",
            "evals.json:2:24 E020 `prompt` must be text, found a number; quote it: \"5\"",
        ],
    );
    eval_problems(
        r#""id": 1, "prompt": "Hi""#,
        &[
            "evals.json:2:1 E034 nothing to grade: the eval has no `expectations`, `expected_output` or `should_trigger`; add `expectations` or `expected_output`",
        ],
    );
    eval_problems(
        r#""id": 1, "prompt": "Hi", "expectations": []"#,
        &[
            "evals.json:2:1 W023 nothing grades the case: it is skipped when it runs; add `expectations` or `expected_output`",
        ],
    );
    eval_problems(
        r#""id": 1, "prompt": "Hi", "expectations": ["a"], "assertions": ["b"]"#,
        &["evals.json:2:50 E025 `expectations` and `assertions` are one setting; keep one"],
    );
    eval_problems(
        r#""id": 1, "prompt": "Hi", "expectations": ["a"], "difficulty": "low""#,
        &[
            "evals.json:2:50 E019 unknown key `difficulty` in an eval; write it below `metadata` if it is your own; known: `id`, `prompt`, `expected_output`, `expectations`, `assertions`, `files`, `should_trigger`, `name`, `description`, `category`, `tags`, `metadata` and `timeout`",
        ],
    );
    eval_problems(
        r#""id": 1, "prompt": "Hi", "expectation": ["a"]"#,
        &["evals.json:2:27 E019 unknown key `expectation` in an eval; did you mean `expectations`?"],
    );
    eval_problems(
        r#""id": 1, "prompt": "Hi", "expectations": [5]"#,
        &["evals.json:2:44 E020 an element of `expectations` must be text, found a number; quote it: \"5\""],
    );
    eval_problems(
        r#""id": 1, "prompt": "Hi", "assertions": ["a", {"name": "b"}, {"text": "c", "description": "d"}, {"txt": "e"}]"#,
        &[
            "evals.json:2:47 E021 missing key `text` in an expectation; add `text`",
            "evals.json:2:76 E025 `text` and `description` are one setting; keep one",
            "evals.json:2:98 E019 unknown key `txt` in an expectation; did you mean `text`?",
        ],
    );
    eval_problems(
        r#""id": 1, "prompt": "Hi", "expectations": [{"name": "a", "text": "b"}, {"id": "a", "text": "c"}]"#,
        &["evals.json:2:79 E055 id `a` is given twice; give each criterion an id of its own"],
    );
    eval_problems(
        r#""id": 1, "prompt": "Hi", "expectations": ["a"], "files": ["evals/files/from.pdf", "../x", "/etc/passwd"]"#,
        &[
            "evals.json:2:60 E018 `files`: file or directory `evals/files/from.pdf` not found; did you mean `form.pdf`? tried `skills/pdf-forms/evals/files/from.pdf` and `skills/pdf-forms/evals/evals/files/from.pdf`",
            "evals.json:2:84 E018 `files`: file or directory `../x` not found; tried `skills/pdf-forms/x`",
            "evals.json:2:92 E017 `files`: `/etc/passwd` is an absolute path; copy the file into the suite and name it by a relative path",
        ],
    );
    problems(
        SKILL,
        "{\"evals\": [{\"id\": 1, \"prompt\": \"Hi\", \"expectations\": [\"a\"]},\n{\"id\": \"1\", \"prompt\": \"Hi\", \"expectations\": [\"a\"]}]}",
        &["evals.json:2:8 E030 id `1` also at skills/pdf-forms/evals/evals.json:1:19; rename one"],
    );
}
