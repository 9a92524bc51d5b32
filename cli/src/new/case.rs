//! `cargo evalsuite new case`, `new calibration` and `new grader`: a case, answers rated by people, and a function with its name in the
//! call that includes the suite.

use std::io::Write;
use std::path::Path;

use evalsuite_loader::{LoadedCase, load};
use evalsuite_schema::discovery::{SKILL_EVALS, suite_files, workspace_around};
use evalsuite_schema::grader::BUILT_IN;
use evalsuite_schema::json::{Value, json};
use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstInputValue, CstRootNode};
use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use syn::{Ident, LitStr};

use super::package::{Changes, PackageHere, Suite, check_name, read_if_there};
use super::{NewCalibration, NewCase, NewGrader, Question, suite};
use crate::locate::includes::{self, SourceFile};
use crate::locate::suite_search;
use crate::platform::exit_status::{CliError, Result};
use crate::platform::output::stdout;

pub(super) fn write(arguments: &NewCase) -> Result<()> {
    let package = PackageHere::find()?;
    let suite = package.suite(arguments.suite.as_deref())?;
    let question = |text, argument| Question { text, argument, default: None };
    let id = question("Id of the case", "ID").answer(arguments.id.as_deref())?;
    check_name(&id)?;
    let input = question("Prompt for the agent", "--input").answer(arguments.input.as_deref())?;
    let check = match &arguments.criteria {
        Some(criteria) => Check::Criteria(criteria.clone()),
        None => {
            let question = question("Text that the answer must contain", "--contains");
            Check::Contains(question.answer(arguments.contains.as_deref())?)
        }
    };
    check_place(&suite, &id, arguments.force)?;
    let mut changes = Changes::new(&package.root);
    let texts = suite_files(&suite.path)?.into_iter().map(|(file, _)| read_if_there(&file));
    let texts = texts.collect::<Result<Vec<_>>>()?;
    let canary = texts.iter().flatten().find_map(|text| suite::canary_in(text));
    if suite.is_skill {
        let path = suite.path.join(SKILL_EVALS);
        let text = with_eval(&read_if_there(&path)?.unwrap_or_default(), &id, &input, &check).ok_or_else(|| {
            CliError::with_help(format!("{} has no list `evals`", path.display()), "see `cargo evalsuite check`")
        })?;
        changes.edit(path, text, format!("eval {id}"));
    } else if suite.has_tasks {
        changes.create(suite.path.join(format!("tasks/{id}.json")), task(&id, &input, &check, canary));
    } else {
        changes.create(suite.cases.join(format!("{id}/case.yaml")), case(&input, &check, canary));
    }
    changes.write(arguments.force)
}

/// Refuses a case that would break the suite: one whose id another case has, and one in a directory that the suite does not read. Of a
/// suite with errors, neither is known.
fn check_place(suite: &Suite, id: &str, is_forced: bool) -> Result<()> {
    let Some(loaded) = load(&suite_search::request(&suite.path)?).suite else { return Ok(()) };
    let workspace = workspace_around(&suite.path);
    let file = |case: &LoadedCase| workspace.join(&case.case.location.file);
    let replaced = if suite.has_tasks { suite.path.join(format!("tasks/{id}.json")) } else { suite.cases.join(id) };
    let is_replaced = |case: &LoadedCase| !suite.is_skill && file(case).starts_with(&replaced);
    let known = loaded.cases.iter().find(|case| case.case.id == *id);
    if let Some(case) = known.filter(|case| !is_replaced(case) || !is_forced) {
        let message = format!("{} has a case `{id}` already: {}", suite.entry, case.case.location);
        let help =
            if is_replaced(case) { "choose another id, or replace it with `--force`" } else { "choose another id" };
        return Err(CliError::with_help(message, help));
    }
    let tasks = suite.path.join("tasks");
    let is_listed =
        |case: &LoadedCase| ![&suite.cases, &tasks].iter().any(|directory| file(case).starts_with(directory));
    if !suite.is_skill && !suite.has_tasks && !loaded.cases.is_empty() && loaded.cases.iter().all(is_listed) {
        let message = format!("{} lists its cases in `tests`, and does not read a directory of cases", suite.entry);
        let help = format!("add the case to the list, whose first one is at {}", loaded.cases[0].case.location);
        return Err(CliError::with_help(message, help));
    }
    Ok(())
}

/// How the answer is checked.
enum Check {
    Contains(String),
    /// By a judge.
    Criteria(String),
}

/// A text of JSON is one of YAML, too.
fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

