//! Reuses results of earlier runs for cases whose conditions have not changed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use evalsuite_records::record::{CaseRecord, Conditions, Mode, Status, TrialRecord};
use evalsuite_schema::discovery::with_slashes;
use evalsuite_schema::json::json;
use evalsuite_schema::sorting::map;
use evalsuite_schema::{Grader, SealMode, Value};

use crate::grade::scoring::CaseStandard;
use crate::model::suite_location::{SuiteLocation, directory_of_file, own_directory, program};
use crate::platform::digest::{sha256, sha256_of_source};
use crate::platform::files::{read_json, write_json};
use crate::platform::redaction::Redactor;
use crate::platform::untrusted::{EntryKind, OpenError, UntrustedDirectory, read_to_limit};
use crate::platform::url::without_credentials;
use crate::platform::{environment, notice};
use crate::record::cassette::recorded_input::{UNREADABLE, add_named_files, digest_of};
use crate::record::earlier_trials::newest_of_case;
use crate::record::run_directory::layout::{CASE_RECORD, CASES, SUITES};
use crate::record::run_directory::{OutputDirectory, RunDirectory, StoredRun, keyed_digest};
use crate::run::plan::Plan;
use crate::run::selection;
use crate::workspace::snapshot::{is_ignored, walk};

/// Largest file that is taken over, in bytes. No record is larger.
const LARGEST_COPY: u64 = 64 << 20;

/// Directory of a trial's workspace, whose files no record needs.
const WORKSPACE: &str = "workspace";

/// What the result of a case depends on besides the case; `None` if the digest of the agent is not known, agents or judges are not called,
/// or a file cannot be read.
pub(crate) fn conditions(plan: &Plan<'_>) -> io::Result<Option<Conditions>> {
    let agent = plan
        .settings
        .agent_digest
        .clone()
        .filter(|_| plan.settings.mode == Mode::Live && !plan.settings.replays_models());
    let (Some(agent), false) = (agent, plan.judges_are_recorded()) else { return Ok(None) };
    let mut conditions = Conditions::default();
    conditions.agent = sha256(agent);
    let (suite, entry) = (plan.suite, plan.entry);
    let is_shared =
        suite.cases.iter().any(|case| case.id != entry.id && directory_of_file(case) == directory_of_file(entry));
    let own = own_directory(is_shared, &plan.case.dir, &plan.places).map(|directory| own_files(plan, &directory));
    let (Ok(own), named) = (own.transpose(), files_of_commands(plan)) else { return Ok(None) };
    if !plan.seen.is_readable() || named.values().any(|digest| digest == UNREADABLE) {
        return Ok(None);
    }
    if own.is_some() || !named.is_empty() {
        conditions.files = sha256(json!([own, named]).to_string());
    }
    let mut variables = plan.variables.clone();
    if selection::asks_judge(&plan.case, plan.evals.registry()) {
        let judge = &plan.settings.judge;
        let endpoint = judge.endpoint.as_ref().map(|endpoint| (without_credentials(&endpoint.url), &endpoint.model));
        let judges = plan.judges();
        let commands = judges.commands_asked(selection::named_judges(&plan.case, plan.evals.registry()));
        let settings = json!([endpoint, judge.targets, judge.temperature, judge.confirm, commands]);
        conditions.judge = sha256(settings.to_string());
        variables.extend(judges.variables());
    }
    let CaseStandard { rule, threshold, .. } = plan.standard;
    let seals = [plan.settings.sealed, plan.data.sealed].map(|mode| mode.map(SealMode::as_str));
    let settings = json!([threshold, plan.planned, rule, plan.limit.as_secs_f64(), plan.runs_all_trials(), seals]);
    conditions.settings = sha256(settings.to_string());
    if let Some(read) = &plan.accepted_answer {
        let answer = read.as_ref().map_err(|error| io::Error::new(error.kind(), error.to_string()))?;
        conditions.judge = sha256(json!([conditions.judge, answer]).to_string());
    }
    if let (false, Some(output)) = (variables.is_empty(), plan.run.output()) {
        let values = map(variables.iter().map(|name| (name.clone(), environment::var(name))));
        conditions.variables = keyed_digest(output, &json!(values).to_string())?;
    }
    Ok(Some(conditions))
}

/// The conditions from before the trials of a case, if they are the same after them. Otherwise nobody knows which of them its trials had.
pub(crate) fn still_met(plan: &Plan<'_>, before: Option<Conditions>) -> io::Result<Option<Conditions>> {
    let Some(before) = before else { return Ok(None) };
    let is_same = plan.sees_the_same() && conditions(plan)?.as_ref() == Some(&before);
    Ok(is_same.then_some(before))
}

/// Whether results with these conditions are of the same agent, graders and judges. A further round of trials has other settings.
pub(crate) fn are_same(one: &Conditions, other: &Conditions) -> bool {
    let mut other = other.clone();
    other.settings.clone_from(&one.settings);
    *one == other
}

