//! What a grader in Rust asks judges.

use std::{
    collections::BTreeSet,
    fmt,
    path::PathBuf,
    sync::{Mutex, MutexGuard, PoisonError},
};

use evalsuite_schema::{
    grader::JudgeSettings,
    record::{GraderKind, Note, ReasonCode},
};

use crate::{
    grade::{
        Context, Graded,
        judge::{prompts::REPAIR_DATA, template},
        kept::KeptFiles,
    },
    judge::{Broken, Call, Chosen, OwnedChoice, Site, Tally, ask, recorded_judges, until_read},
    model::{
        cassette::Cassette,
        command::CommandEnvironment,
        judge::{JudgeError, JudgeReply, JudgeRequest, fenced, suite_judge::Inquiry},
        score::{self, Score},
    },
    platform::digest::sha256,
};

/// The questions of one call of a grader. It outlives the borrowed evidence, because the grader has a thread of its own.
pub(crate) struct GraderInquiry {
    /// Tells the grader apart from others.
    path: String,
    case_id: String,
    trial: u32,
    choice: OwnedChoice,
    directory: PathBuf,
    workspace: PathBuf,
    environment: CommandEnvironment,
    files: KeptFiles,
    cassette: Cassette,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The judges asked so far, by the name they were asked for by.
    chosen: Vec<(Option<String>, Chosen)>,
    /// Number of questions, however often each was asked.
    questions: u32,
    prompts: BTreeSet<String>,
    tally: Tally,
    failure: Option<Broken>,
    notes: Vec<Note>,
    /// Nobody counts any more.
    is_over: bool,
}

impl fmt::Debug for GraderInquiry {
    /// Evidence is printed by graders, and some of what is in here is secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GraderInquiry").field("path", &self.path).finish_non_exhaustive()
    }
}

impl GraderInquiry {
    pub(crate) fn new(path: &str, context: &Context<'_>) -> Self {
        Self {
            path: path.to_owned(),
            case_id: context.evidence.case_id().to_owned(),
            trial: context.evidence.trial(),
            choice: context.judging.choice.detached(),
            directory: context.grader_directory(path),
            workspace: context.evidence.workspace().to_owned(),
            environment: context.environment.clone(),
            files: context.kept_files(),
            cassette: context.cassette.replies(),
            state: Mutex::default(),
        }
    }

    /// Ends the inquiry and adds what it came to. What a grader asks that has run out of time does not count, and a grader
    /// that was left without a reply is an error, whatever it made of that.
    pub(crate) fn conclude(&self, mut graded: Graded, context: &Context<'_>) -> Graded {
        let ended = State { is_over: true, ..State::default() };
        let State { prompts, tally, failure, notes, questions, .. } = std::mem::replace(&mut *self.state(), ended);
        context.notes.borrow_mut().extend(notes);
        if questions == 0 {
            return graded;
        }
        let digest = match prompts.len() {
            1 => prompts.into_iter().collect(),
            _ => sha256(prompts.into_iter().collect::<Vec<_>>().join("\n")),
        };
        graded.judge = Some(tally.into_record(digest));
        if graded.kind == Some(GraderKind::Code) {
            graded.kind = Some(GraderKind::Model);
        }
        if let Some(Broken { message, code }) = failure {
            graded.code = Some(code);
            if !matches!(&graded.score.state, score::State::Error(said) if said.contains(&message)) {
                graded.score = Score::error(message);
            }
        }
        graded
    }

    /// Counts a question and keeps its prompts.
    fn begin(&self, request: &JudgeRequest) -> u32 {
        let question = {
            let mut state = self.state();
            state.questions += 1;
            state.prompts.insert(request.prompt_digest());
            state.questions
        };
        for (file, text) in [("system.txt", &request.system), ("prompt.txt", &request.user)] {
            if !text.is_empty() {
                self.keep(question, file, text);
            }
        }
        question
    }

    /// The judge of a name, else the default one; of several default ones the first.
    fn choose(&self, name: Option<&str>) -> Result<Chosen, Broken> {
        let known = |state: &State| {
            state.chosen.iter().find(|(known, _)| known.as_deref() == name).map(|(_, chosen)| chosen.clone())
        };
        let mut state = self.state();
        if let Some(chosen) = known(&state) {
            return Ok(chosen);
        }
        let site = Site {
            directory: self.directory.clone(),
            workspace: &self.workspace,
            environment: &self.environment,
            redactor: self.files.redactor(),
        };
        let settings = JudgeSettings { target: name.map(str::to_owned), ..JudgeSettings::default() };
        let broken = |message: String| Broken { message, code: ReasonCode::GraderError };
        let chosen = self.choice.borrowed().of(&settings, &site).map_err(|problem| {
            let declare = "a grader that is registered as `\"name\" => evalsuite::asks_judge(grader)` is skipped then";
            broken(if name.is_none() { format!("{problem}; {declare}") } else { problem })
        })?;
        let chosen = recorded_judges(&chosen, &self.path, &self.cassette).unwrap_or(chosen);
        let chosen = chosen.into_iter().next().ok_or_else(|| broken("no judge is named".to_owned()))?;
        state.chosen.push((name.map(str::to_owned), chosen.clone()));
        Ok(chosen)
    }

    /// One call. What comes back is kept, whether it can be used or not.
    fn call(&self, judge: &Chosen, question: u32, mut request: JudgeRequest) -> Result<JudgeReply, JudgeError> {
        {
            let mut state = self.state();
            if state.is_over {
                return Err(JudgeError::permanent("the grader that asks has ended"));
            }
            request.repeat = state.tally.begin(&judge.name);
        }
        let options = &self.choice.options;
        request.case_id.clone_from(&self.case_id);
        request.trial = self.trial;
        request.temperature = request.temperature.or(options.temperature);
        request.limit = request.limit.or(options.limit);
        let reply = ask(judge, &self.path, request, &self.cassette)?;
        let number = self.state().tally.replies() + 1;
        let file = self.keep(question, &format!("reply-{number}.txt"), &reply.text);
        self.state().tally.add(&judge.name, &reply, file);
        Ok(reply)
    }

    fn keep(&self, question: u32, file: &str, text: &str) -> Option<String> {
        let kept = self.files.keep(&self.directory.join(format!("question-{question}")), file, text);
        kept.map_err(|note| self.state().notes.push(note)).ok()
    }

    /// A panic elsewhere spoils nothing.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inquiry for GraderInquiry {
    fn ask(
        &self,
        judge: Option<&str>,
        request: &JudgeRequest,
        read: &mut dyn FnMut(&JudgeReply) -> Result<(), String>,
    ) -> Result<(), JudgeError> {
        let question = self.begin(request);
        let answer = self.choose(judge).and_then(|judge| {
            let call = |call: Call<'_>| match call {
                Call::Ask => self.call(&judge, question, request.clone()),
                Call::Repair { reply, problem } => {
                    let user = template::fill(REPAIR_DATA, |name| match name {
                        "problem" => Some(problem.to_owned()),
                        "question" => Some(request.user.clone()),
                        "reply" => Some(fenced(reply)),
                        _ => None,
                    });
                    self.call(&judge, question, JudgeRequest { user, ..request.clone() })
                }
            };
            until_read(&judge.name, call, read)
        });
        answer.map_err(|Broken { message, code }| {
            let error = JudgeError::permanent(message.clone()).with_code(code);
            self.state().failure.get_or_insert(Broken { message, code });
            error
        })
    }
}
