//! `cargo evalsuite new suite`, with the canary of the suite, by which a leak of its files is noticed, and the build script that tracks it.

use std::hash::{BuildHasher as _, RandomState};
use std::io::Write;
use std::path::Path;
use std::process;
use std::time::SystemTime;

use clap::ValueEnum;
use evalsuite_loader::workspace_root;
use evalsuite_schema::discovery::{SKILL_EVALS, SKILL_FILE};
use proc_macro2::TokenStream;
use syn::Item;

use super::package::{self, Changes, CrateSource, PackageHere, check_name, read_if_there};
use super::{LayoutName, NewSuite, Question, ci_and_editor};
use crate::locate::includes::tracked_directories;
use crate::locate::suite_search::{self, SKILL_HOMES};
use crate::platform::exit_status::{CliError, Result};
use crate::platform::output::{say, stdout};

/// Directory of suites in a package.
const SUITES: &str = "suites";

/// Directory of skills in a package, unless agents find the skill in another one.
const SKILLS: &str = "skills";

/// Longest name of a skill, and of a suite in its eval file, in characters.
const LONGEST_NAME: usize = 64;

/// The first line of what is added to the attributes of git.
const ATTRIBUTES_COMMENT: &str = "# Suites, recordings and baselines have the same line breaks on every system.";

/// The files of a suite and their texts, in which `{name}` is the name of the suite and `{test}` its test file.
type Template = [(&'static str, &'static str)];

const CASES: &Template = &[
    ("EVAL.yaml", include_str!("../../assets/new/eval_file.yaml")),
    ("cases/greeting/case.yaml", include_str!("../../assets/new/greeting.yaml")),
    ("cases/addition/case.yaml", include_str!("../../assets/new/addition.yaml")),
];

const TASKS: &Template = &[
    ("suite.json", include_str!("../../assets/new/suite_of_tasks.json")),
    ("tasks/greeting.json", include_str!("../../assets/new/greeting.json")),
    ("tasks/addition.json", include_str!("../../assets/new/addition.json")),
];

/// Without expectations: they need a judge, which a new package does not have.
const SKILL: &Template = &[
    (SKILL_FILE, include_str!("../../assets/new/skill.md.txt")),
    (SKILL_EVALS, include_str!("../../assets/new/skill_evals.json")),
];

pub(super) fn write(arguments: &NewSuite) -> Result<()> {
    let package = PackageHere::find()?;
    let question = Question { text: "Name of the suite", argument: "NAME", default: Some("basics") };
    let name = question.answer(arguments.name.as_deref())?;
    check_name(&name)?;
    if name == "evalsuite" {
        return Err(CliError::with_help(
            "a suite cannot have the name of the crate `evalsuite`",
            "choose another name",
        ));
    }
    let source = match &arguments.crates {
        Some(directory) => CrateSource::Clone(suite_search::absolute(directory)?),
        None => CrateSource::of_this_program(),
    };

    let root = package.root.clone();
    let mut changes = Changes::new(&root);
    let workspace_root = workspace_root(&root);
    let adds_settings = arguments.nextest || arguments.ci || arguments.editor;
    let [suite_path, skill_path] = &[format!("{SUITES}/{name}"), skill_path(&root, &name)];
    let existing =
        [suite_path, skill_path].into_iter().find(|path| !suite_search::suites_in(&root.join(path)).is_empty());
    // To a suite that exists, only the settings are added.
    let is_new = arguments.force || !adds_settings || existing.is_none();
    let test = format!("tests/{}.rs", name.replace('-', "_"));
    // The case that passes at once, and the one that fails until the agent is called.
    let mut cases = ["greeting", "addition"];
    let mut notes = Vec::new();
    if is_new {
        let layout = arguments.layout.map_or_else(ask_layout, Ok)?;
        let (path, files, test_text) = match layout {
            LayoutName::Cases => {
                check_eval_name(&name)?;
                (suite_path, CASES, include_str!("../../assets/new/suite_test.rs.txt"))
            }
            LayoutName::Tasks => (suite_path, TASKS, include_str!("../../assets/new/suite_test.rs.txt")),
            LayoutName::Skill => {
                check_skill_name(&name)?;
                cases = ["unrelated", "needed"];
                (skill_path, SKILL, include_str!("../../assets/new/skill_test.rs.txt"))
            }
        };
        let canary = new_canary();
        for (file, text) in files {
            let file = root.join(path).join(file);
            // A skill that exists gets evals.
            if !(file.ends_with(SKILL_FILE) && file.is_file()) {
                let text = text.replace("{name}", &name).replace("{test}", &test);
                changes.create(file, text.replace("{canary}", &canary));
            }
        }
        // A module of the name of a crate would hide the crate.
        let module = name.replace('-', "_");
        let name_argument = if package.manifest.crates().contains(&module) {
            format!(", name = {module}_suite")
        } else {
            String::new()
        };
        let test_text = test_text.replace("{arguments}", &name_argument);
        changes.create(root.join(&test), test_text.replace("{path}", path).replace("{name}", &name));
        let tracked = path.rsplit_once('/').map_or(path.as_str(), |(above, _)| above);
        add_build_script(&mut changes, &root.join(package.manifest.build_script()?), tracked)?;
        add_git_attributes(&mut changes, &root, tracked)?;
        let mut manifest = package.manifest;
        manifest.add_evalsuite(&source, &workspace_root);
        if !arguments.keep_debug_info {
            notes.extend(package::add_dev_profile(&mut manifest, &workspace_root, &mut changes)?);
        }
        manifest.write(&mut changes);
    }
    if arguments.ci {
        ci_and_editor::add_ci(&mut changes, &workspace_root)?;
    } else if arguments.nextest {
        ci_and_editor::add_nextest_profile(&mut changes, &workspace_root)?;
    }
    if arguments.editor {
        notes.extend(ci_and_editor::add_editor(&mut changes, &workspace_root, arguments.force)?);
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
        changes.create(path, new_build_script(directory));
        return Ok(());
    };
    let Some(changed) = with_tracking(&text, directory)? else { return Ok(()) };
    let mut what = tracking_call(directory);
    if !text.contains("rerun-if-changed") {
        // Cargo's rule for scripts that name nothing ends with the first directory that is named.
        what.push_str(
            " (the build script now runs only when suites change; list other inputs with `cargo::rerun-if-changed`)",
        );
    }
    changes.edit(path, changed, what);
    Ok(())
}

