//! Asks judges which of two recorded answers is better, without a test program: `cargo evalsuite diff --judge`.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use evalsuite_records::record::{AnswerPair, Mode, PairRecord, PairReply, Reason, ReasonCode, Side};
use evalsuite_schema::grader::JudgeSettings;
use evalsuite_schema::{Case, Location};

use crate::agents::command;
use crate::entry::evals_run::RunOptions;
use crate::entry::run_error::{RunError, RunErrorKind};
use crate::judge::NoJudge;
use crate::judge::endpoint_settings::KEYS;
use crate::judge::grader_inquiry::GraderInquiry;
use crate::judge::judge_choice::{AskingGrader, ChosenJudge, JudgeChoice, JudgeSeal};
use crate::judge::preference::{self, ComparedTask, OrderedReply};
use crate::judge::user_prompt::ShownAnswer;
use crate::model::command::CommandEnvironment;
use crate::model::judge::{BoundJudge, Judges};
use crate::model::suite_location::SuiteLocation;
use crate::platform::digest::file_key;
use crate::platform::excerpt::trim;
use crate::platform::file_lock::FileLock;
use crate::platform::redaction::Redactor;
use crate::platform::threads::map_on_threads;
use crate::record::cassette::{AgentInput, CassetteFile, Placeholders, TrialCassette, cassette_directory};
use crate::record::grader_files::GraderFiles;
use crate::record::run_directory::layout::{LOCK_EXTENSION, LOCKS};
use crate::run::settings::Settings;

/// What takes the place of a grader's name in recorded requests; also the name of directories in runs and of cassettes.
const PAIRWISE: &str = "pairwise";

/// Judges that compare the answers of two runs.
pub(crate) struct PairJudging<'a> {
    pub(crate) settings: &'a Settings,
    pub(crate) judges: &'a Judges,
    /// Where targets files are searched, and the package of the cassettes.
    pub(crate) places: &'a SuiteLocation,
    /// The run directory, and the id of the other run.
    pub(crate) run: &'a Path,
    pub(crate) base: &'a str,
    /// The command that asks again.
    pub(crate) repeat: &'a str,
    pub(crate) redactor: Redactor,
}

