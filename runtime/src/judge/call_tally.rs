//! Counts of a grader's calls of judges: attempts, replies, tokens and cost.

use std::collections::BTreeMap;

use evalsuite_records::record::JudgeRecord;

use crate::model::judge::JudgeReply;
use crate::platform::digest::sha256;

/// The calls of one grader for its record.
#[derive(Debug, Clone, Default)]
pub(crate) struct CallTally {
    record: JudgeRecord,
    /// Number of replies by judge.
    replies: BTreeMap<String, u32>,
}

impl CallTally {
    /// Counts a call; returns the number of replies that the judge has given before.
    pub(crate) fn begin(&mut self, judge: &str) -> u32 {
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
    pub(crate) fn add(&mut self, judge: &str, reply: &JudgeReply, file: Option<String>) {
        *self.replies.entry(judge.to_owned()).or_default() += 1;
        self.record.replies.extend(file);
        if let Some(usage) = reply.usage {
            *self.record.usage.get_or_insert_default() += usage;
        }
        if let Some(cost) = reply.cost_usd {
            self.record.cost_usd = Some(self.record.cost_usd.unwrap_or(0.0) + cost);
        }
        if reply.model.is_some() {
            self.record.model.clone_from(&reply.model);
        }
    }

    /// Number of replies of all judges.
    pub(crate) fn replies(&self) -> u32 {
        self.replies.values().sum()
    }

    /// The record, with the digest of the prompts whose digests these are.
    pub(crate) fn into_record(mut self, prompts: &[String]) -> JudgeRecord {
        self.record.prompt_sha256 = match prompts {
            [only] => only.clone(),
            several => sha256(several.join("\n")),
        };
        self.record
    }
}

#[cfg(test)]
mod tests {
    use evalsuite_records::record::Usage;

    use super::*;

    #[test]
    fn calls_replies_tokens_and_cost_add_up() {
        let mut tally = CallTally::default();
        let reply = JudgeReply::new("a").with_usage(Usage::new(3, 1)).with_cost_usd(0.5).with_model("m");
        assert_eq!((tally.begin("one"), tally.begin("two")), (0, 0));
        tally.add("one", &reply, Some("reply-1.txt".into()));
        tally.add("two", &JudgeReply::new("b"), None);
        assert_eq!((tally.begin("one"), tally.begin("two"), tally.replies()), (1, 1, 2));
        tally.add("one", &reply, None);
        let record = tally.into_record(&["d".into()]);
        assert_eq!((record.name.as_str(), record.attempts, record.replies.len()), ("one, two", 4, 1));
        assert_eq!((record.usage, record.cost_usd), (Some(Usage::new(6, 2)), Some(1.0)));
        assert_eq!((record.model.as_deref(), record.prompt_sha256.as_str()), (Some("m"), "d"));
    }
}