fn case(input: &str, check: &Check, canary: Option<&str>) -> String {
    let input = quoted(input);
    let comment = canary.map(|canary| format!("# canary: {canary}\n")).unwrap_or_default();
    comment
        + &match check {
            Check::Contains(text) => {
                format!("input: {input}\nassertions:\n  - {{ type: contains, value: {} }}\n", quoted(text))
            }
            Check::Criteria(criteria) => format!("input: {input}\ncriteria: {}\n", quoted(criteria)),
        }
}

/// `evals.json` with another eval.
fn with_eval(text: &str, id: &str, input: &str, check: &Check) -> Option<String> {
    let file = CstRootNode::parse(text, &ParseOptions::default()).ok()?;
    let evals = file.object_value()?.array_value("evals")?;
    let expectation = match check {
        Check::Contains(text) => format!("The answer contains `{text}`."),
        Check::Criteria(criteria) => criteria.clone(),
    };
    let text = |text: &str| CstInputValue::String(text.to_owned());
    evals.append(CstInputValue::Object(vec![
        ("id".to_owned(), text(id)),
        ("prompt".to_owned(), text(input)),
        ("expectations".to_owned(), CstInputValue::Array(vec![text(&expectation)])),
    ]));
    Some(file.to_string())
}

fn task(id: &str, input: &str, check: &Check, canary: Option<&str>) -> String {
    let (description, grader) = match check {
        Check::Contains(text) => {
            (format!("The answer contains `{text}`."), json!({ "name": "contains", "config": { "value": text } }))
        }
        Check::Criteria(criteria) => (criteria.clone(), json!({ "name": "llm-grader" })),
    };
    let canary = canary.map(|canary| format!("\n  \"canary\": {},", quoted(canary))).unwrap_or_default();
    let (id, description, input) = (quoted(id), quoted(&description), quoted(input));
    format!(
        "{{\n  \"id\": {id},{canary}\n  \"description\": {description},\n  \"input\": {{ \"prompt\": {input} }},\n  \"graders\": [{grader}]\n}}\n"
    )
}

pub(super) fn write_calibration(arguments: &NewCalibration) -> Result<()> {
    let package = PackageHere::find()?;
    let suite = package.suite(arguments.suite.as_deref())?;
    let mut changes = Changes::new(&package.root);
    // Samples of their own: which cases have a judge is the suite's business.
    changes.create(suite.path.join("calibration.yaml"), include_str!("../../assets/new/calibration.yaml"));
    let mut manifest = package.manifest;
    manifest.add_feature("grader-tests");
    manifest.write(&mut changes);
    changes.write(arguments.force)?;
    writeln!(stdout(), "\n`cargo evalsuite calibrate {}` measures the judge of the environment.", suite.entry)?;
    Ok(())
}

pub(super) fn write_grader(arguments: &NewGrader) -> Result<()> {
    let package = PackageHere::find()?;
    let suite = package.suite(arguments.suite.as_deref())?;
    let question = Question { text: "Name of the grader", argument: "NAME", default: None };
    let name = question.answer(arguments.name.as_deref())?.replace('-', "_");
    check_name(&name)?;
    check_grader_name(&name)?;
    let function = include_str!("../../assets/new/grader.rs.txt").replace("{name}", &name);
    if suite.is_skill {
        let message = format!("{} is an Agent Skill, whose evals name no graders", suite.entry);
        return Err(CliError::with_help(message, "add to the `expectations` of an eval"));
    }
    let edited = includes::source_files(&package.root)
        .into_iter()
        .find_map(|file| Some((registered(&file, &package.root, &suite.path, &name)?, file)));
    let Some((text, file)) = edited else {
        let message = format!("no source file calls `include_eval_suite!({:?})` outside of modules", suite.entry);
        let help = format!("write the function, and add `graders = [{name}]` to the call");
        return Err(CliError::with_help(message, help));
    };
    if file.text.contains(&format!("fn {name}(")) {
        let message = format!("{} already has a function `{name}`", file.shown);
        return Err(CliError::new(message));
    }
    let mut changes = Changes::new(&package.root);
    changes.edit(file.path, format!("{}\n\n{function}", text.trim_end()), format!("grader {name}"));
    changes.write(false)?;
    match suite.has_tasks {
        true => writeln!(stdout(), "\nA task uses it with `{{ \"name\": \"{name}\" }}` in its `graders`.")?,
        false => writeln!(stdout(), "\nA case uses it with `- type: {name}` in its `assertions`.")?,
    }
    Ok(())
}

