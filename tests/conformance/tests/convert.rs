//! Real suites, configurations and tasks are converted: suites stay the same in another layout, the others become suites without errors.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use evalsuite_conformance::corpus::{copy_directory, directories, manifest_suites};
use evalsuite_conformance::test_data::{Corpus, workspace_root};
use evalsuite_convert::{
    CasePlacement, Conversion, ConvertError, NewSuite, Outcome, Source, between_layouts, from_harbor, from_promptfoo,
};
use evalsuite_loader::{Request, document, load};
use evalsuite_schema::json::{Value, json};
use libtest_mimic::{Arguments, Failed, Trial};
use tempfile::TempDir;

/// Suites of this repository with an eval file, and the packages around them.
const OWN: &[(&str, &str)] = &[
    ("examples/repair-agent", "suites/repair"),
    ("examples/streaming-agent", "suites/support"),
    ("examples/streaming-agent", "suites/stalled"),
    ("examples/memory-agent", "suites/desk"),
    ("examples/clients/rig-clock", "suites/stalled"),
];

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    match tests() {
        Ok(tests) => libtest_mimic::run(&arguments, tests).exit_code(),
        Err(reason) => {
            eprintln!("{reason}");
            ExitCode::FAILURE
        }
    }
}

fn tests() -> Result<Vec<Trial>, String> {
    let mut tests = Vec::new();
    for (package, suite) in OWN {
        let package = workspace_root().join(package);
        let name = format!("layouts::{}::{suite}", package.file_name().unwrap_or_default().display());
        tests.push(Trial::test(name, move || stays_the_same(&package, suite, true)));
    }
    let corpus = match Corpus::find()? {
        Corpus::Present { path, .. } => path,
        Corpus::Absent(ignored) => {
            tests.push(ignored);
            return Ok(tests);
        }
    };
    tests.extend(manifest_suites(&corpus)?.into_iter().map(|entry| {
        let name = format!("layouts::{}", entry.name());
        Trial::test(name, move || stays_the_same(&entry.root, &entry.suite, false))
    }));
    for file in configurations(&corpus.join("promptfoo")) {
        let name = format!("promptfoo::{}", file.strip_prefix(&corpus).unwrap_or(&file).display());
        tests.push(Trial::test(name, move || becomes_a_suite(&|| from_promptfoo(&file))));
    }
    let harbor = corpus.join("harbor");
    let tasks = directories(&harbor).into_iter().filter(|task| task.join("task.toml").is_file());
    for task in tasks.chain([harbor.clone()]) {
        let name = format!("harbor::{}", task.strip_prefix(&corpus).unwrap_or(&task).display());
        tests.push(Trial::test(name, move || becomes_a_suite(&|| from_harbor(&task))));
    }
    Ok(tests)
}

/// YAML files that are promptfoo configurations.
fn configurations(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![directory.to_path_buf()];
    while let Some(directory) = open.pop() {
        open.extend(directories(&directory));
        let files = fs::read_dir(&directory).into_iter().flatten().flatten().map(|entry| entry.path());
        found
            .extend(files.filter(|file| {
                file.extension().is_some_and(|extension| extension == "yaml") && is_configuration(file)
            }));
    }
    found.sort();
    found
}

fn is_configuration(file: &Path) -> bool {
    let Ok(document) = document::read(file, file) else { return false };
    document.root.get("prompts").is_some() && document.root.get("providers").is_some()
}

type Convert<'a> = &'a dyn Fn() -> Result<NewSuite, ConvertError>;

/// The conversion loads without errors in every layout, and says why it is not exact.
fn becomes_a_suite(convert: Convert<'_>) -> Result<(), Failed> {
    let layouts: [fn(NewSuite) -> Result<Conversion, ConvertError>; 3] = [
        |suite| Ok(suite.in_layout(CasePlacement::File)),
        |suite| Ok(suite.in_layout(CasePlacement::Directories)),
        NewSuite::as_tasks,
    ];
    for layout in layouts {
        let conversion = match layout(convert()?) {
            // A conversation cannot be a task.
            Err(error) if error.to_string().contains("no case can be a task") => continue,
            conversion => conversion?,
        };
        let directory = TempDir::new()?;
        conversion.output.write(directory.path(), false)?;
        for entry in conversion.report.entries() {
            if (entry.outcome == Outcome::Mapped) != entry.reasons.is_empty() {
                return Err(format!("{entry:?} has to say why it is {}", entry.outcome.word()).into());
            }
        }
        let loaded = load(&Request::new(".", directory.path()));
        if loaded.suite.is_none() {
            return Err(problems(&loaded).into());
        }
    }
    Ok(())
}