/// Adds the attributes by which git checks out suites, recordings and baselines with the same line breaks on every system, as far as they
/// are missing.
fn add_git_attributes(changes: &mut Changes, root: &Path, suites: &str) -> Result<()> {
    let path = root.join(".gitattributes");
    let old = read_if_there(&path)?;
    let text = old.as_deref().unwrap_or_default();
    // Whoever has a rule for these files has decided.
    let has_rule =
        |directory: &str| text.lines().any(|line| line.trim_start_matches('/').starts_with(&format!("{directory}/")));
    let directories = [suites, ".evalsuite"].into_iter().filter(|directory| !has_rule(directory));
    let missing: Vec<String> = directories.map(|directory| format!("/{directory}/** text=auto eol=lf")).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let between = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    let changed = format!("{text}{between}{ATTRIBUTES_COMMENT}\n{}\n", missing.join("\n"));
    match old {
        Some(_) => changes.edit(path, changed, missing.join(", ")),
        None => changes.create(path, changed),
    }
    Ok(())
}

/// The directory of a skill, relative to the package: where it is, or else `skills/NAME`.
fn skill_path(root: &Path, name: &str) -> String {
    let homes = SKILL_HOMES.iter().map(|home| format!("{home}/{SKILLS}"));
    let mut directories = [SKILLS.to_owned()].into_iter().chain(homes).map(|above| format!("{above}/{name}"));
    let is_there = |path: &String| root.join(path).join(SKILL_FILE).is_file();
    directories.find(is_there).unwrap_or_else(|| format!("{SKILLS}/{name}"))
}

/// Refuses a name that an eval file cannot have.
fn check_eval_name(name: &str) -> Result<()> {
    let is_short = name.len() <= LONGEST_NAME;
    if is_short && !name.contains(|c: char| c.is_ascii_uppercase()) {
        return Ok(());
    }
    let message = format!(
        "`{name}` is not a valid name of a suite of cases: use at most {LONGEST_NAME} characters out of a-z, 0-9, `-` and `_`"
    );
    Err(CliError::with_suggestion(message, is_short.then(|| format!("write `{}`", name.to_ascii_lowercase()))))
}

/// Refuses a name that agents do not accept as that of a skill.
fn check_skill_name(name: &str) -> Result<()> {
    let is_allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if name.len() <= LONGEST_NAME && name.chars().all(is_allowed) && !name.ends_with('-') && !name.contains("--") {
        return Ok(());
    }
    let message = format!(
        "`{name}` is not a valid name of a skill: use at most {LONGEST_NAME} characters out of a-z, 0-9 and single `-` between them"
    );
    Err(CliError::new(message))
}

/// A random GUID (version 4).
fn new_canary() -> String {
    // The standard library has no other source of random numbers.
    let keys = RandomState::new();
    let part = |number: u8| u128::from(keys.hash_one((number, process::id(), SystemTime::now())));
    let bits = part(0) << 64 | part(1);
    let bits = bits & !(0xf << 76) & !(0b11 << 62) | 4 << 76 | 0b10 << 62;
    let digits = format!("{bits:032x}");
    let parts = [0..8, 8..12, 12..16, 16..20, 20..32].map(|range| &digits[range]);
    parts.join("-")
}

