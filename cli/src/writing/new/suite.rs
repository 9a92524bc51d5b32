//! `cargo evalsuite new suite`.

use std::io::Write;
use std::path::Path;

use clap::ValueEnum;
use evalsuite_loader::workspace_root;

use super::changes::{Changes, read_if_there};
use super::manifest::CrateSource;
use super::package_here::{PackageHere, check_name};
use super::questions::Question;
use super::{build_script, ci, dev_profile, editor, git_attributes, skill};
use crate::command_line::{LayoutName, NewSuite};
use crate::locate::{suite_request, suite_search};
use crate::platform::cli_error::{CliError, Result};
use crate::platform::output::{say, stdout};

/// Directory of suites in a package.
const SUITES: &str = "suites";

pub(super) fn write(arguments: &NewSuite) -> Result<()> {
    let package = PackageHere::find()?;
    let question = Question { text: "Name of the suite", argument: "NAME", default: Some("basics") };
    let name = question.answer(arguments.name.as_deref())?;
    check_name(&name)?;
    let source = match &arguments.crates {
        Some(directory) => CrateSource::Clone(suite_request::absolute(directory)?),
        None => CrateSource::of_this_program(),
    };

    let root = package.root.clone();
    let mut changes = Changes::new(&root);
    let workspace_root = workspace_root(&root);
    let adds_settings = arguments.nextest || arguments.ci || arguments.editor;
    let [suite_path, skill_path] = &[format!("{SUITES}/{name}"), skill::path(&root, &name)];
    let existing =
        [suite_path, skill_path].into_iter().find(|path| !suite_search::suites_in(&root.join(path)).is_empty());
    // To a suite that exists, only the settings are added.
    let is_new = arguments.force || !adds_settings || existing.is_none();
    let test = format!("tests/{}.rs", name.replace('-', "_"));
    let mut cases = ["greeting", "addition"];
    let mut notes = Vec::new();
    if is_new {
        let layout = arguments.layout.map_or_else(ask_layout, Ok)?;
        let (path, test_text) = match layout {
            LayoutName::Skill => {
                cases = skill::FIRST_CASES;
                skill::check_name(&name)?;
                (skill_path, skill::test_file(skill_path, &name))
            }
            LayoutName::Cases | LayoutName::Tasks => (suite_path, test_file(suite_path)),
        };
        let directory = root.join(path);
        for (path, text) in files(layout, &name, &test) {
            let path = directory.join(path);
            // A skill that exists gets evals.
            if layout != LayoutName::Skill || path.extension().is_none_or(|it| it != "md") || !path.is_file() {
                changes.create(path, text);
            }
        }
        changes.create(root.join(&test), test_text);
        let tracked = path.rsplit_once('/').map_or(path.as_str(), |(above, _)| above);
        add_build_script(&mut changes, &root.join(package.manifest.build_script()?), tracked)?;
        git_attributes::add(&mut changes, &root, tracked)?;
        let mut manifest = package.manifest;
        manifest.add_evalsuite(&source, &workspace_root)?;
        if !arguments.keep_debug_info {
            notes.extend(dev_profile::add(&mut manifest, &workspace_root, &mut changes)?);
        }
        manifest.write(&mut changes);
    }
    if arguments.ci {
        ci::add(&mut changes, &workspace_root)?;
    } else if arguments.nextest {
        ci::add_nextest_profile(&mut changes, &workspace_root)?;
    }
    if arguments.editor {
        notes.extend(editor::add(&mut changes, &workspace_root, arguments.force)?);
    }
    changes.write(arguments.force)?;
    notes.iter().for_each(|note| say!("{note}"));
    if let Some(existing) = existing.filter(|_| !is_new) {
        writeln!(stdout(), "\n{existing} already exists and was not changed.")?;
        return Ok(());
    }
    let [passes, fails] = cases;
    writeln!(
        stdout(),
        "\n`cargo test --test {}` runs two cases. `{passes}` passes; `{fails}` fails until `agent` in {test} calls your agent.",
        name.replace('-', "_")
    )?;
    Ok(())
}

fn ask_layout() -> Result<LayoutName> {
    let question = Question { text: "Layout: cases, tasks or skill", argument: "--layout", default: Some("cases") };
    let answer = question.answer(None)?;
    LayoutName::from_str(&answer, false)
        .map_err(|_| CliError::new(format!("`{answer}` is not a layout: cases, tasks, skill")))
}

fn add_build_script(changes: &mut Changes, path: &Path, directory: &str) -> Result<()> {
    let Some(text) = read_if_there(path)? else {
        changes.create(path, build_script::fresh(directory));
        return Ok(());
    };
    let Some(changed) = build_script::with_tracking(&text, directory)? else { return Ok(()) };
    let mut what = build_script::call(directory);
    if !text.contains("rerun-if-changed") {
        // Cargo's rule for scripts that name nothing ends with the first directory that is named.
        what.push_str(
            " (the build script now runs only when suites change; list other inputs with `cargo::rerun-if-changed`)",
        );
    }
    changes.edit(path, changed, what);
    Ok(())
}

fn files(layout: LayoutName, name: &str, test: &str) -> Vec<(&'static str, String)> {
    match layout {
        LayoutName::Skill => skill::files(name),
        LayoutName::Cases => vec![
            (
                "EVAL.yaml",
                format!(
                    "# What all cases share. Each case has a file of its own below cases/.\nname: {name}\ndescription: First cases of the agent.\n# With threshold 1, every grader has to pass. The default is a mean of at least 0.8.\nexecution: {{ timeout_seconds: 60, threshold: 1 }}\n"
                ),
            ),
            (
                "cases/greeting/case.yaml",
                "input: Say hello in French, in one word.\nassertions:\n  - { type: equals, value: Bonjour }\n"
                    .to_owned(),
            ),
            (
                "cases/addition/case.yaml",
                format!(
                    "# Fails until `agent` in {test} calls your agent.\ninput: What is 17 + 25? Answer with the number only.\nassertions:\n  - {{ type: equals, value: \"42\" }}\n"
                ),
            ),
        ],
        LayoutName::Tasks => vec![
            (
                "suite.json",
                format!("{{\n  \"name\": {name:?},\n  \"agent_name\": \"agent\",\n  \"kind\": \"capability\"\n}}\n"),
            ),
            (
                "tasks/greeting.json",
                task("greeting", "The greeting is French.", "Say hello in French, in one word.", "Bonjour"),
            ),
            (
                "tasks/addition.json",
                task("addition", "Two numbers are added.", "What is 17 + 25? Answer with the number only.", "42"),
            ),
        ],
    }
}

fn task(id: &str, description: &str, input: &str, answer: &str) -> String {
    format!(
        "{{\n  \"id\": {id:?},\n  \"description\": {description:?},\n  \"input\": {{ \"prompt\": {input:?} }},\n  \"graders\": [{{ \"name\": \"equals\", \"config\": {{ \"value\": {answer:?} }} }}]\n}}\n"
    )
}

fn test_file(path: &str) -> String {
    format!(
        r#"//! Runs `{path}`, one test per case.

use evalsuite::{{BoxError, Trial, include_eval_suite}};

include_eval_suite!("{path}");

/// Stands in for the agent: call yours here, with `trial.prompt()`.
async fn agent(trial: &mut Trial<'_>) -> Result<String, BoxError> {{
    trial.log(format!("the prompt is {{:?}}", trial.prompt()));
    Ok("Bonjour".to_owned())
}}
"#
    )
}
