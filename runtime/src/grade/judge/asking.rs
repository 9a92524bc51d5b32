//! The calls of one grader that asks a judge.

use std::time::Duration;

use evalsuite_schema::{
    grader::{Criterion, JudgeSettings},
    record::JudgeRecord,
};

use crate::{
    grade::{
        Context,
        judge::{
            prompts::{REPAIR, Shape},
            reply::{self, Judgement},
            template,
        },
    },
    judge::{Broken, Call, Chosen, Tally, ask, until_read},
    model::judge::{JudgeError, JudgeImage, JudgeReply, JudgeRequest, fenced},
};

/// What a grader asks.
#[derive(Debug)]
pub(crate) struct Question<'a> {
    pub(crate) shape: Shape,
    pub(crate) criteria: &'a [Criterion],
    pub(crate) user: String,
    pub(crate) images: Vec<JudgeImage>,
    pub(crate) settings: &'a JudgeSettings,
}

/// The calls of one grader, as its record tells them.
pub(crate) struct Calls<'a> {
    context: &'a Context<'a>,
    /// Tells the grader's files apart from those of others.
    path: &'a str,
    prompt_digest: String,
    tally: Tally,
}

impl<'a> Calls<'a> {
    pub(crate) fn new(path: &'a str, question: &Question<'_>, context: &'a Context<'a>) -> Self {
        let request = JudgeRequest::new(question.shape.system(), &question.user);
        let calls = Self { context, path, prompt_digest: request.prompt_digest(), tally: Tally::default() };
        calls.keep("system.txt", &request.system);
        calls.keep("prompt.txt", &request.user);
        calls
    }

    pub(crate) fn into_record(self) -> JudgeRecord {
        self.tally.into_record(self.prompt_digest)
    }

    /// One call. What comes back is kept, whether it can be used or not.
    fn call(&mut self, judge: &Chosen, user: &str, question: &Question<'_>) -> Result<JudgeReply, JudgeError> {
        let (settings, options) = (question.settings, self.context.judging.choice.options);
        let mut request = JudgeRequest::new(question.shape.system(), user);
        request.images.clone_from(&question.images);
        request.model.clone_from(&settings.model);
        request.temperature = settings.temperature.or(options.temperature);
        request.max_steps = settings.max_steps.unwrap_or(request.max_steps);
        request.response_schema = Some(question.shape.schema(question.criteria));
        request.config.clone_from(&settings.config);
        self.context.evidence.case_id().clone_into(&mut request.case_id);
        request.trial = self.context.evidence.trial();
        request.repeat = self.tally.begin(&judge.name);
        let written = settings.timeout_seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        request.limit = written.or(options.limit);

        let reply = ask(judge, self.path, request, &self.context.cassette.replies())?;
        let file = self.keep(&format!("reply-{}.txt", self.tally.replies() + 1), &reply.text);
        self.tally.add(&judge.name, &reply, file);
        Ok(reply)
    }

    fn keep(&self, file: &str, text: &str) -> Option<String> {
        self.context.keep_text(&self.context.grader_directory(self.path), file, text)
    }

    /// Asks until a reply can be read, and in the end to repair one that cannot.
    ///
    /// # Errors
    ///
    /// Why there is no judgement.
    pub(crate) fn judgement(&mut self, judge: &Chosen, question: &Question<'_>) -> Result<Judgement, Broken> {
        until_read(
            &judge.name,
            |call| match call {
                Call::Ask => self.call(judge, &question.user, question),
                Call::Repair { reply, problem } => {
                    let user = template::fill(REPAIR, |name| match name {
                        "problem" => Some(problem.to_owned()),
                        "reply" => Some(fenced(reply)),
                        _ => None,
                    });
                    self.call(judge, &user, question)
                }
            },
            |reply| reply::read(question.shape, &reply.text),
        )
    }
}
