//! From Harbor tasks: a task becomes a case, its verifier a grader that runs in the container of the task.

mod dockerfile;
mod harborignore;
mod settings;
mod verifier;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use evalsuite_loader::document::{Data, Value};
use evalsuite_schema::json::{Value as Json, json};

use self::dockerfile::Dockerfile;
use self::harborignore::FileFilter;
use self::settings::{CONTAINER, MAPPED, NO_KEY, is_empty};
use self::verifier::Container;
use crate::error::ConvertError;
use crate::new_suite::{NewSuite, SourceKind};
use crate::report::{Outcome, Place, Report};
use crate::source::{self, Source, SourceFiles};
use crate::suite_draft::{CaseDraft, CaseIds, SuiteDraft, entry, suite_name};
use crate::yaml_writer::number;

/// How the table of kinds names it.
pub(crate) const KIND: SourceKind = SourceKind {
    name: "harbor",
    about: "A Harbor task, or a directory of them",
    is_source,
    convert: |source| from_harbor(source),
};

/// The file of a task.
const TASK: &str = "task.toml";

/// Runs the verifier.
const GRADER: &str = include_str!("../../assets/harbor.py");

/// The services of a task.
const COMPOSE: &str = "environment/docker-compose.yaml";

/// Whether it is the file of a task, the directory of one, or a directory of tasks.
fn is_source(path: &Path) -> bool {
    if path.is_file() {
        return path.file_name().is_some_and(|name| name.eq_ignore_ascii_case(TASK));
    }
    let has_task = |directory: &Path| directory.join(TASK).is_file();
    has_task(path) || path.read_dir().is_ok_and(|mut entries| entries.any(|it| it.is_ok_and(|it| has_task(&it.path()))))
}

/// Converts the Harbor task `source`, or all tasks in that directory.
///
/// # Errors
///
/// If there is no task, none can be converted, one cannot be read, names files outside of its directory that are not allowed, or is too
/// large.
pub fn from_harbor(source: impl Into<Source>) -> Result<NewSuite, ConvertError> {
    let source = source.into();
    let path = &*source.path;
    let directory = if path.is_file() { path.parent().unwrap_or(path) } else { path };
    let tasks = tasks(directory)?;
    if tasks.is_empty() {
        return Err(ConvertError::unsupported(format!("{} has no {TASK}", directory.display())));
    }
    let files = SourceFiles::new(directory, &source)?;
    let (mut draft, mut report, mut ids) = (SuiteDraft::default(), Report::default(), CaseIds::default());
    let name = directory.canonicalize().ok();
    let name = suite_name(&name.as_deref().and_then(Path::file_name).unwrap_or_default().to_string_lossy());
    draft.settings.push(entry("name", if name.is_empty() { "tasks".to_owned() } else { name }));
    for task in tasks {
        let document = settings::read_toml(&task.join(TASK), &files)?;
        let folder = task.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let written = document.get("task").and_then(|task| task.get("name")?.as_text());
        let id = ids.next(written.and_then(|name| name.rsplit('/').next()).unwrap_or(&folder), "task");
        let file = Place::new(files.shown(&task.join(TASK)), 1, "");
        let mut conversion =
            Task { source: &files, directory: &task, document: &document, file, id: &id, report: &mut report };
        if let Some(case) = conversion.case(&mut draft) {
            draft.cases.push((id, case));
        }
    }
    draft.output.add("graders/harbor.py", GRADER);
    let copied_from_outside = files.finish()?;
    NewSuite::new(draft, report, copied_from_outside)
}

/// The directories of tasks: the one itself, or those in it.
fn tasks(directory: &Path) -> Result<Vec<PathBuf>, ConvertError> {
    if directory.join(TASK).is_file() {
        return Ok(vec![directory.to_owned()]);
    }
    let mut found = source::sorted_entries(directory)?;
    found.retain(|path| path.join(TASK).is_file());
    Ok(found)
}

/// A task that is being converted.
struct Task<'a> {
    source: &'a SourceFiles,
    directory: &'a Path,
    document: &'a Value,
    /// The start of the file of the document.
    file: Place,
    id: &'a str,
    report: &'a mut Report,
}

impl<'a> Task<'a> {
    fn file_place(&self, file: &str) -> Place {
        Place::new(self.source.shown(&self.directory.join(file)), 0, file)
    }

