//! The questions of a grader to its judges, and the calls until they are answered, counted for its record.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use evalsuite_records::record::{JudgeRecord, Note, ReasonCode, Usage};
use evalsuite_schema::grader::JudgeSettings;

use crate::judge::NoJudge;
use crate::judge::contradiction::ReplyDefect;
use crate::judge::judge_call::{CallPurpose, JudgeFailure, until_readable};
use crate::judge::judge_choice::{AskingGrader, ChosenJudge, JudgeChoice, recorded_judges};
use crate::judge::prompt_texts::{CONTRADICTION, REPAIR, REPAIR_DATA, SHORTER, repair_prompt};
use crate::model::judge::request::LIMIT;
use crate::model::judge::{Inquiry, InvalidReply, JudgeError, JudgeReply, JudgeRequest};
use crate::platform::digest::sha256;

/// The questions of one call of a grader. It outlives the borrowed evidence, because a grader in Rust has a thread of its own.
pub(crate) struct GraderInquiry {
    grader: AskingGrader,
    choice: JudgeChoice,
    progress: Mutex<InquiryProgress>,
}

#[derive(Default)]
struct InquiryProgress {
    /// The judges that a grader in Rust has asked so far, by the name it asked for them by.
    chosen: Vec<(Option<String>, ChosenJudge)>,
    /// Number of questions of a grader in Rust, without repeated calls.
    questions: u32,
    /// Digests of the prompts of questions.
    prompts: Vec<String>,
    record: JudgeRecord,
    /// Number of replies by judge.
    replies: BTreeMap<String, u32>,
    /// Digests of the prompts that were replied to, each with its judge.
    answered: Vec<(String, String)>,
    /// Numbers of calls that have ended with known tokens, and with a known cost.
    known: [u32; 2],
    failure: Option<JudgeFailure>,
    notes: Vec<Note>,
    /// Further calls are refused.
    is_over: bool,
}

impl InquiryProgress {
    /// Counts a call; returns the number of replies that the judge has given before.
    fn begin_call(&mut self, judge: &str) -> u32 {
        self.record.attempts += 1;
        if let Some(replies) = self.replies.get(judge) {
            return *replies;
        }
        if !self.record.name.is_empty() {
            self.record.name.push_str(", ");
        }
        self.record.name.push_str(judge);
        self.replies.insert(judge.to_owned(), 0);
        0
    }

    /// Counts a reply with its tokens and cost; `file` is where it was written.
    fn add_reply(&mut self, judge: &str, reply: &JudgeReply, file: Option<String>) {
        *self.replies.entry(judge.to_owned()).or_default() += 1;
        self.record.replies.extend(file);
        self.add_spending(reply.usage, reply.cost_usd);
        if reply.model.is_some() {
            self.record.model.clone_from(&reply.model);
        }
    }

    /// Counts what a call cost, whether it had a reply or not.
    fn add_spending(&mut self, usage: Option<Usage>, cost_usd: Option<f64>) {
        self.known[0] += u32::from(usage.is_some());
        self.known[1] += u32::from(cost_usd.is_some());
        if let Some(usage) = usage {
            *self.record.usage.get_or_insert_default() += usage;
        }
        if let Some(cost) = cost_usd {
            *self.record.cost_usd.get_or_insert_default() += cost;
        }
    }

    /// Counts a call without a reply. What a rejected one cost is known, and says nothing of what other calls report.
    fn add_failure(&mut self, error: &JudgeError) {
        match error.is_unpaid() {
            true => self.known = self.known.map(|calls| calls + 1),
            false => self.add_spending(error.usage(), error.cost_usd()),
        }
    }
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

    /// The judges of these settings, and whether they are the ones whose replies are recorded.
    pub(crate) fn judges(&self, settings: &JudgeSettings) -> Result<(Vec<ChosenJudge>, bool), NoJudge> {
        let chosen = self.choice.of(settings, &self.grader)?;
        let recorded = recorded_judges(&chosen, &self.grader);
        let are_recorded = recorded.is_some();
        Ok((recorded.unwrap_or(chosen), are_recorded))
    }

    /// Begins with the questions of a built-in grader.
    pub(crate) fn begin(&self, questions: &[JudgeRequest]) {
        for (number, question) in (1..).zip(questions) {
            let file = if number == 1 { "prompt.txt".to_owned() } else { format!("prompt-{number}.txt") };
            self.add_question(question, "", &file);
        }
    }

