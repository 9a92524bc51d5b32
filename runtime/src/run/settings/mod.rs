//! The `EVALSUITE_*` environment variables. All invalid ones are reported together.

#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::OnceLock;
use std::time::Duration;

use evalsuite_records::record::{DEFAULT_CONFIRMING, Mode, ModelCalls};
use evalsuite_schema::{SealMode, variable};

use crate::agents::McpMode;
use crate::judge::endpoint_settings::{Endpoint, EndpointVariables};
use crate::judge::judge_choice::{JudgeChoice, JudgeCommands, JudgeOptions};
use crate::model::agent::LoadTargets;
use crate::model::command::{SealDefaults, hidden_directories};
use crate::model::judge::{Judges, MOST_CONFIRM};
use crate::model::progress::ProgressListeners;
use crate::model::suite::EvalSuite;
use crate::model::suite_location::SuiteLocation;
use crate::platform::environment;
use crate::platform::errors::SettingError;
use crate::platform::process::Echo;
use crate::record::model_calls::{MODEL_CALLS, ModelCallServer};
use crate::record::run_directory::{RunDirectory, new_run_id, run_id};
use crate::run::test_filter::TestFilter;

/// The settings of a run.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Settings {
    /// Skipped cases are errors.
    pub(crate) require: bool,
    /// Workspaces of passed trials are not removed.
    pub(crate) keep_workspaces: bool,
    /// Whether the output of programs and the end of each trial are shown.
    pub(crate) echo: Echo,
    /// All trials run, also those that would not change the result.
    pub(crate) run_all: bool,
    /// Trials that the run already has of a case are kept, and only further ones run.
    pub(crate) add_trials: bool,
    /// Most trials that repeat a case that differs from its baseline.
    pub(crate) confirm: u32,
    pub(crate) output: Option<PathBuf>,
    pub(crate) run_id: Option<String>,
    pub(crate) trials: Option<u32>,
    pub(crate) threshold: Option<f64>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) targets: Option<Vec<String>>,
    /// Further attempts at a trial after infrastructure errors.
    pub(crate) retries: u32,
    /// Budget of the run in US dollars.
    pub(crate) budget_usd: Option<f64>,
    /// The version of the agent.
    pub(crate) agent_digest: Option<String>,
    /// Cases that have not changed take their result from an earlier run.
    pub(crate) only_changed: bool,
    /// Number of trials of a suite that run in parallel.
    pub(crate) workers: Option<u32>,
    /// Who is told the steps of cases.
    pub(crate) progress: ProgressListeners,
    /// File to which the steps of cases are appended.
    pub(crate) progress_file: Option<PathBuf>,
    /// Cases whose files changed since the build are read again.
    pub(crate) reload: bool,
    /// Whether agents and judges are called.
    pub(crate) mode: Mode,
    /// The server that records or replays the calls of models.
    pub(crate) model_calls: Option<ModelCallServer>,
    /// What becomes of MCP servers, in place of what targets say.
    pub(crate) mcp: Option<McpMode>,
    /// The run whose trials are graded again.
    pub(crate) regrade: Option<String>,
    /// Whether tests of suites probe them.
    pub(crate) probe: ProbeFindings,
    /// Directory of the recordings.
    pub(crate) cassettes: Option<PathBuf>,
    /// The targets file, or its directory.
    pub(crate) targets_file: Option<PathBuf>,
    /// Whether commands are sealed, in place of what files say.
    pub(crate) sealed: Option<SealMode>,
    pub(crate) judge: JudgeOptions,
    pub(crate) runner: Runner,
}

/// The words of EVALSUITE_SEALED; files decide without it.
const SEAL_MODES: [(&str, Option<SealMode>); 4] =
    [("", None), ("off", Some(SealMode::Off)), ("auto", Some(SealMode::Auto)), ("required", Some(SealMode::Required))];

/// What becomes of the findings of a probe in the test of a suite.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum ProbeFindings {
    /// The suite is not probed.
    #[default]
    Off,
    /// They are printed.
    Warn,
    /// They fail the test.
    Deny,
}

impl ProbeFindings {
    const WORDS: [(&str, Self); 3] = [("off", Self::Off), ("warn", Self::Warn), ("deny", Self::Deny)];
}

/// What the test runner passes to a test.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Runner {
    /// Run id of nextest.
    pub(crate) run_id: Option<String>,
    /// Number of the attempt at this test, from 1.
    pub(crate) attempt: u32,
    /// Highest number of attempts.
    pub(crate) total_attempts: u32,
    /// Index of a stress run.
    pub(crate) stress: Option<String>,
}

