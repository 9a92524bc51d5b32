//! `cargo evalsuite new ci` and `new editor`: the profile of nextest and the workflow for a CI server; JSON Schemas of suites, and the
//! settings of VS Code that name them.

use std::fs;
use std::io::Write;
use std::path::Path;

use evalsuite_loader::key_tables::json_schema;
use evalsuite_loader::workspace_root;
use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstArray, CstInputValue, CstObject, CstRootNode};
use toml_edit::{DocumentMut, InlineTable, Item, Table, Value, value};

use super::package::{self, Changes, PackageHere, manifest_directory, read_if_there};
use super::{NewCi, NewEditor};
use crate::platform::exit_status::Result;
use crate::platform::output::{say, stdout};

/// The workflow. `.ci/release` checks it.
const WORKFLOW: &str = include_str!("../../assets/evals.yml");

pub(super) fn write_ci(arguments: &NewCi) -> Result<()> {
    let root = workspace_root(&manifest_directory()?);
    let mut changes = Changes::new(&root);
    add_ci(&mut changes, &root)?;
    if changes.is_empty() {
        writeln!(stdout(), "the workflow and the profile are up to date")?;
        return Ok(());
    }
    changes.write(arguments.force)
}

/// Adds the workflow, and the profile of nextest that it uses.
pub(super) fn add_ci(changes: &mut Changes, workspace_root: &Path) -> Result<()> {
    add_nextest_profile(changes, workspace_root)?;
    add_workflow(changes, workspace_root)
}

/// Adds the profile `ci` to `.config/nextest.toml`, unless it is there.
pub(super) fn add_nextest_profile(changes: &mut Changes, workspace_root: &Path) -> Result<()> {
    let path = workspace_root.join(".config/nextest.toml");
    let is_there = path.is_file();
    let mut document = if is_there { package::read_manifest(&path)? } else { DocumentMut::new() };
    let profiles = document.entry("profile").or_insert_with(|| {
        let mut profiles = Table::new();
        profiles.set_implicit(true);
        Item::Table(profiles)
    });
    let Some(profiles) = profiles.as_table_like_mut().filter(|profiles| !profiles.contains_key("ci")) else {
        return Ok(());
    };
    let mut limit = InlineTable::new();
    limit.insert("period", "60s".into());
    limit.insert("terminate-after", 10.into());
    let mut profile = Table::new();
    profile.insert("fail-fast", value(false));
    // Several trials of a case are set in the suite.
    profile.insert("retries", value(0));
    profile.insert("slow-timeout", Item::Value(Value::InlineTable(limit)));
    profiles.insert("ci", Item::Table(profile));
    match is_there {
        true => changes.edit(path, document.to_string(), "profile ci"),
        false => changes.create(path, document.to_string()),
    }
    Ok(())
}

/// Writes a workflow of GitHub Actions into the repository around the workspace, unless it is there.
fn add_workflow(changes: &mut Changes, workspace_root: &Path) -> Result<()> {
    let repository = workspace_root.ancestors().find(|directory| directory.join(".git").exists());
    let repository = repository.unwrap_or(workspace_root);
    let text = match workspace_root.strip_prefix(repository).unwrap_or(Path::new("")).to_string_lossy() {
        below if below.is_empty() => WORKFLOW.to_owned(),
        below => WORKFLOW
            .replace("    env:\n", &format!("    defaults: {{ run: {{ working-directory: {below:?} }} }}\n    env:\n"))
            .replace("path: target/", &format!("path: {below}/target/")),
    };
    let path = repository.join(".github/workflows/evals.yml");
    if read_if_there(&path)?.as_ref() != Some(&text) {
        changes.create(path, text);
    }
    Ok(())
}

/// Directory of the schemas in a workspace.
const DIRECTORY: &str = ".evalsuite/schema";

const SETTINGS: &str = ".vscode/settings.json";

/// The files that an agent works on. A file in there has no schema, whatever its name.
const NOT_IN_WORKSPACES: &str = "!**/suites/**/workspace/**";

/// Kinds of files in YAML, and the names of such files.
const YAML: &[(&str, &[&str])] = &[
    ("eval", &["EVAL.yaml", "EVAL.yml", "*.eval.yaml", "*.eval.yml", NOT_IN_WORKSPACES]),
    ("case", &["**/cases/*/case.yaml", "**/cases/*/case.yml", NOT_IN_WORKSPACES]),
    ("targets", &["**/suites/**/targets.yaml", "**/.evalsuite/targets.yaml", NOT_IN_WORKSPACES]),
    ("calibration", &["calibration.yaml", "*.calibration.yaml", NOT_IN_WORKSPACES]),
    ("template", &["**/.evalsuite/templates/*.yaml"]),
];