impl PairJudging<'_> {
    /// Looks for the judges before any is asked.
    pub(crate) fn check(&self, pair: &AnswerPair) -> io::Result<Result<(), NoJudge>> {
        let asking = self.asking(pair, &TrialCassette::none())?;
        Ok(self.choice(None).of(&JudgeSettings::default(), &asking).map(drop))
    }

    /// What the judges say about a pair.
    pub(crate) fn judge(&self, pair: &AnswerPair) -> PairRecord {
        let mut record = PairRecord::new(&pair.suite, &pair.target, &pair.case_id);
        let result = match &pair.answers {
            [Some(base), Some(run)] => self.ask(pair, [base, run], &mut record),
            [None, _] => {
                let message = pair.why_no_base.clone().unwrap_or_else(|| "the base has no answer".to_owned());
                Err((None, message))
            }
            [_, None] => Err((None, "the run has no answer".to_owned())),
        };
        if let Err((code, message)) = result {
            (record.code, record.error) = (code, Some(message));
        }
        record
    }

    fn ask(&self, pair: &AnswerPair, answers: [&str; 2], record: &mut PairRecord) -> Result<(), Missing> {
        let cassette = self.cassette(pair).map_err(|Reason { code, message, .. }| (Some(code), message))?;
        let asking = self.asking(pair, &cassette).map_err(broken)?;
        // The agent under test does not judge.
        let under_test = (pair.target != "default").then_some(pair.target.as_str());
        let inquiry = GraderInquiry::new(asking, self.choice(under_test));
        let settings = JudgeSettings::default();
        let (judges, _) = inquiry.judges(&settings).map_err(broken)?;
        let task = ComparedTask { criteria: trim(&pair.criteria), question: trim(&pair.input), reference: "" };
        let shown = answers.map(|text| ShownAnswer { text: trim(text).to_owned(), images: Vec::new() });
        let questions = preference::questions(task, &shown, &settings);
        inquiry.begin(&questions);
        let (mut preferred, mut missing) = ([0; 2], Vec::new());
        record.consistent = true;
        for judge in &judges {
            match preference::ask(&inquiry, judge, &questions) {
                Ok(Ok(replies)) => {
                    record.consistent &= preference::is_consistent(&replies);
                    preference::better(&replies).into_iter().for_each(|better| preferred[better] += 1);
                    record.replies.extend(replies.into_iter().zip(Side::BOTH).map(|reply| recorded(judge, reply)));
                }
                Ok(Err(message)) => missing.push((None, message)),
                Err(failure) => missing.push((Some(failure.code), failure.message)),
            }
        }
        (record.judge, ..) = inquiry.end();
        let is_majority = |votes: usize| votes * 2 > judges.len();
        if let Some(better) = preferred.iter().position(|votes| is_majority(*votes)) {
            record.better = Some(Side::BOTH[better]);
            return Ok(());
        }
        // Judges without a judgement could have made a majority.
        let is_open = preferred.iter().any(|votes| is_majority(votes + missing.len()));
        missing.into_iter().next().filter(|_| is_open).map_or(Ok(()), Err)
    }

    fn choice(&self, under_test: Option<&str>) -> JudgeChoice {
        let is_recorded = self.settings.judge_mode() == Mode::Replay;
        let under_test = under_test.map(str::to_owned);
        self.settings.judge_choice(self.judges, command::loader(), self.places, under_test, is_recorded)
    }

    fn asking(&self, pair: &AnswerPair, cassette: &TrialCassette) -> io::Result<AskingGrader> {
        let directory = self.run.join(PAIRWISE).join(self.base).join(file_key(&pair.suite)).join(case_key(pair));
        let workspace = directory.join("workspace");
        let files = GraderFiles::new(self.run, &self.redactor);
        files.directory(&workspace).make()?;
        let mut environment = CommandEnvironment::of_run(self.places, "", PAIRWISE, self.settings.echo);
        // The pairs may be of several suites, whose defaults are not known here.
        environment.seals = self.settings.seals(None, self.places, Some(self.run));
        let case = case(pair);
        let environment = environment.of_trial(self.places.join(&case.dir), &case.id, 0, &directory, &workspace);
        Ok(AskingGrader {
            path: PAIRWISE.to_owned(),
            case_id: pair.case_id.clone(),
            trial: 0,
            directory,
            files,
            cassette: cassette.replies(),
            workspace,
            environment,
            seal: JudgeSeal::default(),
            command_calls: Arc::default(),
        })
    }

    fn cassette(&self, pair: &AnswerPair) -> Result<TrialCassette, Reason> {
        let mode = self.settings.judge_mode();
        let path = match mode {
            Mode::Record | Mode::Replay => Some(self.recording(pair)?),
            _ => None,
        };
        let seen = AgentInput::new(&case(pair), PAIRWISE, None, self.places);
        let digest = seen.digest();
        let about = CassetteFile::new(&pair.suite, &pair.case_id, PAIRWISE, seen, digest);
        let (run, hint) = (self.run, format!("to record it: `EVALSUITE_MODE=record {}`", self.repeat));
        let placeholders = Placeholders::of_trial(KEYS, &self.redactor, self.places, run, run);
        let cassette = TrialCassette::new(about, placeholders);
        crate::run::replay::earlier_recording::open_replies(&cassette, mode, path, hint)?;
        Ok(cassette)
    }

    fn recording(&self, pair: &AnswerPair) -> Result<PathBuf, Reason> {
        let root = cassette_directory(&self.places.package_root, self.settings.cassettes.as_deref(), self.places)?;
        Ok(root.join(file_key(&pair.suite)).join(PAIRWISE).join(format!("{}.json", case_key(pair))))
    }
}

/// Why there is no judgement.
type Missing = (Option<ReasonCode>, String);

fn broken(error: impl ToString) -> Missing {
    (Some(ReasonCode::GraderError), error.to_string())
}

/// Name of the directory for the files about a pair.
fn case_key(pair: &AnswerPair) -> String {
    file_key(&format!("{}@{}", pair.case_id, pair.target))
}