fn problems(loaded: &evalsuite_loader::Loaded) -> String {
    loaded.diagnostics.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

/// A suite has the same cases after its cases moved to directories, into one file, and back.
fn stays_the_same(root: &Path, suite: &str, has_our_comments: bool) -> Result<(), Failed> {
    let copy = TempDir::new()?;
    let package = copy.path().join("package");
    copy_directory(root, &package)?;
    if !package.join("Cargo.toml").is_file() {
        fs::create_dir_all(package.join(".git"))?;
    }
    let path = package.join(suite);
    let Some(original) = cases(&path, &package)? else { return Ok(()) };
    let comments = if has_our_comments { comments(&path) } else { Vec::new() };
    for layout in [CasePlacement::Directories, CasePlacement::File, CasePlacement::Directories] {
        // Suites name files of their package.
        let source = Source::new(&path).allow_outside([package.clone()]);
        let conversion = between_layouts(source, layout)?;
        if conversion.report.count(Outcome::Dropped) > 0 {
            return Err(format!("something is lost:\n{}", conversion.report).into());
        }
        let directory = if path.is_dir() { path.as_path() } else { path.parent().unwrap_or(&path) };
        conversion.output.write(directory, true)?;
        let converted = cases(&path, &package)?.ok_or_else(|| format!("the suite has errors as {layout:?}"))?;
        if converted != original {
            let differing: Vec<String> = original
                .iter()
                .filter(|(id, case)| converted.get(*id) != Some(case))
                .map(|(id, case)| format!("{id}:\n{case}\n{}", converted.get(id).unwrap_or(&Value::Null)))
                .collect();
            return Err(format!("cases differ as {layout:?}:\n{}", differing.join("\n")).into());
        }
        let written: String =
            conversion.output.files().values().map(|contents| String::from_utf8_lossy(contents)).collect();
        if let Some(lost) = comments.iter().find(|comment| !written.contains(*comment)) {
            return Err(format!("the comment `{lost}` is lost as {layout:?}").into());
        }
    }
    Ok(())
}

/// The comments in lines of their own of the eval file and the cases.
fn comments(suite: &Path) -> Vec<String> {
    let mut files = vec![suite.join("EVAL.yaml")];
    files.extend(directories(&suite.join("cases")).into_iter().map(|case| case.join("case.yaml")));
    let texts = files.iter().filter_map(|file| fs::read_to_string(file).ok());
    let lines = texts.flat_map(|text| text.lines().map(|line| line.trim().to_owned()).collect::<Vec<_>>());
    lines.filter(|line| line.starts_with("# ")).collect()
}

/// The cases by id, and the suite as `""`, without where they are; `None` if the suite has errors.
fn cases(suite: &Path, root: &Path) -> Result<Option<BTreeMap<String, Value>>, Failed> {
    let request = Request::of_suite(suite, root)?;
    let Some(loaded) = load(&request).suite else { return Ok(None) };
    let mut all = BTreeMap::new();
    for loaded in &loaded.cases {
        let mut case = without_places(evalsuite_schema::json::to_value(&*loaded.case)?);
        // The directory of its file.
        case.as_object_mut().map(|entries| entries.remove("dir"));
        all.insert(loaded.case.id.clone(), case);
    }
    all.insert(String::new(), without_places(evalsuite_schema::json::to_value(&loaded.suite)?));
    Ok(Some(all))
}

/// What does not depend on the file that it is written in. A path is what it leads to, not how it is written.
fn without_places(value: Value) -> Value {
    match value {
        Value::Object(entries) => {
            let kept =
                entries.into_iter().filter(|(key, _)| !["location", "written", "digest"].contains(&key.as_str()));
            Value::Object(kept.map(|(key, value)| (key, without_places(value))).collect())
        }
        Value::Array(items) => items.into_iter().map(without_places).collect(),
        other => json!(other),
    }
}
