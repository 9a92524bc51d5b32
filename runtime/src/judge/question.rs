//! The question of a built-in grader to its judges, and the calls until it is answered.

use std::time::Duration;

use evalsuite_records::record::{JudgeRecord, Note};
use evalsuite_schema::Value;
use evalsuite_schema::grader::JudgeSettings;

use crate::judge::asking_grader::AskingGrader;
use crate::judge::call_tally::CallTally;
use crate::judge::judge_choice::ChosenJudge;
use crate::judge::judge_options::JudgeOptions;
use crate::judge::prompt_texts::{REPAIR, repair_prompt};
use crate::judge::repeated_calls::{CallPurpose, JudgeFailure, until_readable};
use crate::model::judge::request::LIMIT;
use crate::model::judge::{InvalidReply, JudgeError, JudgeImage, JudgeReply, JudgeRequest};
use crate::platform::text_error::text_error;

text_error! {
    /// Why a grader has no question for its judges.
    NoQuestion
}

/// What a grader asks its judges.
#[derive(Debug)]
pub(crate) struct Question<'a> {
    /// The system prompt.
    pub(crate) system: &'static str,
    /// JSON Schema of a reply.
    pub(crate) response_schema: Value,
    /// The user prompt.
    pub(crate) user: String,
    pub(crate) images: Vec<JudgeImage>,
    pub(crate) settings: &'a JudgeSettings,
}

/// The calls for the questions of a grader, counted for its record.
pub(crate) struct QuestionCalls<'a> {
    grader: &'a AskingGrader,
    options: &'a JudgeOptions,
    /// Digests of the questions' prompts.
    prompts: Vec<String>,
    tally: CallTally,
    notes: Vec<Note>,
}

impl<'a> QuestionCalls<'a> {
    /// Starts with no calls, and writes the prompts to files.
    pub(crate) fn new(grader: &'a AskingGrader, questions: &[Question<'_>], options: &'a JudgeOptions) -> Self {
        let redactor = grader.files.redactor();
        let request = |question: &Question<'_>| JudgeRequest::new(question.system, &question.user);
        let prompts = questions.iter().map(|question| request(question).prompt_digest(redactor)).collect();
        let mut calls = Self { grader, options, prompts, tally: CallTally::default(), notes: Vec::new() };
        for (index, question) in questions.iter().enumerate() {
            calls.write("system.txt", question.system);
            let file = if index == 0 { "prompt.txt".to_owned() } else { format!("prompt-{}.txt", index + 1) };
            calls.write(&file, &question.user);
        }
        calls
    }

    /// What the grader's record says about the calls, and notes about files that could not be written.
    pub(crate) fn into_record(self) -> (JudgeRecord, Vec<Note>) {
        (self.tally.into_record(&self.prompts), self.notes)
    }

    /// One call. The reply is written to a file, whether it can be used or not.
    fn call(&mut self, judge: &ChosenJudge, user: &str, question: &Question<'_>) -> Result<JudgeReply, JudgeError> {
        let settings = question.settings;
        let mut request = JudgeRequest::new(question.system, user);
        request.images.clone_from(&question.images);
        request.model.clone_from(&settings.model);
        request.temperature = settings.temperature;
        request.max_steps = settings.max_steps.unwrap_or(request.max_steps);
        request.response_schema = Some(question.response_schema.clone());
        request.config.clone_from(&settings.config);
        request.limit = limit(settings);
        request.repeat = self.tally.begin(&judge.name);
        let reply = self.grader.ask(judge, request, self.options)?;
        let file = self.write(&format!("reply-{}.txt", self.tally.replies() + 1), &reply.text);
        self.tally.add(&judge.name, &reply, file);
        Ok(reply)
    }

    fn write(&mut self, file: &str, text: &str) -> Option<String> {
        self.grader.write("", file, text).map_err(|note| self.notes.push(note)).ok()
    }

    /// Asks until a reply can be read, and in the end to repair one that cannot.
    pub(crate) fn answer<T>(
        &mut self,
        judge: &ChosenJudge,
        question: &Question<'_>,
        read: impl Fn(&str) -> Result<T, InvalidReply>,
    ) -> Result<T, JudgeFailure> {
        until_readable(
            &judge.name,
            limit(question.settings).or(self.options.limit).unwrap_or(LIMIT),
            |purpose| match purpose {
                CallPurpose::Answer => self.call(judge, &question.user, question),
                CallPurpose::Repair { reply, problem } => {
                    self.call(judge, &repair_prompt(REPAIR, &question.user, reply, problem), question)
                }
            },
            |reply| read(&reply.text),
        )
    }
}

/// The time limit that a grader sets.
fn limit(settings: &JudgeSettings) -> Option<Duration> {
    settings.timeout_seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
}