/// A function can have the name, and no built-in grader has it.
fn check_grader_name(name: &str) -> Result<()> {
    let what = if syn::parse_str::<Ident>(name).is_err() {
        "a keyword of Rust"
    } else if BUILT_IN.contains(&name.replace('_', "-").as_str()) {
        "a built-in type of graders"
    } else {
        return Ok(());
    };
    Err(CliError::with_help(format!("`{name}` is {what}"), "choose another name"))
}

/// The text of a source file with the grader in the arguments of its call that includes the suite; `None` without such a call.
fn registered(file: &SourceFile, root: &Path, suite: &Path, name: &str) -> Option<String> {
    let tokens: TokenStream = file.text.parse().ok()?;
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let arguments = tokens.windows(3).find_map(|window| match window {
        [TokenTree::Ident(call), TokenTree::Punct(mark), TokenTree::Group(arguments)]
            if call == "include_eval_suite" && mark.as_char() == '!' && names(arguments, file, root, suite) =>
        {
            Some(arguments)
        }
        _ => None,
    })?;
    let (at, inserted) = insertion(arguments, name);
    let (before, after) = file.text.split_at(at);
    Some(format!("{before}{inserted}{after}"))
}

fn names(arguments: &Group, file: &SourceFile, root: &Path, suite: &Path) -> bool {
    let Some(path) = arguments.stream().into_iter().next() else { return false };
    let Ok(path) = syn::parse2::<LitStr>(path.into()) else { return false };
    let path = path.value();
    let path = match path.strip_prefix("./") {
        Some(rest) => file.path.parent().unwrap_or(root).join(rest),
        None => root.join(&path),
    };
    includes::is_same_suite(&path, suite)
}

/// Where which text is added to the arguments.
fn insertion(arguments: &Group, name: &str) -> (usize, String) {
    let tokens: Vec<TokenTree> = arguments.stream().into_iter().collect();
    let list = tokens.windows(3).find_map(|window| match window {
        [TokenTree::Ident(argument), TokenTree::Punct(_), TokenTree::Group(list)]
            if argument == "graders" && list.delimiter() == Delimiter::Bracket =>
        {
            Some(list)
        }
        _ => None,
    });
    match list {
        Some(list) => after(list.stream(), list.span_open().byte_range().end, name),
        None => after(arguments.stream(), 0, &format!("graders = [{name}]")),
    }
}

/// An item after the last token of a list that is separated by commas; `start` is where an empty list begins.
fn after(list: TokenStream, start: usize, item: &str) -> (usize, String) {
    match list.into_iter().last() {
        None => (start, item.to_owned()),
        Some(TokenTree::Punct(comma)) if comma.as_char() == ',' => (comma.span().byte_range().end, format!(" {item},")),
        Some(last) => (last.span().byte_range().end, format!(", {item}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after_adding(call: &str) -> Option<String> {
        let text = format!("use x::include_eval_suite;\n{call}\nfn after() {{}}\n");
        let file = SourceFile { path: "/p/tests/evals.rs".into(), shown: "tests/evals.rs".into(), text };
        let text = registered(&file, Path::new("/p"), Path::new("/p/suites/shop"), "short")?;
        let inner = text.strip_prefix("use x::include_eval_suite;\n")?.strip_suffix("\nfn after() {}\n")?;
        Some(inner.to_owned())
    }

    #[test]
    fn the_grader_joins_the_arguments_of_the_call() {
        for (call, expected) in [
            ("include_eval_suite!(\"suites/shop\");", "include_eval_suite!(\"suites/shop\", graders = [short]);"),
            (
                "include_eval_suite! {\n    \"suites/shop\",\n    agent = a,\n}",
                "include_eval_suite! {\n    \"suites/shop\",\n    agent = a, graders = [short],\n}",
            ),
            (
                "include_eval_suite!(\"suites/shop/EVAL.yaml\", graders = [\"é\" => é], agent = a);",
                "include_eval_suite!(\"suites/shop/EVAL.yaml\", graders = [\"é\" => é, short], agent = a);",
            ),
            (
                "include_eval_suite!(\"suites/shop\", graders = []);",
                "include_eval_suite!(\"suites/shop\", graders = [short]);",
            ),
        ] {
            assert_eq!(after_adding(call).as_deref(), Some(expected));
        }
        assert_eq!(after_adding("include_eval_suite!(\"suites/other\");"), None);
        assert_eq!(after_adding("mod inner { include_eval_suite!(\"suites/shop\"); }"), None, "its names differ");
    }
}
