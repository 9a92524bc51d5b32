//! The grader that runs a verifier in its container.

use std::collections::{BTreeMap, BTreeSet};

use evalsuite_loader::document::{Data, Value};
use evalsuite_schema::json::{Value as Json, json};

use super::dockerfile::Dockerfile;
use super::settings::{CONTAINER, NO_KEY, refused, setting};
use super::{COMPOSE, Task};
use crate::report::{Place, Report};
use crate::yaml_writer::{number, without_nulls};

/// Where a task works if nothing says so.
const WORKDIR: &str = "/app";

/// The time limit of a verifier without one, in seconds.
const VERIFIER_SECONDS: f64 = 600.0;

/// The container of a task, and its files.
pub(super) struct Container<'a> {
    pub(super) docker: &'a Dockerfile,
    pub(super) image: Option<&'a str>,
    pub(super) files: &'a BTreeSet<String>,
}

/// What `[verifier]` says, in a task and in a step.
#[derive(Default)]
struct Settings<'a> {
    seconds: f64,
    env: BTreeMap<&'a str, &'a str>,
    user: Option<String>,
    has_network: Option<bool>,
    /// Whether the verifier has a container of its own.
    is_separate: bool,
    /// Its environments, each with the directory of its tests; that of the step comes first.
    environments: Vec<(Option<&'a Value>, String)>,
}

impl<'a> Settings<'a> {
    /// Adds the keys of a table `[verifier]` with the tests in `tests`. They replace those of the tables before.
    fn read(&mut self, verifier: &'a Value, tests: &str, place: &Place, report: &mut Report) {
        let mode = verifier.get("environment_mode").and_then(Value::as_text);
        let environment = verifier.get("environment");
        self.is_separate = match mode {
            Some(mode) => mode == "separate",
            None => self.is_separate || environment.is_some(),
        };
        self.environments.insert(0, (environment, tests.to_owned()));
        for (key, value, place) in place.entries(verifier) {
            match key {
                "timeout_sec" => match seconds(value) {
                    Some(seconds) => {
                        self.seconds = seconds;
                        report.mapped(&place);
                    }
                    None => refused(&place, "a number", report),
                },
                "env" => self.env.extend(variables(value, &place, report)),
                "user" => match &value.data {
                    Data::Text(name) => self.user = Some(name.clone()),
                    Data::Number(id) => self.user = Some(id.to_string()),
                    _ => refused(&place, "a name or a number", report),
                },
                "network_mode" => match value.as_text() {
                    Some(mode @ ("public" | "no-network")) => {
                        self.has_network = Some(mode == "public");
                        report.mapped(&place);
                    }
                    Some("allowlist") => report.dropped(&place, CONTAINER),
                    _ => refused(&place, "`public`, `no-network` or `allowlist`", report),
                },
                "environment_mode" if matches!(mode, Some("shared" | "separate")) => report.mapped(&place),
                "environment_mode" => refused(&place, "`shared` or `separate`", report),
                "environment" => {
                    for (key, value, place) in place.entries(value) {
                        let (outcome, reason) = setting("environment", key, value);
                        report.add(&place, outcome, reason);
                    }
                }
                "collect" if value.items().is_some_and(<[Value]>::is_empty) => report.mapped(&place),
                "collect" if value.items().is_none() => refused(&place, "a list", report),
                "collect" => report.dropped(&place, "nothing is collected from services"),
                "allowed_hosts" => report.dropped(&place, CONTAINER),
                _ => report.dropped(&place, NO_KEY),
            }
            report.mapped(&place);
        }
    }
}

/// The image of a verifier.
struct Image {
    name: Option<String>,
    /// The directory from which it is built, if it has no name.
    build: Option<String>,
    /// Whether the tests are part of it.
    has_tests: bool,
}

impl<'a> Task<'a> {
    /// The image of the container; `Some(None)` if it is built from the Dockerfile. `None`: there is no container, which is reported.
    pub(super) fn image(&mut self, files: &BTreeSet<String>) -> Option<Option<String>> {
        let named = self.value("environment", "docker_image").and_then(Value::as_text).map(str::to_owned);
        if named.is_some() || files.contains("environment/Dockerfile") {
            return Some(named);
        }
        let document = self.source.document(&self.directory.join(COMPOSE), COMPOSE, &self.file_place(COMPOSE)).ok();
        let main = document.and_then(|document| document.root.get("services")?.get("main").cloned());
        let image = main.and_then(|main| main.get("image").and_then(Value::as_text).map(str::to_owned));
        if image.is_none() {
            self.report.dropped(
                &self.file_place("environment/Dockerfile"),
                "it does not exist, and `environment.docker_image` names no image: the verifier has no container, so the task is no case",
            );
        }
        image.map(Some)
    }

    /// The image of a verifier with a container of its own. `None`: there is no image, which is reported.
    fn separate_image(&mut self, settings: &Settings<'_>, container: &Container<'_>, place: &Place) -> Option<Image> {
        let reason = "the verifier gets the workspace, not the artifacts of the task";
        self.report.different(place, reason);
        for (environment, tests) in &settings.environments {
            let has = |name: &str| container.files.contains(&format!("{tests}/{name}"));
            if let Some(name) = environment.and_then(|environment| environment.get("docker_image")?.as_text()) {
                return Some(Image { name: Some(name.to_owned()), build: None, has_tests: true });
            }
            if has("docker-compose.yaml") {
                let reason = "the verifier is a group of services, which need containers: the task is no case";
                self.report.dropped(&self.file_place(&format!("{tests}/docker-compose.yaml")), reason);
                return None;
            }
            if has("Dockerfile") {
                return Some(Image { name: None, build: Some(tests.clone()), has_tests: true });
            }
        }
        Some(Image { name: container.image.map(str::to_owned), build: None, has_tests: false })
    }