/// Kinds of files in JSON, and the names of such files.
const JSON: &[(&str, &[&str])] = &[
    ("suite", &["**/suites/**/suite.json", NOT_IN_WORKSPACES]),
    ("task", &["**/suites/**/tasks/**/*.json", NOT_IN_WORKSPACES]),
    ("evals", &["**/evals/evals.json", NOT_IN_WORKSPACES]),
];

pub(super) fn write_editor(arguments: &NewEditor) -> Result<()> {
    let package = PackageHere::find()?;
    let root = workspace_root(&package.root);
    let mut changes = Changes::new(&package.root);
    let note = add_editor(&mut changes, &root, arguments.force)?;
    if changes.is_empty() && note.is_none() {
        writeln!(stdout(), "the schemas and {SETTINGS} are up to date")?;
        return Ok(());
    }
    changes.write(arguments.force)?;
    if let Some(note) = note {
        say!("{note}");
    }
    Ok(())
}

/// Adds the schemas and the settings to what is written. A note where the settings have to be changed by hand.
pub(super) fn add_editor(changes: &mut Changes, root: &Path, force: bool) -> Result<Option<String>> {
    for (kind, _) in YAML.iter().chain(JSON) {
        let path = root.join(DIRECTORY).join(format!("{kind}.json"));
        let text = json_schema(kind).map(|schema| format!("{schema:#}\n")).unwrap_or_default();
        if fs::read_to_string(&path).ok().as_deref() != Some(&text) {
            changes.create(path, text);
        }
    }
    let path = root.join(SETTINGS);
    let old = read_if_there(&path)?;
    match (with_schemas(old.as_deref().unwrap_or("{}\n"), force), old) {
        (Ok(text), None) => changes.create(path, text),
        (Ok(text), Some(old)) if text != old => changes.edit(path, text, "yaml.schemas, json.schemas"),
        (Ok(_), Some(_)) => {}
        (Err(reason), _) => {
            let missing = with_schemas("{}\n", false).unwrap_or_default();
            return Ok(Some(format!("note: {SETTINGS} was not changed: {reason}\n  = help: add to it:\n{missing}")));
        }
    }
    Ok(None)
}

/// The settings with what they lack; comments and everything else stay. `Err`: why they are not changed.
fn with_schemas(settings: &str, force: bool) -> Result<String, String> {
    let file = CstRootNode::parse(settings, &ParseOptions::default()).map_err(|error| error.to_string())?;
    let root = file.object_value_or_create().ok_or("it is not an object")?;
    let yaml = root.object_value_or_create("yaml.schemas").ok_or("`yaml.schemas` is not an object")?;
    for (kind, names) in YAML {
        match yaml.get(&place(kind)) {
            None => drop(yaml.append(&place(kind), texts(names))),
            Some(entry) if force => entry.set_value(texts(names)),
            // The user may have other names.
            Some(_) => {}
        }
    }
    let json = root.array_value_or_create("json.schemas").ok_or("`json.schemas` is not a list")?;
    for (kind, names) in JSON {
        let value = CstInputValue::Object(vec![
            ("fileMatch".to_owned(), texts(names)),
            ("url".to_owned(), CstInputValue::String(place(kind))),
        ]);
        match with_url(&json, &place(kind)) {
            None => drop(json.append(value)),
            Some(entry) if force => drop(entry.replace_with(value)),
            Some(_) => {}
        }
    }
    Ok(file.to_string())
}

/// How settings name a schema.
fn place(kind: &str) -> String {
    format!("./{DIRECTORY}/{kind}.json")
}

fn texts(texts: &[&str]) -> CstInputValue {
    CstInputValue::Array(texts.iter().map(|text| CstInputValue::String((*text).to_owned())).collect())
}

