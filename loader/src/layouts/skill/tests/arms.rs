//! Arms of skills, and where skills are put.

use evalsuite_schema::{OLD_SKILL, WITH_SKILL, WITHOUT_SKILL};
use tempfile::TempDir;

use super::{SKILL, lines};
use crate::{Loaded, Request, load};

const EVAL: &str = r#"{"id": 1, "prompt": "Hi", "expectations": ["Polite"]}"#;

/// Loads the skill of a package with an older copy of it, and evals with these keys.
fn loaded_with(keys: &str, change: impl FnOnce(&mut Request)) -> (TempDir, Loaded) {
    let package = TempDir::new().unwrap();
    let evals = format!("{{{keys}\n\"evals\": [{EVAL}, {{\"id\": 2, \"prompt\": \"Hi\", \"should_trigger\": true}}]}}");
    let other = "---\nname: other\ndescription: Another skill.\n---\n";
    for (path, text) in [
        ("SKILL.md", SKILL),
        ("evals/evals.json", evals.as_str()),
        ("evals/old/SKILL.md", SKILL),
        ("v1/SKILL.md", SKILL),
        ("evals/other/SKILL.md", other),
        ("evals/files/form.pdf", "form"),
    ] {
        let path = package.path().join("skills/pdf-forms").join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let mut request = Request::new("skills/pdf-forms", package.path());
    request.workspace_root = package.path().to_owned();
    change(&mut request);
    let loaded = load(&request);
    (package, loaded)
}

#[track_caller]
fn problem(keys: &str, expected: &str) {
    let (_package, loaded) = loaded_with(keys, |_| ());
    assert_eq!(lines(&loaded), [expected], "{keys}");
}

#[test]
fn every_arm_is_a_target_and_only_some_have_the_skill() {
    let keys = r#""arms": ["with_skill", "without_skill", {"old_skill": "v1"}], "trials": 3, "gates": ["lift > 0"],"#;
    let (_package, loaded) = loaded_with(keys, |_| ());
    let suite = loaded.suite.as_ref().unwrap_or_else(|| panic!("{:?}", lines(&loaded)));
    let arm = |name: &str| suite.suite.target(name).unwrap_or_else(|| panic!("no arm {name}"));
    let [with, old] = [WITH_SKILL, OLD_SKILL].map(|name| &arm(name).skill[0]);
    assert_eq!((with.to.as_str(), with.from.path.as_str()), (".agents/skills/pdf-forms", "skills/pdf-forms"));
    assert_eq!(with.without, ["evals", "v1"], "neither the answers nor the older copy");
    assert_eq!((old.to.as_str(), old.from.path.as_str()), (with.to.as_str(), "skills/pdf-forms/v1"));
    assert!(arm(WITHOUT_SKILL).skill.is_empty());
    assert!(suite.suite.targets.iter().all(|target| target.use_target.as_deref() == Some("default")));
    assert_eq!(suite.suite.gates, ["lift > 0"]);
    for loaded in &suite.cases {
        assert_eq!((loaded.case.trials.count, loaded.case.workspace.as_ref().unwrap().copies.len()), (3, 0));
    }
    // Whether the skill is used can be seen where it is.
    assert_eq!(suite.cases[1].case.targets, [WITH_SKILL, OLD_SKILL]);
    assert_eq!(suite.tests.len(), 5);
}

#[test]
fn a_skill_is_put_where_its_agents_look_for_it() {
    let directories = r#""skill_directories": [".claude/skills", "./tools//skills/"],"#;
    let (_package, loaded) = loaded_with(directories, |_| ());
    let suite = loaded.suite.as_ref().unwrap_or_else(|| panic!("{:?}", lines(&loaded)));
    let copies = &suite.cases[0].case.workspace.as_ref().unwrap().copies;
    let places: Vec<&str> = copies.iter().map(|copy| copy.to.as_str()).collect();
    assert_eq!(places, [".claude/skills/pdf-forms", "tools/skills/pdf-forms"]);
    problem(
        "\"skill_directories\": [\"../skills\"],",
        "evals.json:1:24 E017 `../skills` is not below the workspace; write a path in the workspace, such as `.claude/skills`",
    );
    problem(
        "\"skill_directories\": [\"/skills\"],",
        "evals.json:1:24 E017 `/skills` is an absolute path; write a path in the workspace, such as `.claude/skills`",
    );
}

#[test]
fn arms_that_compare_nothing_are_errors() {
    let compares_nothing = "E064 `arms` compares nothing: it needs `with_skill` and another arm; \
                            write `[\"with_skill\", \"without_skill\"]`, or delete the key";
    for arms in ["[\"with_skill\"]", "[\"without_skill\", {\"old_skill\": \"v1\"}]"] {
        problem(&format!("\"arms\": {arms},"), &format!("evals.json:1:10 {compares_nothing}"));
    }
    problem(
        "\"arms\": [\"with_skill\", \"without_skil\"],",
        "evals.json:1:25 E064 unknown arm `without_skil`; write `\"with_skill\"`, `\"without_skill\"` or `{\"old_skill\": PATH}`",
    );
    problem(
        "\"arms\": [\"with_skill\", \"without_skill\", \"with_skill\"],",
        "evals.json:1:42 E064 arm `with_skill` is listed twice; keep one",
    );
}

#[test]
fn an_older_copy_is_a_skill_of_the_same_name() {
    for (path, message) in [
        (".", "`.` is the directory of the skill itself; name a copy of an older version, such as `evals/old-skill`"),
        (
            "evals/files",
            "`evals/files` is not a skill: it has no `SKILL.md`; copy the whole directory of the older version",
        ),
    ] {
        let keys = format!("\"arms\": [\"with_skill\", {{\"old_skill\": \"{path}\"}}],");
        problem(&keys, &format!("evals.json:1:39 E064 {message}"));
    }
    problem(
        "\"arms\": [\"with_skill\", {\"old_skill\": \"evals/other\"}],",
        "evals.json:1:25 E064 `evals/other` is skill `other`, not an older copy of `pdf-forms`; write `name: pdf-forms` in its `SKILL.md`",
    );
}

#[test]
fn targets_of_the_macro_do_not_take_the_skill_away() {
    let (_package, loaded) = loaded_with("", |request| {
        request.targets = [WITH_SKILL, WITHOUT_SKILL].map(str::to_owned).to_vec();
    });
    let found = lines(&loaded);
    assert!(found.len() == 1 && found[0].contains("every trial of this suite has the skill"), "{found:?}");
}

#[test]
fn a_lift_is_compared_with_an_arm_of_the_skill() {
    problem(
        "\"arms\": [\"with_skill\", \"without_skill\"], \"gates\": [\"target:old_skill lift > 0\"],",
        "evals.json:1:53 E080 `lift` compares target `with_skill` with `old_skill`; add both to the targets of the suite",
    );
}