/// Digests of the files that commands of graders name, and preprocessors: nothing else says that one outside of the case's directory has
/// changed.
fn files_of_commands(plan: &Plan<'_>) -> BTreeMap<String, String> {
    let graders: Vec<&Grader> = plan.case.all_graders().collect();
    let mut named = NamedFiles { directories: Vec::new(), lines: Vec::new(), digests: BTreeMap::new() };
    named.add(&json!([graders, plan.case.preprocessors]), &plan.places);
    let NamedFiles { mut directories, lines, mut digests } = named;
    directories.extend([
        plan.places.suite_dir.clone(),
        plan.places.join(&plan.case.dir),
        plan.places.package_root.clone(),
    ]);
    // Two commands may name different files with the same words.
    for (index, directory) in directories.into_iter().enumerate() {
        let (mut found, directory) = (BTreeMap::new(), [directory]);
        lines.iter().for_each(|line| add_named_files(line, &directory, &mut found));
        digests.extend(found.into_iter().map(|(word, digest)| (format!("{index}: {word}"), digest)));
    }
    digests
}

/// What the commands in the settings of graders name.
struct NamedFiles {
    /// Where they run.
    directories: Vec<PathBuf>,
    /// Lines and arguments, which may name files.
    lines: Vec<String>,
    /// Of the files that the loader found, by path.
    digests: BTreeMap<String, String>,
}

impl NamedFiles {
    fn add(&mut self, settings: &Value, places: &SuiteLocation) {
        match settings {
            Value::Array(items) => items.iter().for_each(|item| self.add(item, places)),
            Value::Object(object) => {
                self.directories.extend(settings["cwd"]["path"].as_str().map(|path| places.join(path)));
                self.lines.extend(settings["shell"].as_str().map(str::to_owned));
                for argument in settings["argv"].as_array().into_iter().flatten() {
                    self.lines.extend(argument["text"].as_str().map(str::to_owned));
                    if let Some(path) = argument["path"]["path"].as_str() {
                        self.digests.insert(path.to_owned(), digest_of(&places.join(path)));
                    }
                }
                object.values().for_each(|value| self.add(value, places));
            }
            _ => {}
        }
    }
}

/// Digests of the files in the case's own directory, and of those that links lead to. What counts in the file of the case is in the case's
/// digest.
fn own_files(plan: &Plan<'_>, directory: &Path) -> io::Result<BTreeMap<String, String>> {
    let mut digests = BTreeMap::new();
    add_tree("", directory, &mut BTreeSet::new(), &mut digests)?;
    let of_case = Path::new(plan.entry.file).file_name().unwrap_or_default();
    let of_case = &*of_case.to_string_lossy();
    // It may be a link.
    digests.retain(|name, _| name.strip_suffix('/').unwrap_or(name) != of_case);
    Ok(digests)
}

/// Adds the digests of everything below a directory, with names that begin with `below`. `entered`: the directories that were added before.
fn add_tree(
    below: &str,
    directory: &Path,
    entered: &mut BTreeSet<PathBuf>,
    digests: &mut BTreeMap<String, String>,
) -> io::Result<()> {
    let root = directory.canonicalize()?;
    if entered.iter().any(|inner| *inner != root && inner.starts_with(&root)) {
        return Err(io::Error::other(format!("{} leads to a directory around it", directory.display())));
    }
    if !entered.insert(root.clone()) {
        return Ok(());
    }
    let mut walk = walk(&root, is_ignored);
    for found in walk.by_ref() {
        let found = found?;
        let name = format!("{below}{}", found.name());
        match found.kind {
            EntryKind::File => _ = digests.insert(name, sha256_of_source(found.open()?)?),
            EntryKind::Link => {
                let inside = format!("{name}/");
                digests.insert(name, format!("link to {}", with_slashes(&found.destination()?)));
                match fs::metadata(&found.path) {
                    Ok(metadata) if metadata.is_dir() => add_tree(&inside, &found.path, entered, digests)?,
                    Ok(metadata) if metadata.is_file() => {
                        digests.insert(inside, sha256_of_source(File::open(&found.path)?)?);
                    }
                    // Sockets, pipes and devices have no content.
                    Ok(_) => {}
                    Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                    Err(error) => return Err(error),
                }
            }
            EntryKind::Directory | EntryKind::Other => {}
        }
    }
    if walk.is_cut() { Err(io::Error::other(format!("{} has too many files", root.display()))) } else { Ok(()) }
}

