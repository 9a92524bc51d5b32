//! The turns of a conversation that a simulated user writes, and whether it stayed in its role.

use std::sync::Arc;

use evalsuite_records::record::{Mode, ReasonCode, Stage, Status, UserEnd, UserRecord};
use evalsuite_schema::diagnostics::counted;
use evalsuite_schema::grader::JudgeSettings;
use evalsuite_schema::{Conversation, Message, Object, Role, SimulatedUser};

use crate::judge::grader_inquiry::GraderInquiry;
use crate::judge::judge_call::JudgeFailure;
use crate::judge::judge_choice::{AskingGrader, ChosenJudge, JudgeChoice, JudgeOptions, JudgeSeal};
use crate::judge::simulated_user_turn::{self, UserTurn, heard};
use crate::model::evidence::{Evidence, Facts, UnknownWork};
use crate::model::judge::Judges;
use crate::model::user::UserRequest;
use crate::record::grader_files::GraderFiles;
use crate::run::trial::conversation::{RunningConversation, describe_user, turn_folder};
use crate::run::trial::graded::{RecordedTurns, run_graders};
use crate::run::trial::prepared::Prepared;
use crate::run::trial::trial_attempt::{EarlyEnd, guarded};

/// What the paths of the graders of the user, and its files, begin with.
const FOLDER: &str = "user";

impl RunningConversation<'_> {
    /// Lets the user and the agent talk until the user is done, has written all its turns, or a turn has failed.
    pub(super) fn run_user_turns(&mut self, conversation: &Conversation, user: &SimulatedUser) -> Result<(), EarlyEnd> {
        let trial = self.prepared.trial;
        self.recorded.user = Some(UserRecord::new());
        let first = u32::try_from(conversation.turns.len()).unwrap_or(u32::MAX);
        self.so_far.first_simulated = Some(first as usize);
        let speaker = Speaker::new(self.prepared, user);
        let mut ended = UserEnd::MaxTurns;
        for number in 0..user.max_turns {
            if self.scores.is_stopped {
                // Of the turns that would have followed, one is known to be missing.
                self.scores.add(None);
                ended = UserEnd::TurnFailed;
                break;
            }
            let index = first + number;
            let recorded = &mut self.recorded;
            let speak = || guarded(|| speaker.next(&self.so_far.messages, index, number + 1, recorded));
            let said = trial.timed(|t| &mut t.user_ms, speak).map_err(|end| {
                // What the user never said is not in the evidence.
                let is_missing = end.reason.code == ReasonCode::RecordingMissing;
                let earlier = trial.plan.earlier_trials().filter(|_| is_missing);
                let earlier = earlier.and_then(|earlier| earlier.end_in_turn(trial.index, index));
                of_turn(index, earlier.map_or(end, EarlyEnd::from))
            })?;
            if said.is_done {
                if index == 0 {
                    let message = "the simulated user was done before it said anything";
                    return Err(of_turn(index, EarlyEnd::error(Stage::User, ReasonCode::UserError, message)));
                }
                self.recorded.user().last_words = Some(said.message).filter(|words| !words.is_empty());
                ended = UserEnd::Done;
                break;
            }
            self.recorded.user().turns += 1;
            self.run_recorded_turn(index, &conversation.turn_of_user(said.message), conversation.window_size, true)?;
        }
        self.recorded.user().ended = Some(ended);
        Ok(())
    }
}

/// The end of a trial because of the user, in the turn with this index.
fn of_turn(index: u32, mut end: EarlyEnd) -> EarlyEnd {
    end.reason.message = format!("turn {}: {}", index + 1, end.reason.message);
    end
}

/// Writes the turns of a user.
struct Speaker<'t> {
    prepared: &'t Prepared<'t>,
    user: Arc<SimulatedUser>,
    choice: JudgeChoice,
}

impl<'t> Speaker<'t> {
    fn new(prepared: &'t Prepared<'t>, user: &SimulatedUser) -> Self {
        let plan = prepared.trial.plan;
        let choice = plan.judges();
        let choice = match plan.settings.mode {
            // The agent has answered what the user said then.
            Mode::Regrade => JudgeChoice {
                judges: Judges::default(),
                options: JudgeOptions { endpoint: None, targets: None, ..choice.options },
                is_recorded: true,
                commands: None,
            },
            _ => choice,
        };
        Self { prepared, user: Arc::new(user.clone()), choice }
    }

