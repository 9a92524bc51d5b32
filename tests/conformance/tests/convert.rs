//! Real configurations and tasks are converted: they become suites without errors.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use evalsuite_conformance::corpus::directories;
use evalsuite_conformance::test_data::Corpus;
use evalsuite_convert::{CasePlacement, Conversion, ConvertError, NewSuite, Outcome, from_harbor, from_promptfoo};
use evalsuite_loader::{Request, document, load};
use libtest_mimic::{Arguments, Failed, Trial};
use tempfile::TempDir;

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
    let corpus = match Corpus::find()? {
        Corpus::Present { path, .. } => path,
        Corpus::Absent(ignored) => {
            tests.push(ignored);
            return Ok(tests);
        }
    };
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