impl Runner {
    /// What all tests have in common that one process of the test runner starts, and no others: the same program runs them.
    pub(crate) fn identity(&self) -> &str {
        static OWN: OnceLock<String> = OnceLock::new();
        self.run_id.as_deref().unwrap_or_else(|| OWN.get_or_init(new_run_id))
    }

    /// Whether the test runner does not repeat this test if it fails.
    pub(crate) fn is_last_attempt(&self) -> bool {
        self.attempt >= self.total_attempts
    }
}

impl Settings {
    /// Id of the run, if the user or the test runner sets it.
    pub(crate) fn run_id(&self) -> Option<&str> {
        self.run_id.as_deref().or(self.runner.run_id.as_deref())
    }

    /// The directory of the run that the tests of this process belong to.
    pub(crate) fn run_of_tests(&self, suite: &EvalSuite) -> Result<RunDirectory, SettingError> {
        RunDirectory::new(self.output.as_deref(), &SuiteLocation::of(suite), run_id(self.run_id()))
    }

    /// The directory of a new run, unless the user sets the id of the run.
    pub(crate) fn own_run(&self, suite: &EvalSuite) -> Result<RunDirectory, SettingError> {
        let id = if self.run_id.is_some() { run_id(self.run_id()) } else { new_run_id() };
        RunDirectory::new(self.output.as_deref(), &SuiteLocation::of(suite), id)
    }

    /// The mode in which judges are asked where no agent is called: regrading applies to agents.
    #[cfg(any(feature = "calibration", feature = "grader-tests"))]
    pub(crate) fn judge_mode(&self) -> Mode {
        match self.mode {
            Mode::Regrade => Mode::Live,
            mode => mode,
        }
    }

    /// Whether the answers of models are recorded ones.
    pub(crate) fn replays_models(&self) -> bool {
        self.model_calls.is_some_and(|server| server.calls == ModelCalls::Replayed)
    }

    /// Whether a grader that names no judge has one; `judges` are those of the macro.
    pub(crate) fn has_judge(&self, judges: &Judges) -> bool {
        self.judge.names_one() || judges.has_default()
    }

    /// Where judges come from. `load` reads the targets file whose commands may judge, except for the one under test.
    pub(crate) fn judge_choice(
        &self,
        judges: &Judges,
        load: Option<LoadTargets>,
        places: &SuiteLocation,
        under_test: Option<String>,
        is_recorded: bool,
    ) -> JudgeChoice {
        let (places, file) = (places.clone(), self.targets_file.clone());
        let commands = load.map(|load| JudgeCommands { load, places, file, under_test });
        JudgeChoice { judges: judges.clone(), options: self.judge.clone(), is_recorded, commands }
    }

    /// Which commands of a suite are sealed, where `suite` is what it says of those that do not say so themselves, and its records are in
    /// `output`.
    pub(crate) fn seals(&self, suite: Option<SealMode>, places: &SuiteLocation, output: Option<&Path>) -> SealDefaults {
        let hidden = hidden_directories(places, output);
        SealDefaults { suite, environment: self.sealed, hidden }
    }

    /// Whether nextest runs the tests, each in a process of its own.
    pub(crate) fn is_nextest(&self) -> bool {
        self.runner.run_id.is_some()
    }

    /// Whether the user asked for a test by its name. Nextest names every test to its process.
    pub(crate) fn names_test(&self, test: &str) -> bool {
        !self.is_nextest() && TestFilter::of_process().names(test)
    }

    /// The environment of this process, read once.
    pub(crate) fn from_environment() -> Result<&'static Self, &'static SettingError> {
        static SETTINGS: OnceLock<Result<Settings, SettingError>> = OnceLock::new();
        SETTINGS.get_or_init(|| Self::read(environment::var_os, &environment::names())).as_ref()
    }