    /// The variables of the environment, which the verifier gets, too.
    fn environment_variables(&mut self, files: &BTreeSet<String>) -> BTreeMap<&'a str, &'a str> {
        let Some(value) = self.value("environment", "env") else { return BTreeMap::new() };
        let place = self.file.below(1, "environment").below(value.position.line, "env");
        if files.contains(COMPOSE) {
            self.report.dropped(&place, "Harbor fills them in in `docker-compose.yaml`");
            return BTreeMap::new();
        }
        variables(value, &place, self.report)
    }

    /// Where the verifier works.
    fn workdir<'d>(&mut self, docker: &'d Dockerfile) -> &'d str {
        match docker.workdir.as_deref().filter(|workdir| *workdir != "/") {
            Some(workdir) => workdir,
            None => {
                let reason = format!(
                    "nothing names the working directory of the image: the verifier gets the workspace in `{WORKDIR}`; write `environment.workdir`"
                );
                self.report.different(&self.file_place("environment"), reason);
                WORKDIR
            }
        }
    }

    /// The grader that runs the verifier of the task, or of a step at its place; `tests` are its directories. `None`: there is nothing to
    /// run, which is reported.
    pub(super) fn grader(
        &mut self,
        tests: &[&str],
        step: Option<(&'a Value, &Place)>,
        container: &Container<'_>,
    ) -> Option<Json> {
        let file = self.file.clone();
        let mut settings = Settings::default();
        for ((of, place), tests) in std::iter::once((self.document, &file)).chain(step).zip(tests) {
            // A step has the default time limit, whatever that of the task is.
            settings.seconds = VERIFIER_SECONDS;
            if let Some(verifier) = of.get("verifier") {
                let place = place.below(verifier.position.line, "verifier");
                settings.read(verifier, tests, &place, self.report);
            } else {
                settings.environments.insert(0, (None, (*tests).to_owned()));
            }
        }
        let image = if settings.is_separate {
            let (line, place) = step.map_or((1, &file), |(step, place)| (step.position.line, place));
            self.separate_image(&settings, container, &place.below(line, "verifier"))?
        } else {
            Image { name: container.image.map(str::to_owned), build: None, has_tests: false }
        };
        let mut folders = Vec::new();
        if !image.has_tests {
            let files = container.files;
            let mut scripts = tests.iter().rev().map(|tests| format!("{tests}/test.sh"));
            let script = scripts.find(|file| self.directory.join(file).is_file());
            if let Some(script) = script.as_ref().filter(|script| !files.contains(*script)) {
                let reason = "`.harborignore` leaves it out: Harbor refuses the task";
                self.report.dropped(&self.file_place(script), reason);
                return None;
            }
            let Some(script) = script else {
                let place = self.file_place(&format!("{}/test.sh", tests.last().unwrap_or(&"tests")));
                self.report.dropped(&place, "there is no verifier for Linux: Harbor runs this file and no other");
                return None;
            };
            let reason = "it runs with `docker` on the workspace, and its reward is the score";
            self.report.approximated(&self.file_place(&script), reason);
            let used = tests.iter().filter(|tests| files.iter().any(|file| file.starts_with(&format!("{tests}/"))));
            folders.extend(used.map(|tests| format!("harbor/{}/{tests}", self.id)));
        }
        let own = settings.environments.iter().find_map(|(environment, _)| *environment);
        let mut env = match own.filter(|_| settings.is_separate) {
            Some(environment) => environment.get("env").map_or_else(BTreeMap::new, |env| {
                variables(env, &file.below(env.position.line, "verifier.environment.env"), self.report)
            }),
            None => self.environment_variables(container.files),
        };
        env.extend(settings.env);
        let is_offline = !settings.has_network.unwrap_or_else(|| self.has_network());
        let config = json!({
            "task": format!("harbor/{}", self.id),
            "tests": folders,
            "workdir": self.workdir(container.docker),
            "image": image.name,
            "build": image.build,
            "env": (!env.is_empty()).then_some(env),
            "user": settings.user,
            "network": is_offline.then_some("none"),
        });
        Some(json!({
            "type": "code-grader",
            "name": "reward",
            "command": ["python3", "./graders/harbor.py"],
            "timeout_seconds": number(settings.seconds),
            "required": true,
            "config": without_nulls(config),
        }))
    }

    /// Whether the container of the task has a network.
    fn has_network(&self) -> bool {
        match self.value("environment", "network_mode").and_then(Value::as_text) {
            Some(mode) => mode != "no-network",
            None => self.value("environment", "allow_internet").is_none_or(|value| value.data != Data::Bool(false)),
        }
    }
}

/// Seconds, as a number or its text.
fn seconds(value: &Value) -> Option<f64> {
    value.as_number().or_else(|| value.as_text()?.trim().parse().ok())
}

/// The variables in a table.
fn variables<'a>(table: &'a Value, place: &Place, report: &mut Report) -> BTreeMap<&'a str, &'a str> {
    if !matches!(table.data, Data::Mapping(_)) {
        refused(place, "a table", report);
    }
    let mut variables = BTreeMap::new();
    for (key, value, place) in place.entries(table) {
        match value.as_text() {
            Some(text) => {
                if text.contains("${{") {
                    report.different(&place, "`${{ NAME }}` is filled in from the environment");
                }
                variables.insert(key, text);
            }
            None => refused(&place, "text", report),
        }
    }
    variables
}