fn with_url(list: &CstArray, url: &str) -> Option<CstObject> {
    list.elements().into_iter().filter_map(|element| element.as_object()).find(|object| {
        let value = object.get("url").and_then(|entry| entry.value()?.as_string_lit()?.decoded_value().ok());
        value.as_deref() == Some(url)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether VS Code gives a path the schema of these names: one matches, and the last one that matches does not start with `!`.
    fn applies(names: &[&str], path: &str) -> bool {
        let matching = names.iter().rfind(|name| {
            let name = name.trim_start_matches('!');
            // A name without a directory is one in any directory.
            let name = if name.contains('/') { name.to_owned() } else { format!("**/{name}") };
            matches(&name.split('/').collect::<Vec<_>>(), &path.split('/').collect::<Vec<_>>())
        });
        matching.is_some_and(|name| !name.starts_with('!'))
    }

    fn matches(pattern: &[&str], path: &[&str]) -> bool {
        match (pattern, path) {
            ([], []) => true,
            (["**", rest @ ..], _) => (0..=path.len()).any(|skipped| matches(rest, &path[skipped..])),
            ([name, pattern @ ..], [part, path @ ..]) => {
                let fits = name.split_once('*').map_or(name == part, |(start, end)| {
                    part.len() >= start.len() + end.len() && part.starts_with(start) && part.ends_with(end)
                });
                fits && matches(pattern, path)
            }
            _ => false,
        }
    }

    /// Files of a directory and those below, with the directories in between.
    fn files_below(directory: &Path, found: &mut Vec<String>) {
        for entry in fs::read_dir(directory).expect("a directory").map(|entry| entry.expect("an entry").path()) {
            match entry.is_dir() {
                true if entry.ends_with("target") => {}
                true => files_below(&entry, found),
                false => found.push(entry.to_string_lossy().replace('\\', "/")),
            }
        }
    }

    #[test]
    fn each_file_of_the_example_suites_has_the_schema_of_its_kind() {
        let examples = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("a workspace").join("examples");
        let mut files = Vec::new();
        files_below(&examples, &mut files);
        let (mut of_workspaces, mut with_schema) = (0, 0);
        for file in files.iter().filter(|file| file.contains("/suites/")) {
            let kinds: Vec<&str> =
                YAML.iter().chain(JSON).filter(|(_, names)| applies(names, file)).map(|(kind, _)| *kind).collect();
            let name = file.rsplit('/').next().unwrap_or_default();
            let expected: &[&str] = match name {
                _ if file.contains("/workspace/") => &[],
                "EVAL.yaml" => &["eval"],
                "case.yaml" => &["case"],
                "targets.yaml" => &["targets"],
                "calibration.yaml" => &["calibration"],
                "suite.json" => &["suite"],
                _ if name.ends_with(".json") && file.contains("/tasks/") => &["task"],
                _ => &[],
            };
            assert_eq!(kinds, expected, "{file}");
            of_workspaces += usize::from(file.contains("/workspace/") && name.ends_with(".json"));
            with_schema += kinds.len();
        }
        assert!(
            of_workspaces > 5 && with_schema > 20,
            "{of_workspaces} files in workspaces, {with_schema} with a schema"
        );
        // The directory of the user's own may have that name.
        assert!(applies(YAML[1].1, "/home/ana/workspace/shop/suites/orders/cases/one/case.yaml"));
        assert!(!applies(YAML[1].1, "suites/orders/cases/one/files/cases.d/case.yaml"));
    }

    #[test]
    fn comments_and_other_settings_stay() {
        let old = "// mine\n{\n  \"editor.tabSize\": 2, // two\n  \"yaml.schemas\": {\n    \"./other.json\": \"x.yaml\",\n  },\n}\n";
        let new = with_schemas(old, false).expect("settings");
        for part in [
            "// mine\n{",
            "\"editor.tabSize\": 2, // two",
            "\"./other.json\": \"x.yaml\"",
            "./.evalsuite/schema/eval.json",
        ] {
            assert!(new.contains(part), "{part} in {new}");
        }
        assert_eq!(with_schemas(&new, false).as_deref(), Ok(new.as_str()), "a second time changes nothing");
    }

    #[test]
    fn an_entry_of_the_user_is_replaced_by_force_only() {
        let old = "{ \"yaml.schemas\": { \"./.evalsuite/schema/eval.json\": \"mine.yaml\" }, \"json.schemas\": [{ \"url\": \"./.evalsuite/schema/task.json\", \"fileMatch\": [\"mine.json\"] }] }";
        let kept = with_schemas(old, false).expect("settings");
        assert!(kept.contains("mine.yaml") && kept.contains("mine.json"), "{kept}");
        assert_eq!(kept.matches("schema/task.json").count(), 1);
        let forced = with_schemas(old, true).expect("settings");
        assert!(!forced.contains("mine.") && forced.matches("schema/task.json").count() == 1, "{forced}");
    }

    #[test]
    fn what_is_not_understood_is_left_alone() {
        for text in ["[]", "{ \"yaml.schemas\": 5 }", "{ \"json.schemas\": {} }", "{ \"a\": ", "5", "{} {}"] {
            assert!(with_schemas(text, true).is_err(), "{text}");
        }
    }
}