fn case(pair: &AnswerPair) -> Case {
    Case::new(&pair.case_id, Location::default())
}

fn recorded(judge: &ChosenJudge, (reply, first): (OrderedReply, Side)) -> PairReply {
    let mut record = PairReply::new(&judge.name, first, reply.better.map(|better| Side::BOTH[better]));
    record.reasoning = reply.reasoning;
    record
}

/// Answers of two runs that a judge compares, pair by pair.
///
/// A judge is asked twice about each pair, with each of the answers first. An answer wins if it is better both times. Of several
/// judges, the majority decides.
#[derive(Debug, Clone, Default)]
pub struct AnswerPairs {
    /// The pairs.
    pub pairs: Vec<AnswerPair>,
    /// The package, in which a targets.yaml may name commands that judge.
    pub package_root: PathBuf,
    /// A run directory. Prompts and replies are written to files in `pairwise/BASE` of it.
    pub run: PathBuf,
    /// Id of the other run.
    pub base: String,
    /// The command that asks again, for messages.
    pub repeat: String,
    /// The judge that is asked if the environment names none.
    pub judge: Option<BoundJudge>,
    /// Name of a command in the targets file that is asked regardless of the environment.
    pub judge_name: Option<String>,
    /// Names of the commands in the targets file that are asked if no judge is set and the environment names none: the judges that
    /// a run recorded. A replay needs none.
    pub judges_of_run: Vec<String>,
}

impl AnswerPairs {
    /// Asks about all pairs, some at the same time, after other calls for this run have ended; the records have the order of the pairs. Limits, retries and recordings are those of
    /// graders that ask a judge. Of the options, mode, cassettes and workers are used.
    ///
    /// A judge that fails or cannot decide is not an error: see [`PairRecord::error`].
    ///
    /// # Errors
    ///
    /// If there is no judge, if an option or variable is invalid, or if the directory cannot be written.
    pub fn judge(&self, options: &RunOptions) -> Result<Vec<PairRecord>, RunError> {
        let mut settings = options.apply(Settings::from_environment()?)?;
        if let Some(name) = &self.judge_name {
            settings.judge.targets = Some(vec![name.clone()]);
        }
        let is_named = settings.judge.names_one() || self.judge.is_some();
        let is_of_run = !is_named && !self.judges_of_run.is_empty() && settings.judge_mode() != Mode::Replay;
        if is_of_run {
            settings.judge.targets = Some(self.judges_of_run.clone());
        }
        let places = SuiteLocation { package_root: self.package_root.clone(), suite_dir: self.package_root.clone() };
        let judging = PairJudging {
            settings: &settings,
            judges: &Judges { default: self.judge.clone(), ..Judges::default() },
            places: &places,
            run: &self.run,
            base: &self.base,
            repeat: &self.repeat,
            redactor: Redactor::of(KEYS).and_values(settings.judge.secrets()),
        };
        let Some(first) = self.pairs.first() else { return Ok(Vec::new()) };
        let unwritable = |error| {
            let message = format!("cannot write to {}", self.run.display());
            RunError::records(message).with_source(error)
        };
        let no_judge = |error: NoJudge| {
            let help = "help: a record has only the name of its judge; set EVALSUITE_JUDGE_URL and EVALSUITE_JUDGE_MODEL, \
                        or name a command of targets.yaml";
            let message = if is_of_run {
                format!("the judge of the run cannot be asked again: {error}\n{help}")
            } else {
                error.to_string()
            };
            RunError::new(RunErrorKind::NothingToMeasure, message)
        };
        let lock = self.run.join(LOCKS).join(format!("{PAIRWISE}.{LOCK_EXTENSION}"));
        // Judges that are commands write their replies to files of the pair.
        let _lock = FileLock::acquire(&lock).map_err(unwritable)?;
        judging.check(first).map_err(unwritable)?.map_err(no_judge)?;
        let records = map_on_threads(&self.pairs, settings.workers, |pair| judging.judge(pair));
        let unhidden = |error| RunError::records("secrets cannot be removed from the replies").with_source(error);
        judging.redactor.redacted(records).map_err(unhidden)
    }
}