    /// What the user says in the turn with this index, its turn `number`.
    fn next(
        &self,
        messages: &[Message],
        index: u32,
        number: u32,
        recorded: &mut RecordedTurns,
    ) -> Result<UserTurn, EarlyEnd> {
        let Prepared { trial, case, environment, cassette, .. } = self.prepared;
        let heard = heard(messages);
        let path = format!("{FOLDER}/{}", turn_folder(index));
        let seal = JudgeSeal::default();
        let asking = AskingGrader {
            case_id: case.id.clone(),
            trial: trial.index,
            directory: trial.directory.join(FOLDER).join(turn_folder(index)),
            files: GraderFiles::new(&trial.directory, &trial.plan.redactor),
            cassette: cassette.replies(),
            workspace: trial.workspace.clone(),
            environment: environment.clone(),
            seal: seal.clone(),
            command_calls: Arc::default(),
            path,
        };
        let inquiry = GraderInquiry::new(asking, self.choice.clone());
        let question = simulated_user_turn::request(&self.user, &heard).with_settings(&self.settings());
        let judge = self.judge(&inquiry, heard, number)?;
        inquiry.begin(std::slice::from_ref(&question));
        let said = inquiry.data(&judge, &question, simulated_user_turn::read);
        let (asked, _, notes) = inquiry.end();
        trial.add_notes(notes);
        let asked = asked.unwrap_or_default();
        let user = recorded.user();
        user.sealed = seal.record().or(user.sealed.take());
        user.name = judge.name;
        user.model = asked.model.or(user.model.take());
        user.attempts += asked.attempts;
        user.unknown_tokens += asked.unknown_tokens;
        user.unknown_costs += asked.unknown_costs;
        user.replies.extend(asked.replies);
        if let Some(usage) = asked.usage {
            *recorded.user_usage.get_or_insert_default() += usage;
        }
        if let Some(cost) = asked.cost_usd {
            *recorded.user_cost_usd.get_or_insert_default() += cost;
        }
        said.map_err(|failure| self.failed(failure))
    }

    /// What is set for the calls of a judge.
    fn settings(&self) -> JudgeSettings {
        let SimulatedUser { judge, model, temperature, timeout_seconds, config, .. } = &*self.user;
        JudgeSettings {
            target: judge.clone(),
            model: model.clone(),
            temperature: *temperature,
            timeout_seconds: *timeout_seconds,
            config: config.clone(),
            ..JudgeSettings::default()
        }
    }

    /// Who writes the turn: the function that the case names, else a judge; of several default judges the first.
    fn judge(&self, inquiry: &GraderInquiry, heard: Vec<Message>, turn: u32) -> Result<ChosenJudge, EarlyEnd> {
        let unusable = |message: String| EarlyEnd::error(Stage::User, ReasonCode::UserError, message);
        let Some(name) = &self.user.name else {
            let (judges, _) = inquiry
                .judges(&self.settings())
                .map_err(|error| unusable(format!("nobody writes what the simulated user says: {error}")))?;
            return judges.into_iter().next().ok_or_else(|| unusable("no judge is named".to_owned()));
        };
        let trial = self.prepared.trial;
        if trial.plan.settings.mode == Mode::Regrade {
            return Ok(ChosenJudge::recorded(name));
        }
        let function = trial.plan.evals.users.get(name).ok_or_else(|| {
            unusable(format!("there is no user `{name}`: list the function in the macro, `users = [{name}]`"))
        })?;
        let judge = function.asked(UserRequest {
            user: Arc::clone(&self.user),
            messages: heard.into(),
            turn,
            case_id: self.prepared.case.id.clone(),
            trial: trial.index,
        });
        Ok(ChosenJudge { judge, is_absent: false, ..ChosenJudge::recorded(name) })
    }

    /// Nothing is known of the agent then.
    fn failed(&self, failure: JudgeFailure) -> EarlyEnd {
        let JudgeFailure { message, code } = failure;
        let code = if code == ReasonCode::JudgeError { ReasonCode::UserError } else { code };
        let who = if self.user.name.is_some() { "user" } else { "judge" };
        let message = match message.strip_prefix("judge ") {
            Some(rest) => format!("the simulated user, {who} {rest}"),
            None => format!("the simulated user: {message}"),
        };
        EarlyEnd::error(Stage::User, code, message)
    }
}

