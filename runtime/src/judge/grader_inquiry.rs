//! The questions of a grader in Rust to judges.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use evalsuite_records::record::{JudgeRecord, Note, ReasonCode};
use evalsuite_schema::grader::JudgeSettings;

use crate::judge::asking_grader::AskingGrader;
use crate::judge::call_tally::CallTally;
use crate::judge::judge_choice::{ChosenJudge, JudgeChoice, recorded_judges};
use crate::judge::prompt_texts::{REPAIR_DATA, repair_prompt};
use crate::judge::repeated_calls::{CallPurpose, JudgeFailure, until_readable};
use crate::model::judge::request::LIMIT;
use crate::model::judge::suite_judge::Inquiry;
use crate::model::judge::{InvalidReply, JudgeError, JudgeReply, JudgeRequest};

/// The questions of one call of a grader. It outlives the borrowed evidence, because the grader has a thread of its own.
pub(crate) struct GraderInquiry {
    grader: AskingGrader,
    choice: JudgeChoice,
    progress: Mutex<InquiryProgress>,
}

#[derive(Debug, Default)]
struct InquiryProgress {
    /// The judges asked so far, by the name they were asked for by.
    chosen: Vec<(Option<String>, ChosenJudge)>,
    /// Number of questions, without repeated calls.
    questions: u32,
    prompts: BTreeSet<String>,
    tally: CallTally,
    failure: Option<JudgeFailure>,
    notes: Vec<Note>,
    /// Further calls are refused.
    is_over: bool,
}

impl fmt::Debug for GraderInquiry {
    /// Evidence is printed by graders, and some of what is in here is secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GraderInquiry").field("path", &self.grader.path).finish_non_exhaustive()
    }
}

impl GraderInquiry {
    pub(crate) fn new(grader: AskingGrader, choice: JudgeChoice) -> Self {
        Self { grader, choice, progress: Mutex::default() }
    }

    /// Ends the inquiry: calls of a grader that has run out of time are refused from now on. Returns the record if a question was
    /// asked, why the first question without a reply has none, and the notes.
    pub(crate) fn end(&self) -> (Option<JudgeRecord>, Option<JudgeFailure>, Vec<Note>) {
        let ended = InquiryProgress { is_over: true, ..InquiryProgress::default() };
        let progress = std::mem::replace(&mut *self.progress(), ended);
        let InquiryProgress { prompts, tally, failure, notes, questions, .. } = progress;
        let record = (questions > 0).then(|| tally.into_record(&prompts.into_iter().collect::<Vec<_>>()));
        (record, failure, notes)
    }

    /// Counts a question and writes its prompts to files.
    fn begin(&self, request: &JudgeRequest) -> u32 {
        let question = {
            let mut progress = self.progress();
            progress.questions += 1;
            progress.prompts.insert(request.prompt_digest(self.grader.files.redactor()));
            progress.questions
        };
        for (file, text) in [("system.txt", &request.system), ("prompt.txt", &request.user)] {
            if !text.is_empty() {
                self.write(question, file, text);
            }
        }
        question
    }

    /// The judge of a name, else the default one; of several default ones the first.
    fn choose(&self, name: Option<&str>) -> Result<ChosenJudge, JudgeFailure> {
        let mut progress = self.progress();
        if let Some((_, chosen)) = progress.chosen.iter().find(|(known, _)| known.as_deref() == name) {
            return Ok(chosen.clone());
        }
        let settings = JudgeSettings { target: name.map(str::to_owned), ..JudgeSettings::default() };
        let failure = |message: String| JudgeFailure { message, code: ReasonCode::GraderError };
        let chosen = self.choice.of(&settings, &self.grader).map_err(|error| {
            let declare = "a grader that is registered as `\"name\" => evalsuite::asks_judge(grader)` is skipped then";
            failure(if name.is_none() { format!("{error}; {declare}") } else { error.to_string() })
        })?;
        let chosen = recorded_judges(&chosen, &self.grader.path, &self.grader.cassette).unwrap_or(chosen);
        let chosen = chosen.into_iter().next().ok_or_else(|| failure("no judge is named".to_owned()))?;
        progress.chosen.push((name.map(str::to_owned), chosen.clone()));
        Ok(chosen)
    }

    /// One call. The reply is written to a file, whether it can be used or not.
    fn call(&self, judge: &ChosenJudge, question: u32, mut request: JudgeRequest) -> Result<JudgeReply, JudgeError> {
        {
            let mut progress = self.progress();
            if progress.is_over {
                return Err(JudgeError::permanent("the grader that asks has ended"));
            }
            request.repeat = progress.tally.begin(&judge.name);
        }
        let reply = self.grader.ask(judge, request, &self.choice.options)?;
        let number = self.progress().tally.replies() + 1;
        let file = self.write(question, &format!("reply-{number}.txt"), &reply.text);
        self.progress().tally.add(&judge.name, &reply, file);
        Ok(reply)
    }

    fn write(&self, question: u32, file: &str, text: &str) -> Option<String> {
        let written = self.grader.write(&format!("question-{question}"), file, text);
        written.map_err(|note| self.progress().notes.push(note)).ok()
    }

    /// The data stays consistent if a thread panics while it holds the lock.
    fn progress(&self) -> MutexGuard<'_, InquiryProgress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inquiry for GraderInquiry {
    fn ask(
        &self,
        judge: Option<&str>,
        request: &JudgeRequest,
        read: &mut dyn FnMut(&JudgeReply) -> Result<(), InvalidReply>,
    ) -> Result<(), JudgeError> {
        let question = self.begin(request);
        let answer = self.choose(judge).and_then(|judge| {
            let call = |purpose: CallPurpose<'_>| match purpose {
                CallPurpose::Answer => self.call(&judge, question, request.clone()),
                CallPurpose::Repair { reply, problem } => {
                    let user = repair_prompt(REPAIR_DATA, &request.user, reply, problem);
                    self.call(&judge, question, JudgeRequest { user, ..request.clone() })
                }
            };
            until_readable(&judge.name, request.limit.or(self.choice.options.limit).unwrap_or(LIMIT), call, read)
        });
        answer.map_err(|JudgeFailure { message, code }| {
            let error = JudgeError::permanent(message.clone()).with_code(code);
            self.progress().failure.get_or_insert(JudgeFailure { message, code });
            error
        })
    }
}