    /// Reads the settings from variables; `set` are the names of all that are set.
    fn read(lookup: impl Fn(&str) -> Option<OsString>, set: &[String]) -> Result<Self, SettingError> {
        let mut source = VariableReader { lookup, problems: Vec::new() };
        let regrade = source.text("EVALSUITE_REGRADE");
        let settings = Self {
            require: source.flag("EVALSUITE_REQUIRE"),
            keep_workspaces: source.flag("EVALSUITE_KEEP"),
            echo: if source.flag("EVALSUITE_VERBOSE") { Echo::On } else { Echo::Off },
            run_all: source.flag("EVALSUITE_RUN_ALL"),
            add_trials: source.flag("EVALSUITE_ADD_TRIALS"),
            confirm: source.integer("EVALSUITE_CONFIRM", 0..=100).unwrap_or(DEFAULT_CONFIRMING),
            output: source.value("EVALSUITE_OUTPUT").map(PathBuf::from),
            run_id: source.text("EVALSUITE_RUN_ID"),
            trials: source.integer("EVALSUITE_TRIALS", 1..=1000),
            threshold: source.number("EVALSUITE_THRESHOLD", "a number from 0 to 1", |n| (0.0..=1.0).contains(n)),
            timeout: source.seconds("EVALSUITE_TIMEOUT_SECONDS"),
            targets: source.names("EVALSUITE_TARGET"),
            retries: source.integer("EVALSUITE_RETRIES", 0..=10).unwrap_or_default(),
            budget_usd: source.number("EVALSUITE_BUDGET_USD", "a number above 0", |n: &f64| *n > 0.0 && n.is_finite()),
            agent_digest: source.text("EVALSUITE_AGENT_DIGEST"),
            only_changed: source.flag("EVALSUITE_ONLY_CHANGED"),
            workers: source.integer("EVALSUITE_WORKERS", 1..=1000),
            progress: ProgressListeners::default(),
            progress_file: source.value("EVALSUITE_PROGRESS").map(PathBuf::from),
            reload: source.flag("EVALSUITE_RELOAD"),
            mode: source.mode(regrade.as_deref()),
            model_calls: source.number(MODEL_CALLS, "`record` or `replay` and an address", |_| true),
            mcp: source.word("EVALSUITE_MCP", "live, record or replay", &McpMode::WORDS),
            regrade,
            probe: source.word("EVALSUITE_PROBE", "off, warn or deny", &ProbeFindings::WORDS),
            cassettes: source.value("EVALSUITE_CASSETTES").map(PathBuf::from),
            targets_file: source.value("EVALSUITE_TARGETS").map(PathBuf::from),
            sealed: source.word("EVALSUITE_SEALED", "off, auto or required", &SEAL_MODES),
            judge: source.judge(),
            runner: Runner {
                run_id: source.text("NEXTEST_RUN_ID"),
                attempt: source.count("NEXTEST_ATTEMPT"),
                total_attempts: source.count("NEXTEST_TOTAL_ATTEMPTS"),
                stress: source.text("NEXTEST_STRESS_CURRENT").filter(|index| index != "none"),
            },
        };
        // Files are also written where there are no settings, so their writer reads it.
        source.flag("EVALSUITE_DURABLE");
        if settings.only_changed && settings.agent_digest.is_none() {
            source
                .problems
                .push("EVALSUITE_ONLY_CHANGED needs EVALSUITE_AGENT_DIGEST, to detect changes of the agent".to_owned());
        }
        source.problems.extend(environment::problem().map(ToString::to_string));
        source.problems.extend(variable::unknown(set));
        if source.problems.is_empty() { Ok(settings) } else { Err(source.problems.join("; ").into()) }
    }
}

/// Reads variables and collects the invalid ones.
struct VariableReader<L> {
    lookup: L,
    problems: Vec<String>,
}

impl<L: Fn(&str) -> Option<OsString>> VariableReader<L> {
    /// The value of a variable; an empty variable counts as unset.
    fn value(&self, name: &str) -> Option<OsString> {
        (self.lookup)(name).filter(|value| !value.is_empty())
    }

    fn text(&mut self, name: &str) -> Option<String> {
        match self.value(name)?.into_string() {
            Ok(text) => Some(text),
            Err(_) => {
                self.problems.push(format!("{name} is not valid Unicode"));
                None
            }
        }
    }

    fn flag(&mut self, name: &str) -> bool {
        self.word(name, "1, true, 0 or false", &[("0", false), ("false", false), ("1", true), ("true", true)])
    }

    fn number<T: FromStr>(&mut self, name: &str, wanted: &str, fits: impl Fn(&T) -> bool) -> Option<T> {
        let text = self.text(name)?;
        let number = text.parse().ok().filter(|number| fits(number));
        if number.is_none() {
            self.problems.push(format!("{name} is `{text}`, not {wanted}"));
        }
        number
    }