/// The result of a case from the newest run with the same conditions: its record, which is still to be written, and those of its trials,
/// which are copied into this run. `None` if the case has to run. `can_run`: whether nothing keeps the case from running.
pub(crate) fn take_over(
    plan: &Plan<'_>,
    conditions: Option<&Conditions>,
    can_run: bool,
) -> io::Result<Option<(CaseRecord, Vec<TrialRecord>)>> {
    if !(can_run && plan.settings.only_changed && plan.reuses_dependencies) {
        return Ok(None);
    }
    let Some(conditions) = conditions else { return Ok(None) };
    let Some((earlier, record)) = newest_with(plan, conditions)? else { return Ok(None) };
    let is_result = matches!(record.outcome, Status::Passed | Status::Failed);
    if !is_result || record.errors > 0 || record.cost_limited {
        return Ok(None);
    }
    copy(&earlier, &plan.directory)?;
    let run = record.reused_run.clone().unwrap_or_else(|| record.run_id.clone());
    let trials = own_trials(plan, &record, &run)?;
    Ok(Some((own_record(plan, record, run), trials)))
}

/// The case's directory and record in the newest other run that has it with these conditions.
fn newest_with(plan: &Plan<'_>, conditions: &Conditions) -> io::Result<Option<(PathBuf, CaseRecord)>> {
    let test = &plan.identity.test_name;
    for run in other_runs(plan.run)?.iter() {
        let cases = run.path().join(SUITES).join(plan.suite.key()).join(CASES);
        let Some(case) = newest_of_case(&cases, &plan.identity.case_key, test) else { continue };
        let file = case.directory.join(CASE_RECORD);
        let record = match read_json::<CaseRecord>(&file) {
            Ok(Some(record)) => record,
            Ok(None) => continue,
            // A damaged record of another run says nothing about this one: the case runs.
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                notice::say(&format!("{test} is not taken over from run {}: {error}", run.id()));
                continue;
            }
            Err(error) => return Err(error),
        };
        if record.digests() != plan.identity.digests() || record.conditions.as_ref() != Some(conditions) {
            continue;
        }
        if case.is_outdone {
            // One result cannot be both that of the run, the last attempt, and that of comparisons, the first one.
            notice::say(&format!("{test} is not taken over from run {}: the test runner repeated it", run.id()));
            return Ok(None);
        }
        let missing = record.trials.iter().chain(record.uncounted_trials()).find_map(|trial| {
            let file = case.directory.join(&trial.path);
            read_json::<TrialRecord>(&file).map(|found| found.is_none()).unwrap_or(true).then_some(file)
        });
        match missing {
            None => return Ok(Some((case.directory, record))),
            Some(file) => notice::say(&format!("{test} is not taken over: {} is missing or damaged", file.display())),
        }
    }
    Ok(None)
}

/// The other runs of the output directory, the newest first. All cases of a run in this process share the list: it takes reading the
/// record of every run.
fn other_runs(run: &RunDirectory) -> io::Result<Arc<[StoredRun]>> {
    static LISTS: Mutex<BTreeMap<PathBuf, Arc<[StoredRun]>>> = Mutex::new(BTreeMap::new());
    let mut lists = LISTS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(list) = lists.get(run.path()) {
        return Ok(Arc::clone(list));
    }
    let mut runs = match run.output() {
        Some(output) => OutputDirectory::new(output).runs_newest_first()?,
        None => Vec::new(),
    };
    runs.retain(|other| other.path() != run.path());
    Ok(Arc::clone(lists.entry(run.path().to_owned()).or_insert_with(|| runs.into())))
}

/// Copies the files of a case, without links and workspaces.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let target = UntrustedDirectory::new(to);
    for found in walk(from, |name| name == WORKSPACE) {
        let found = found?;
        let (Some(parent), Some(name)) = (found.relative_path.parent(), found.relative_path.file_name()) else {
            continue;
        };
        if found.kind == EntryKind::File {
            match read_to_limit(found.open().map_err(io::Error::from)?, LARGEST_COPY) {
                Ok(bytes) => target.join(parent).write(&name.to_string_lossy(), &bytes)?,
                Err(OpenError::TooLarge { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
    Ok(())
}

/// The copied records of trials as records of this run; returns those that count.
fn own_trials(plan: &Plan<'_>, record: &CaseRecord, run: &str) -> io::Result<Vec<TrialRecord>> {
    let mut counted = Vec::new();
    for (index, summary) in record.trials.iter().chain(record.uncounted_trials()).enumerate() {
        let file = plan.directory.join(&summary.path);
        let mut trial: TrialRecord = read_json(&file)?
            .ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, format!("{} is gone", file.display())))?;
        trial.identity = plan.identity.clone();
        trial.reused_run = Some(run.to_owned());
        write_json(&file, &trial, &Redactor::default())?;
        if index < record.trials.len() {
            counted.push(trial);
        }
    }
    Ok(counted)
}

/// A record of another run as one of this run, without what the baseline said then.
fn own_record(plan: &Plan<'_>, mut record: CaseRecord, run: String) -> CaseRecord {
    record.baseline = None;
    record.identity = plan.identity.clone();
    record.program = program();
    record.reused_run = Some(run);
    record
}