    /// The value of a key in a table.
    fn value(&self, table: &str, key: &str) -> Option<&'a Value> {
        self.document.get(table)?.get(key)
    }

    fn case(&mut self, draft: &mut SuiteDraft) -> Option<CaseDraft> {
        let files = self.files(draft);
        let docker = "environment/Dockerfile";
        let docker =
            self.source.text(&self.directory.join(docker), docker, &self.file_place(docker)).unwrap_or_default();
        let docker = dockerfile::read(&docker, self.value("environment", "workdir").and_then(Value::as_text));
        let image = self.image(&files);
        let container = Container { docker: &docker, image: image.as_ref().and_then(Option::as_deref), files: &files };
        let has_workspace = self.workspace(&docker, &files, draft);
        self.settings();
        let os = self.value("environment", "os").and_then(Value::as_text);
        let has_verifier = os.is_none_or(|os| os.eq_ignore_ascii_case("linux"));
        let steps = self.document.get("steps").and_then(Value::items).unwrap_or_default();
        let mut entries = Vec::new();
        if steps.is_empty() {
            let instruction = self.instruction("instruction.md")?;
            entries.push(("input".to_owned(), Value::text(instruction)));
            let Some(grader) = self.grader(&["tests"], None, &container) else {
                self.report.dropped(&self.file_place(TASK), "nothing is left that grades it");
                return None;
            };
            entries.push(entry("assertions", json!([grader])));
        } else {
            entries.extend(self.turns(steps, &container)?);
        }
        // Without a container there is no case, but everything else is reported.
        image.as_ref().filter(|_| has_verifier)?;
        let seconds = self.agent_seconds(steps);
        entries.extend(seconds.map(|seconds| entry("execution", json!({"timeout_seconds": seconds}))));
        entries.push(entry("requires", json!({"commands": ["docker", "python3"]})));
        if has_workspace {
            entries.push(entry("workspace", json!({"template": format!("./harbor/{}/workspace", self.id)})));
        }
        entries.extend(self.metadata());
        Some(CaseDraft { entries, ..CaseDraft::default() })
    }

    /// The instruction of a task or step.
    fn instruction(&mut self, file: &str) -> Option<String> {
        let place = self.file_place(file);
        let text = self.source.text(&self.directory.join(file), file, &place).ok();
        let text = text.filter(|text| !text.trim().is_empty()).ok_or_else(|| "there is no instruction".to_owned());
        let text = self.report.kept(&place, text)?;
        self.report.mapped(&place);
        if text.contains("${{") {
            self.report.different(&place, "`${{ NAME }}` is filled in from the environment");
        }
        Some(without_canary(&text.replace("\r\n", "\n").replace('\r', "\n")))
    }

    /// Copies the files of the task that Harbor uses; returns their paths.
    fn files(&mut self, draft: &mut SuiteDraft) -> BTreeSet<String> {
        let mut copied = BTreeSet::new();
        let task = self.file_place(TASK);
        let filter = FileFilter::new(self.directory, self.source, self.report);
        let files =
            self.source.below(self.directory, &task, |path, is_directory| !filter.leaves_out(path, is_directory));
        for file in files {
            let path = source::shown(&file, self.directory);
            let place = self.file_place(&path);
            match path.split('/').collect::<Vec<_>>().as_slice() {
                [TASK | "instruction.md"] | ["steps", _, "instruction.md"] => continue,
                ["README.md"] => self.report.mapped(&place),
                ["trajectory.json"] | ["steps", _, "trajectory.json"] => {
                    let reason = "write the messages before the instruction as a message list in `input`";
                    self.report.dropped(&place, reason);
                    continue;
                }
                ["steps", _, "workdir", ..] => {
                    self.report.dropped(&place, "a workspace gets no files between turns");
                    continue;
                }
                ["solution", ..] | ["steps", _, "solution", ..] => {
                    self.report.approximated(&place, "the solution is kept, nothing runs it");
                }
                ["environment" | "tests" | "steps", _, ..] => {}
                _ => {
                    self.report.dropped(&place, "it is not part of a task");
                    continue;
                }
            }
            match self.source.bytes(&file, &path, &place) {
                Ok(contents) => {
                    draft.output.add_copy(format!("harbor/{}/{path}", self.id), contents, &file);
                    copied.insert(path);
                }
                Err(error) => self.report.dropped(&place, format!("it cannot be read: {}", error.reason())),
            }
        }
        copied
    }

    /// Adds what the Dockerfile copies into the working directory; without one, all files of the environment.
    fn workspace(&mut self, docker: &Dockerfile, files: &BTreeSet<String>, draft: &mut SuiteDraft) -> bool {
        let mut has_files = false;
        if !files.contains("environment/Dockerfile") && !files.contains(COMPOSE) {
            for path in files {
                let Some(below) = path.strip_prefix("environment/") else { continue };
                let (file, place) = (self.directory.join(path), self.file_place(path));
                if let Ok(contents) = self.source.bytes(&file, path, &place) {
                    let target = format!("harbor/{}/workspace/{below}", self.id);
                    draft.output.add_copy(target, contents, &file);
                    has_files = true;
                }
            }
        }
        if !docker.copies.is_empty() && files.contains("environment/.dockerignore") {
            let reason = "files that it names are in the workspace, if the Dockerfile copies their directory";
            self.report.different(&self.file_place("environment/.dockerignore"), reason);
        }
        let dockerfile = self.source.shown(&self.directory.join("environment/Dockerfile"));
        for (written, to, line) in &docker.copies {
            let from = self.directory.join("environment").join(written);
            let reference = written.to_string_lossy();
            let place = Place::new(dockerfile.clone(), *line, "COPY");
            if !self.source.allows(&from, &reference, &place) {
                continue;
            }
            let files = if from.is_dir() { self.source.below(&from, &place, |_, _| true) } else { vec![from.clone()] };
            for file in files {
                let below = file.strip_prefix(&from).unwrap_or(Path::new(""));
                let target = if below.as_os_str().is_empty() { to.clone() } else { to.join(below) };
                if let Ok(contents) = self.source.bytes(&file, &reference, &place) {
                    let target = Path::new("harbor").join(self.id).join("workspace").join(target);
                    draft.output.add_copy(target, contents, &file);
                    has_files = true;
                }
            }
        }
        for (instruction, line) in &docker.others {
            self.report.dropped(&Place::new(dockerfile.clone(), *line, instruction.clone()), CONTAINER);
        }
        if self.directory.join(COMPOSE).is_file() {
            self.report.dropped(&self.file_place(COMPOSE), "other services need containers: start them in a hook");
        }
        has_files
    }

    /// The steps as turns of a conversation.
    fn turns(&mut self, steps: &'a [Value], container: &Container<'_>) -> Option<Vec<(String, Value)>> {
        let mut turns = Vec::new();
        for (index, step) in steps.iter().enumerate() {
            let place = self.file.below(step.position.line, &format!("steps[{index}]"));
            let name = step.get("name").and_then(Value::as_text).unwrap_or_default();
            let input = self.instruction(&format!("steps/{name}/instruction.md"))?;
            let own = format!("steps/{name}/tests");
            let grader = self.grader(&["tests", &own], Some((step, &place)), container);
            for (key, value, at) in place.entries(step) {
                let (outcome, reason) = match key {
                    "name" | "verifier" => MAPPED,
                    "agent" => {
                        for (key, value, at) in at.entries(value) {
                            let (outcome, reason) = settings::setting("agent", key, value);
                            self.report.add(&at, outcome, reason);
                        }
                        (Outcome::Approximated, "the longest time limit of a step is that of every turn")
                    }
                    _ if is_empty(value) => MAPPED,
                    "min_reward" => {
                        (Outcome::Different, "the threshold of the case decides whether the next turn follows")
                    }
                    "artifacts" => (Outcome::Dropped, "the changes of the workspace are recorded"),
                    "healthcheck" => (Outcome::Dropped, CONTAINER),
                    _ => (Outcome::Dropped, NO_KEY),
                };
                self.report.add(&at, outcome, reason);
            }
            let mut turn = json!({"input": input});
            if let Some(grader) = grader {
                turn["assertions"] = json!([grader]);
            }
            turns.push(turn);
        }
        let strategy = "multi_step_reward_strategy";
        let last = self.document.get(strategy).filter(|strategy| strategy.as_text() == Some("final"));
        if let Some(last) = last {
            let place = self.file.below(last.position.line, strategy);
            self.report.different(&place, "the lowest score of a turn is that of the case");
        }
        let mut entries = vec![entry("mode", "conversation"), entry("turns", Json::Array(turns))];
        entries.push(entry("aggregation", if last.is_some() { "min" } else { "mean" }));
        if steps.iter().any(|step| step.get("min_reward").is_some()) {
            entries.push(entry("on_turn_failure", "stop"));
        }
        Some(entries)
    }

    /// The time limit of the agent, in seconds: the longest of all steps.
    fn agent_seconds(&self, steps: &[Value]) -> Option<Json> {
        let all = steps.iter().chain([self.document]);
        all.filter_map(|of| of.get("agent")?.get("timeout_sec")?.as_number()).reduce(f64::max).map(number)
    }

    /// Free-form metadata, with what `[task]` says under `task`.
    fn metadata(&self) -> Option<(String, Value)> {
        let table = |name: &str| self.document.get(name).map(Value::entries).unwrap_or_default();
        let (mut metadata, task) = (table("metadata").to_vec(), table("task"));
        if !task.is_empty() {
            metadata.retain(|(key, _)| key != "task");
            metadata.push(("task".to_owned(), Value::new(Data::Mapping(task.to_vec()))));
        }
        (!metadata.is_empty()).then(|| ("metadata".to_owned(), Value::new(Data::Mapping(metadata))))
    }
}

/// The instruction without the comments at its start that mark it as part of a benchmark: Harbor does not show them to agents.
fn without_canary(text: &str) -> String {
    let is_canary = |line: &&str| {
        let line = line.trim().to_lowercase();
        line.contains("canary") && (line.starts_with('#') || line.starts_with("<!--") && line.ends_with("-->"))
    };
    let rest: Vec<&str> = text.split('\n').skip_while(is_canary).skip_while(|line| line.trim().is_empty()).collect();
    rest.join("\n")
}

#[cfg(test)]
mod tests;
