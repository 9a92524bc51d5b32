//! `run --record` and `run --replay`: the calls of models that agents make go through a proxy on loopback, which records them per trial,
//! or answers them from the recording.

mod proxy;
pub(crate) mod recorded_calls;
mod recorded_trial;
mod replayed_trial;
#[cfg(test)]
mod tests;
mod trial_turns;

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use evalsuite::tooling::{MODEL_CALLS, MODEL_CALLS_FILE, ModelCallServer, SuiteDescription, variable};
use evalsuite_records::record::ModelCalls as CallsMode;
use evalsuite_schema::diagnostics::counted;
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};
use walkdir::WalkDir;

use self::proxy::{BaseUrl, KEYS_OF_VENDORS, Proxy};
use self::recorded_calls::{KnownSecrets, Recording};
use self::trial_turns::{TrialTurns, TurnResults};
use crate::platform::exit_status::{CliError, Result};
use crate::platform::output::say;
use crate::run::Run;

/// The proxy of a run.
pub(super) struct ModelCalls {
    proxy: Arc<Proxy>,
    /// Variables of the test programs.
    variables: BTreeMap<String, String>,
    /// Serves the calls until it is dropped.
    runtime: Option<Runtime>,
}

impl ModelCalls {
    /// Starts the proxy if the command line asks for it.
    pub(super) fn start(command: &Run, suites: &[SuiteDescription]) -> Result<Option<Self>> {
        let calls = match (command.record, command.replay) {
            (false, false) => return Ok(None),
            (_, true) => CallsMode::Replayed,
            (true, false) => CallsMode::Recorded,
        };
        for (name, value) in [("EVALSUITE_MODE", Some("replay")), ("EVALSUITE_REGRADE", None)] {
            let set = variable(name).filter(|set| !set.is_empty());
            if set.is_some_and(|set| value.is_none_or(|value| value == set)) {
                let option = if command.replay { "--replay" } else { "--record" };
                let shown = value.map(|value| format!("={value}")).unwrap_or_default();
                let message = format!("{name}{shown} does not call agents, so `{option}` has no calls");
                return Err(CliError::with_help(message, format!("unset {name}")));
            }
        }
        let recorded = command.replay.then(|| RecordedSettings::of(suites));
        let bases = BaseUrl::all(suites, recorded.as_ref().map(|recorded| &recorded.base_paths))?;
        let mut calls = Self::serve(calls, bases, command.paced)?;
        calls.variables.extend(without_proxies());
        calls.variables.extend(recorded.iter().flat_map(RecordedSettings::missing_keys));
        Ok(Some(calls))
    }

    /// Starts the servers.
    fn serve(calls: CallsMode, bases: Vec<BaseUrl>, is_paced: bool) -> Result<Self> {
        let mut secrets = KnownSecrets::of_environment();
        secrets.add([], bases.iter().filter_map(BaseUrl::password).map(str::to_owned));
        let base_paths = bases.iter().map(|base| (base.variable.clone(), base.path())).collect();
        let turns = Arc::new(TrialTurns::new(calls, base_paths, secrets));
        let server = ModelCallServer { calls, address: Arc::clone(&turns).listen()? };
        let mut variables = BTreeMap::from([(MODEL_CALLS.to_owned(), server.to_string())]);
        let (client, outside) = (recorded_trial::client(), AtomicUsize::new(0));
        let proxy = Arc::new(Proxy { turns, client, is_paced, outside });
        let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
        for base in bases {
            let listener = runtime.block_on(TcpListener::bind(("127.0.0.1", 0)))?;
            variables.insert(base.variable.clone(), base.at(listener.local_addr()?.port()));
            runtime.spawn(Arc::clone(&proxy).serve(listener, Arc::new(base)));
        }
        Ok(Self { proxy, variables, runtime: Some(runtime) })
    }

    /// Has test programs call the proxy.
    pub(super) fn add_to(&self, tests: &mut Command) {
        tests.envs(&self.variables);
    }

    /// Says what was recorded or replayed, and what was not.
    pub(super) fn show(&self) {
        let TurnResults { trials, calls, problems } = self.proxy.turns.results();
        let did = match self.proxy.turns.calls {
            CallsMode::Replayed => "replayed",
            _ => "recorded",
        };
        say!("{did} {} of {}", counted(calls, "model call"), counted(trials, "trial"));
        for (trial, problem) in problems {
            say!("warning: {trial}: {problem}");
        }
        match self.proxy.outside.load(Ordering::Relaxed) {
            0 => {}
            calls => {
                say!("warning: {} while no trial ran, in a hook for example: not {did}", counted(calls, "model call"))
            }
        }
    }
}

impl Drop for ModelCalls {
    fn drop(&mut self) {
        // A response of a service may never end.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// Variables with which clients call the proxy directly.
fn without_proxies() -> impl Iterator<Item = (String, String)> {
    let names = ["no_proxy", "NO_PROXY"];
    let before = names.iter().find_map(|name| variable(name).filter(|value| !value.trim().is_empty()));
    let value = before.map_or_else(String::new, |before| format!("{before},")) + "127.0.0.1,localhost";
    names.into_iter().map(move |name| (name.to_owned(), value.clone()))
}

/// What the recordings of suites say about the environment in which they were made.
#[derive(Default)]
struct RecordedSettings {
    /// Variables whose values were sent as keys, and those that clients require.
    keys: BTreeSet<String>,
    /// Paths of base URLs by their variables.
    base_paths: BTreeMap<String, String>,
}

impl RecordedSettings {
    fn of(suites: &[SuiteDescription]) -> Self {
        let mut settings = Self { keys: KEYS_OF_VENDORS.map(str::to_owned).into(), ..Self::default() };
        let directories: BTreeSet<_> = suites.iter().filter_map(|suite| suite.recordings.as_ref()).collect();
        let files = directories.into_iter().flat_map(|directory| WalkDir::new(directory).into_iter().flatten());
        for file in files.filter(|file| file.file_name().to_string_lossy().ends_with(MODEL_CALLS_FILE)) {
            // What cannot be read is reported by its trial.
            if let Ok(Some(recording)) = Recording::read(file.path()) {
                settings.keys.extend(recording.keys);
                settings.base_paths.extend(recording.base_paths);
            }
        }
        settings
    }

    /// Keys that are not set, and what takes their place: their names, as in a recording.
    fn missing_keys(&self) -> impl Iterator<Item = (String, String)> {
        let missing = self.keys.iter().filter(|name| variable(name).is_none_or(|value| value.is_empty()));
        missing.map(|name| (name.clone(), format!("${{{{ {name} }}}}")))
    }
}
