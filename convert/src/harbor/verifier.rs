//! The grader that runs a verifier in the container of its task.

use std::collections::BTreeSet;

use evalsuite_loader::document::{Data, Value};
use evalsuite_schema::json::{Value as Json, json};

use super::dockerfile::Dockerfile;
use super::{CONTAINER, Task};
use crate::report::Place;
use crate::yaml_writer::{number, without_nulls};

/// Where a task works if nothing says so.
const WORKDIR: &str = "/app";

/// The time limit of a verifier without one, in seconds.
const VERIFIER_SECONDS: f64 = 600.0;

/// Runs Reward Kit on the tests, as its documentation does.
const REWARD_KIT: [&str; 5] = ["uvx", "--from", "harbor-rewardkit", "rewardkit", "/tests"];

/// Where a verifier runs, and the files of the task.
pub(super) struct Container<'a> {
    pub(super) docker: &'a Dockerfile,
    pub(super) image: Option<&'a str>,
    pub(super) files: &'a BTreeSet<String>,
}

impl Task<'_> {
    /// The image of the container; `Some(None)` if it is built from the Dockerfile. `None`: there is no container, which is reported.
    pub(super) fn image(&mut self, files: &BTreeSet<String>) -> Option<Option<String>> {
        let named = self.value("environment", "docker_image").and_then(Value::as_text).map(str::to_owned);
        if named.is_some() || files.contains("environment/Dockerfile") {
            return Some(named);
        }
        let compose = "environment/docker-compose.yaml";
        let document = self.source.document(&self.directory.join(compose), compose, &self.file_place(compose)).ok();
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

    /// What a verifier runs in the container, if that is not `test.sh`. `None`: there is nothing to run, which is reported.
    fn command(
        &mut self,
        tests: &[&str],
        verifier: &Value,
        place: &Place,
        files: &BTreeSet<String>,
    ) -> Option<Option<Json>> {
        let file = |name: &str| tests.iter().map(|folder| format!("{folder}/{name}")).find(|file| files.contains(file));
        let runs = "it runs with `docker` on the workspace, and its reward is the score";
        if let Some(command) = verifier.get("command") {
            let place = place.below(command.position.line, "command");
            let words = match &command.data {
                Data::Text(command) => Ok(json!(["bash", "-c", command])),
                Data::List(words) if !words.is_empty() && words.iter().all(|word| word.as_text().is_some()) => {
                    Ok(command.to_json())
                }
                _ => Err("it is neither a text nor a list of texts".to_owned()),
            };
            let words = self.report.kept(&place, words)?;
            self.report.approximated(&place, runs);
            return Some(Some(words));
        }
        if let Some(script) = file("test.sh") {
            self.report.approximated(&self.file_place(&script), runs);
            return Some(None);
        }
        let framework = verifier.get("framework");
        let place = place.below(framework.map_or(1, |framework| framework.position.line), "framework");
        let framework = framework.and_then(Value::as_text);
        let is_reward_kit =
            framework.map(|name| name.to_lowercase().replace(['-', '_', ' '], "").ends_with("rewardkit"));
        let rewards = file("reward.toml");
        if is_reward_kit == Some(true) || is_reward_kit.is_none() && rewards.is_some() {
            let place = rewards.map_or(place, |file| self.file_place(&file));
            self.report.different(&place, "Reward Kit runs in the container with `uvx`, which the image has to have");
            return Some(Some(json!(REWARD_KIT)));
        }
        let script = format!("{}/test.sh", tests.last().unwrap_or(&"tests"));
        let (place, reason) = match framework {
            Some(name) => (place, format!("how `{name}` is run is not known: write `tests/test.sh`")),
            None => (self.file_place(&script), "there is no verifier for Linux".to_owned()),
        };
        self.report.dropped(&place, reason);
        None
    }

    /// The grader that runs the verifier of a task or step at `place`; `tests` are its directories.
    pub(super) fn grader(
        &mut self,
        tests: &[&str],
        of: &Value,
        place: &Place,
        container: &Container<'_>,
    ) -> Option<Json> {
        let Container { docker, image, files } = container;
        let none = Value::new(Data::Null);
        let verifier = of.get("verifier").unwrap_or(&none);
        let place = place.below(verifier.position.line, "verifier");
        let command = self.command(tests, verifier, &place, files)?;
        let folders = tests.iter().filter(|folder| files.iter().any(|file| file.starts_with(&format!("{folder}/"))));
        let workdir = docker.workdir.as_deref().filter(|workdir| *workdir != "/").unwrap_or(WORKDIR);
        let folders: Vec<String> = folders.map(|folder| format!("harbor/{}/{folder}", self.id)).collect();
        let (mut seconds, mut env) = (VERIFIER_SECONDS, None);
        for (key, value, place) in place.entries(verifier) {
            match key {
                "timeout_sec" => {
                    seconds = value.as_number().unwrap_or(seconds);
                    self.report.mapped(&place);
                }
                "env" => {
                    env = (!value.entries().is_empty()).then(|| value.to_json());
                    self.report.mapped(&place);
                }
                // What it runs is reported where that is chosen.
                "command" | "framework" => {}
                "collect" => self.report.dropped(&place, "nothing is collected from services"),
                _ => self.report.dropped(&place, CONTAINER),
            }
        }
        let config = json!({
            "task": format!("harbor/{}", self.id),
            "tests": folders,
            "workdir": workdir,
            "image": image,
            "command": command,
            "env": env,
        });
        Some(json!({
            "type": "code-grader",
            "name": "reward",
            "command": ["python3", "./graders/harbor.py"],
            "timeout_seconds": number(seconds),
            "required": true,
            "config": without_nulls(config),
        }))
    }
}