/// The canary that a file of a suite names.
pub(super) fn canary_in(text: &str) -> Option<&str> {
    let lines = text.lines().filter(|line| line.trim_start_matches(['"', ' ']).starts_with("canary"));
    let is_guid = |word: &&str| word.len() == 36 && word.bytes().all(|byte| byte == b'-' || byte.is_ascii_hexdigit());
    lines.flat_map(|line| line.split(['"', '\'', ' ', ','])).find(is_guid)
}

/// A build script for a package without one.
fn new_build_script(directory: &str) -> String {
    format!("//! Lets cargo notice new cases.\n\nfn main() {{\n    {}\n}}\n", tracking_call(directory))
}

/// The call that tracks a directory.
fn tracking_call(directory: &str) -> String {
    format!("evalsuite_build::track({directory:?});")
}

/// The text of a build script with a call that tracks `directory` as the first statement of `main`; `None` if it is tracked.
fn with_tracking(text: &str, directory: &str) -> Result<Option<String>> {
    let by_hand = |why: &str| CliError::with_help(why, format_args!("add `{}` to it", tracking_call(directory)));
    let invalid = |error: &dyn std::fmt::Display| by_hand(&format!("the build script is not valid Rust: {error}"));
    // Not `parse_file`: it counts positions from after a byte order mark.
    let tokens: TokenStream = text.parse().map_err(|error: proc_macro2::LexError| invalid(&error))?;
    // A call may name a directory around it.
    if tracked_directories(tokens.clone()).iter().any(|tracked| Path::new(directory).starts_with(tracked)) {
        return Ok(None);
    }
    let file: syn::File = syn::parse2(tokens).map_err(|error| invalid(&error))?;
    let main = file.items.iter().find_map(|item| match item {
        Item::Fn(function) if function.sig.ident == "main" => Some(&function.block),
        _ => None,
    });
    let Some(main) = main else { return Err(by_hand("the build script has no function `main`")) };
    let (before, after) = text.split_at(main.brace_token.span.open().byte_range().end);
    let rest_of_line = after.lines().next().unwrap_or_default().trim();
    let end = if rest_of_line.is_empty() { "" } else { "\n" };
    Ok(Some(format!("{before}\n    {}{end}{after}", tracking_call(directory))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_read_from_yaml_and_json() {
        let guid = "3f0c9b52-61de-4a57-9a0e-7d1f5b8c2e46";
        for text in
            [format!("name: a\ncanary: {guid}\n"), format!("{{\n  \"canary\": \"{guid}\",\n  \"name\": \"a\"\n}}")]
        {
            assert_eq!(canary_in(&text), Some(guid), "{text}");
        }
        assert_eq!(canary_in("name: canary\n"), None);
    }

    #[test]
    fn each_is_another_guid() {
        let (one, other) = (new_canary(), new_canary());
        assert_ne!(one, other);
        assert_eq!(one.split('-').map(str::len).collect::<Vec<_>>(), [8, 4, 4, 4, 12]);
        assert!(one[14..].starts_with('4') && one[19..].starts_with(['8', '9', 'a', 'b']), "{one}");
    }

    #[test]
    fn the_call_is_the_first_statement_of_main() {
        let text = "use std::env; // {\n\nfn main() {\n    // my code\n    println!(\"{}\", 1);\n}\n";
        let expected = text.replace("fn main() {", "fn main() {\n    evalsuite_build::track(\"suites\");");
        assert_eq!(with_tracking(text, "suites").expect("valid Rust"), Some(expected));
        let short = with_tracking("fn main() {}", "suites").expect("valid Rust");
        assert_eq!(short.as_deref(), Some("fn main() {\n    evalsuite_build::track(\"suites\");\n}"));
        syn::parse_file(&new_build_script("suites")).expect("valid Rust");
    }

    #[test]
    fn a_directory_that_is_tracked_is_not_tracked_again() {
        for call in ["evalsuite_build::track(\"suites\")", "track(\"suites/\");", "if true { track(\"suites\") }"] {
            let text = format!("fn main() {{ {call} }}");
            assert_eq!(with_tracking(&text, "suites/shop").expect("valid Rust"), None, "{call}");
        }
        assert!(with_tracking("fn main() { track(\"evals\") }", "suites").expect("valid Rust").is_some());
    }

    #[test]
    fn a_script_that_cannot_be_changed_names_the_line_to_add() {
        for text in ["fn main() {", "fn mian() {}"] {
            let error = with_tracking(text, "suites").expect_err("the script is broken").to_string();
            assert!(error.ends_with("= help: add `evalsuite_build::track(\"suites\");` to it"), "{error}");
        }
    }
}