impl RecordedTurns {
    fn user(&mut self) -> &mut UserRecord {
        self.user.get_or_insert_default()
    }
}

/// Runs the graders of the user, if it said anything. Unless they pass it, the trial ends: what the agent did in reply to a broken user says
/// nothing about it.
pub(super) fn check_user(
    prepared: &Prepared<'_>,
    user: &SimulatedUser,
    recorded: &mut RecordedTurns,
) -> Result<(), EarlyEnd> {
    let said = said(recorded);
    if user.graders.is_empty() || said.is_empty() {
        return Ok(());
    }
    let trial = prepared.trial;
    let facts = facts(prepared, user, said, recorded);
    let graders = run_graders(prepared, &Evidence::new(facts), &user.graders, Some(FOLDER));
    let score = trial.plan.score(&graders);
    trial.add_notes(score.notes);
    let why = score.reason.as_ref().map(|reason| reason.message.clone()).unwrap_or_default();
    let failed = graders.iter().find(|grader| grader.verdict.is_some_and(|verdict| !verdict.is_pass()));
    let rationale = failed.and_then(|grader| Some(format!("{}: {}", grader.name, grader.rationale.as_ref()?)));
    let record = recorded.user();
    record.graders = graders;
    record.in_role = match score.outcome {
        Status::Passed => Some(true),
        Status::Failed => Some(false),
        Status::Error | Status::Skipped => None,
    };
    match (score.outcome, score.reason) {
        (Status::Passed, _) => Ok(()),
        (Status::Failed, _) => {
            let message = format!("the simulated user left its role: {}", rationale.unwrap_or(why));
            Err(EarlyEnd::error(Stage::User, ReasonCode::UserLeftRole, message))
        }
        (outcome, Some(mut reason)) => {
            reason.message = format!("the graders of the simulated user: {}", reason.message);
            Err(EarlyEnd { outcome, reason })
        }
        (_, None) => {
            let message = "the graders of the simulated user decided nothing";
            Err(EarlyEnd::error(Stage::Grading, ReasonCode::NothingDecided, message))
        }
    }
}

/// All that the user said.
fn said(recorded: &RecordedTurns) -> Vec<String> {
    let turns = recorded.turns.iter().flatten().filter(|turn| turn.simulated).map(|turn| turn.input.clone());
    let last_words = recorded.user.as_ref().and_then(|user| user.last_words.clone());
    turns.chain(last_words).collect()
}

/// What the calls of the user did not report.
fn unknown_work(recorded: &RecordedTurns) -> UnknownWork {
    let why = |what: &str, calls: u32| {
        (calls > 0).then(|| {
            format!("the {what} of the simulated user is not known: {} did not report it", counted(calls, "call"))
        })
    };
    let (tokens, costs) = recorded.user.as_ref().map_or((0, 0), |user| (user.unknown_tokens, user.unknown_costs));
    UnknownWork { tokens: why("usage", tokens), cost: why("cost", costs), ..UnknownWork::default() }
}

/// What graders see of the user: its role as the input, and all it said as the answer. They do not see what the agent said, which could
/// talk a judge into calling the user broken.
fn facts(prepared: &Prepared<'_>, user: &SimulatedUser, said: Vec<String>, recorded: &RecordedTurns) -> Facts {
    let Prepared { trial, case, .. } = prepared;
    let mut facts = Facts {
        tags: trial.plan.tags(),
        trial: trial.index,
        answer: said.join("\n\n"),
        transcript: Some(said.into_iter().map(|text| Message::text(Role::User, text)).collect()),
        usage: recorded.user_usage,
        cost_usd: recorded.user_cost_usd,
        unknown: unknown_work(recorded),
        duration_ms: trial.journal.borrow().timings.user_ms as f64,
        model: recorded.user.as_ref().and_then(|user| user.model.clone()),
        files: prepared.answer_files(),
        state: Object::new(),
        dependencies: Arc::clone(&trial.plan.dependencies),
        ..Facts::of_case(case, &trial.plan.identity.target)
    };
    describe_user(user, &mut facts);
    facts
}