    /// Adds a question, and writes its prompts to files.
    fn add_question(&self, question: &JudgeRequest, folder: &str, prompt_file: &str) {
        let digest = question.prompt_digest(self.grader.files.redactor());
        self.progress().prompts.push(digest);
        for (file, text) in [("system.txt", &question.system), (prompt_file, &question.user)] {
            if !text.is_empty() {
                self.write(folder, file, text);
            }
        }
    }

    /// Ends the inquiry: calls of a grader that has run out of time are refused from now on. Returns the record if a question was
    /// asked, why the first question without a reply has none, and notes about files that could not be written.
    pub(crate) fn end(&self) -> (Option<JudgeRecord>, Option<JudgeFailure>, Vec<Note>) {
        let ended = InquiryProgress { is_over: true, ..InquiryProgress::default() };
        let progress = std::mem::replace(&mut *self.progress(), ended);
        let InquiryProgress { mut record, mut prompts, failure, notes, questions, known, .. } = progress;
        // The calls of a grader that has run out of time have not ended.
        [record.unknown_tokens, record.unknown_costs] = known.map(|known| record.attempts.saturating_sub(known));
        if questions > 0 {
            // A grader in Rust may ask several questions at the same time, and repeat one.
            prompts.sort();
            prompts.dedup();
        }
        record.sealed = self.grader.seal.record();
        record.prompt_sha256 = match prompts.as_slice() {
            [only] => only.clone(),
            several => sha256(several.join("\n")),
        };
        (Some(record).filter(|_| !prompts.is_empty()), failure, notes)
    }

    /// Asks a judge a question of a built-in grader until a reply can be read, and in the end to repair one that cannot. If the reply
    /// contradicts itself, the question is asked once more, with the contradiction.
    pub(crate) fn answer<T, E: Into<ReplyDefect>>(
        &self,
        judge: &ChosenJudge,
        question: &JudgeRequest,
        read: impl Fn(&str) -> Result<T, E>,
    ) -> Result<T, JudgeFailure> {
        let ask = |question: &JudgeRequest| {
            self.until_answered(judge, question, ("", REPAIR), |reply| match read(&reply.text).map_err(E::into) {
                Ok(answer) => Ok(Ok(answer)),
                Err(ReplyDefect::Unreadable(problem)) => Err(problem),
                Err(ReplyDefect::Contradiction(what)) => Ok(Err((reply.text.clone(), what))),
            })
        };
        let (reply, what) = match ask(question)? {
            Ok(answer) => return Ok(answer),
            Err(contradiction) => contradiction,
        };
        let user = repair_prompt(CONTRADICTION, &question.user, &reply, &what);
        ask(&JudgeRequest { user, ..question.clone() })?.map_err(|(_, what)| JudgeFailure {
            message: format!("judge `{}` contradicts itself, also when asked again: {what}", judge.name),
            code: ReasonCode::JudgeError,
        })
    }

    /// Asks a judge for data in JSON until a reply can be read, and in the end to repair one that cannot.
    #[cfg(feature = "users")]
    pub(crate) fn data<T>(
        &self,
        judge: &ChosenJudge,
        question: &JudgeRequest,
        read: impl Fn(&str) -> Result<T, InvalidReply>,
    ) -> Result<T, JudgeFailure> {
        self.until_answered(judge, question, ("", REPAIR_DATA), |reply| read(&reply.text))
    }