    fn integer(&mut self, name: &str, range: RangeInclusive<u32>) -> Option<u32> {
        let wanted = format!("an integer from {} to {}", range.start(), range.end());
        self.number(name, &wanted, |number| range.contains(number))
    }

    /// A number of attempts; 1 without the variable.
    fn count(&mut self, name: &str) -> u32 {
        self.number(name, "an integer from 1", |number| *number >= 1).unwrap_or(1)
    }

    /// The mode; `regraded` is the run whose trials are graded again.
    fn mode(&mut self, regraded: Option<&str>) -> Mode {
        let Some(run) = regraded else {
            let modes = [("live", Mode::Live), ("record", Mode::Record), ("replay", Mode::Replay)];
            return self.word("EVALSUITE_MODE", "live, record or replay", &modes);
        };
        if let Some(mode) = self.text("EVALSUITE_MODE").filter(|mode| mode != "live") {
            self.problems.push(format!("EVALSUITE_REGRADE is `{run}` and EVALSUITE_MODE is `{mode}`; set one of them"));
        }
        Mode::Regrade
    }

    /// The value of one of the words; without the variable, that of the first.
    fn word<T: Copy>(&mut self, name: &str, wanted: &str, words: &[(&str, T)]) -> T {
        let text = self.text(name).unwrap_or_else(|| words[0].0.to_owned());
        let found = words.iter().find(|(word, _)| *word == text);
        if found.is_none() {
            self.problems.push(format!("{name} is `{text}`, not {wanted}"));
        }
        found.unwrap_or(&words[0]).1
    }

    fn judge(&mut self) -> JudgeOptions {
        let price = self.prices("EVALSUITE_JUDGE_PRICE");
        let variables = EndpointVariables {
            url: self.text("EVALSUITE_JUDGE_URL"),
            model: self.text("EVALSUITE_JUDGE_MODEL"),
            key: self.text("EVALSUITE_JUDGE_API_KEY"),
            openai_url: self.text("OPENAI_BASE_URL"),
            openai_key: self.text("OPENAI_API_KEY"),
            price,
        };
        let has_url = variables.url.is_some();
        let endpoint = Endpoint::from_variables(variables).unwrap_or_else(|problem| {
            self.problems.push(problem);
            None
        });
        let targets = self.names("EVALSUITE_JUDGE_TARGET");
        if has_url && targets.is_some() {
            self.problems
                .push("EVALSUITE_JUDGE_TARGET and EVALSUITE_JUDGE_URL are both set; set one of them".to_owned());
        }
        JudgeOptions {
            endpoint,
            targets,
            limit: self.seconds("EVALSUITE_JUDGE_TIMEOUT_SECONDS"),
            temperature: self
                .number("EVALSUITE_JUDGE_TEMPERATURE", "a number from 0 to 2", |n| (0.0..=2.0).contains(n)),
            confirm: self.number("EVALSUITE_JUDGE_CONFIRM", &format!("an even number from 0 to {MOST_CONFIRM}"), |n| {
                n % 2 == 0 && (0..=MOST_CONFIRM).contains(n)
            }),
        }
    }

    fn seconds(&mut self, name: &str) -> Option<Duration> {
        let fits = |n: &f64| *n > 0.0 && Duration::try_from_secs_f64(*n).is_ok();
        let seconds = self.number(name, "a number of seconds above 0 and below 2^64", fits)?;
        Duration::try_from_secs_f64(seconds).ok()
    }

    /// Two numbers separated by `/`.
    fn prices(&mut self, name: &str) -> Option<(f64, f64)> {
        let text = self.text(name)?;
        let number = |text: &str| text.trim().parse::<f64>().ok().filter(|n| n.is_finite() && *n >= 0.0);
        let prices = text.split_once('/').and_then(|(input, output)| Some((number(input)?, number(output)?)));
        if prices.is_none() {
            let wanted = "US dollars per million tokens of input and of output, such as `0.15/0.60`";
            self.problems.push(format!("{name} is `{text}`, not {wanted}"));
        }
        prices
    }

    fn names(&mut self, name: &str) -> Option<Vec<String>> {
        let text = self.text(name)?;
        let names: Vec<String> = text.split(',').map(|name| name.trim().to_owned()).collect();
        if names.iter().any(String::is_empty) {
            self.problems.push(format!("{name} is `{text}`, not names separated by commas"));
        }
        Some(names)
    }
}