    /// Asks a judge until a reply can be read, which is written to `folder`; in the end with the prompt `repair`.
    fn until_answered<T>(
        &self,
        judge: &ChosenJudge,
        question: &JudgeRequest,
        (folder, repair): (&str, &str),
        read: impl FnMut(&JudgeReply) -> Result<T, InvalidReply>,
    ) -> Result<T, JudgeFailure> {
        let call = |purpose: CallPurpose<'_>| {
            let mut request = question.clone();
            match purpose {
                CallPurpose::Answer => {}
                CallPurpose::Repair { reply, problem } => {
                    request.user = repair_prompt(repair, &question.user, reply, problem);
                }
                CallPurpose::Shorter => request.user = repair_prompt(SHORTER, &question.user, "", ""),
            }
            self.call(judge, request, folder)
        };
        until_readable(&judge.name, question.limit.or(self.choice.options.limit).unwrap_or(LIMIT), call, read)
    }

    /// One call. The reply is written to a file, whether it can be used or not.
    fn call(&self, judge: &ChosenJudge, mut request: JudgeRequest, folder: &str) -> Result<JudgeReply, JudgeError> {
        let question = (judge.name.clone(), sha256(format!("{}\0{}", request.system, request.user)));
        let earlier = {
            let mut progress = self.progress();
            if progress.is_over {
                return Err(JudgeError::permanent("the grader that asks has ended"));
            }
            request.repeat = progress.begin_call(&judge.name);
            progress.answered.iter().filter(|answered| **answered == question).count()
        };
        let earlier = u32::try_from(earlier).unwrap_or(u32::MAX);
        let asked = self.grader.ask(judge, request, &self.choice.options, earlier);
        let reply = asked.inspect_err(|error| self.progress().add_failure(error))?;
        self.progress().answered.push(question);
        let number = self.progress().replies.values().sum::<u32>() + 1;
        let file = self.write(folder, &format!("reply-{number}.txt"), &reply.text);
        self.progress().add_reply(&judge.name, &reply, file);
        Ok(reply)
    }

    /// The judge of a name, else the default one; of several default ones the first.
    fn choose(&self, name: Option<&str>) -> Result<ChosenJudge, JudgeFailure> {
        let mut progress = self.progress();
        if let Some((_, chosen)) = progress.chosen.iter().find(|(known, _)| known.as_deref() == name) {
            return Ok(chosen.clone());
        }
        let settings = JudgeSettings { target: name.map(str::to_owned), ..JudgeSettings::default() };
        let failure = |message: String| JudgeFailure { message, code: ReasonCode::GraderError };
        let (judges, _) = self.judges(&settings).map_err(|error| {
            let declare = "a grader that is registered as `\"name\" => evalsuite::asks_judge(grader)` is skipped then";
            failure(if name.is_none() { format!("{error}; {declare}") } else { error.to_string() })
        })?;
        let chosen = judges.into_iter().next().ok_or_else(|| failure("no judge is named".to_owned()))?;
        progress.chosen.push((name.map(str::to_owned), chosen.clone()));
        Ok(chosen)
    }

    fn write(&self, folder: &str, file: &str, text: &str) -> Option<String> {
        let directory = self.grader.directory.join(folder);
        let written = self.grader.files.write(&directory, file, text);
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
        let question = {
            let mut progress = self.progress();
            progress.questions += 1;
            progress.questions
        };
        let folder = format!("question-{question}");
        self.add_question(request, &folder, "prompt.txt");
        let answered =
            self.choose(judge).and_then(|judge| self.until_answered(&judge, request, (&folder, REPAIR_DATA), read));
        answered.map_err(|failure| {
            let error = JudgeError::permanent(failure.message.clone()).with_code(failure.code);
            self.progress().failure.get_or_insert(failure);
            error
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_replies_tokens_and_cost_add_up() {
        let mut progress = InquiryProgress::default();
        let reply = JudgeReply::new("a").with_usage(Usage::new(3, 1)).with_cost_usd(0.5).with_model("m");
        assert_eq!((progress.begin_call("one"), progress.begin_call("two")), (0, 0));
        progress.add_reply("one", &reply, Some("reply-1.txt".into()));
        progress.add_reply("two", &JudgeReply::new("b"), None);
        assert_eq!((progress.begin_call("one"), progress.begin_call("two")), (1, 1));
        progress.add_reply("one", &reply, None);
        let record = progress.record;
        assert_eq!((record.name.as_str(), record.attempts, record.replies.len()), ("one, two", 4, 1));
        assert_eq!((record.usage, record.cost_usd), (Some(Usage::new(6, 2)), Some(1.0)));
        assert_eq!((record.model.as_deref(), progress.replies.values().sum::<u32>()), (Some("m"), 3));
        assert_eq!(progress.known, [2, 2], "one of three replies told nothing, and one call has not ended");
    }

    #[test]
    fn a_rejected_call_cost_nothing_and_any_other_one_without_a_reply_is_unknown() {
        let mut progress = InquiryProgress::default();
        progress.add_failure(&JudgeError::new("429").unpaid());
        assert_eq!((progress.known, progress.record.usage, progress.record.cost_usd), ([1, 1], None, None));
        progress.add_failure(&JudgeError::new("timed out"));
        assert_eq!(progress.known, [1, 1]);
        progress.add_failure(&JudgeError::new("empty").after(&JudgeReply::new("").with_cost_usd(0.5)));
        assert_eq!((progress.known, progress.record.cost_usd), ([1, 2], Some(0.5)));
    }
}
