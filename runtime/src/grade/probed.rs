//! The trait `Probed`: what probes need to know about a type of grader (feature `probe`).

use evalsuite_schema::json::json;
use evalsuite_schema::{EmptyProbe, Grader, ToolCall};

use crate::platform::excerpt::middle_out;

/// What the type and the settings of a grader are to probes.
pub(crate) trait Probed {
    /// What a probe can find out about it, given what it can find out about its members.
    fn class(&self, _of_member: fn(&Grader) -> GraderClass) -> GraderClass {
        GraderClass::Plain
    }

    /// The skill that it names.
    fn skill(&self) -> Option<&str> {
        None
    }

    /// The calls that it asks for, in order.
    fn expected_calls(&self) -> Vec<ToolCall> {
        Vec::new()
    }

    /// Texts that it looks for or forbids, besides those in its settings.
    fn texts(&self) -> Vec<String> {
        Vec::new()
    }

    /// Whether it passes only documents.
    fn wants_document(&self) -> bool {
        false
    }

    /// Whether it may take the answer for data.
    fn reads_data(&self) -> bool {
        false
    }

    /// What is wrong with it if it passes these probes, as a sentence; `None` if that is not known.
    fn advice(&self, _grader: &Grader, _passing: &Passing<'_>) -> Option<String> {
        None
    }
}

impl Probed for () {}

/// What a probe can find out about a grader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GraderClass {
    /// It looks at the answer and the calls of tools, which a made-up result has.
    Plain,
    /// It is code, which may look at anything else, such as files that a reference does not have.
    Opaque,
    /// It is a limit on time, tokens, cost or calls, which a made-up result never exceeds.
    Limit,
}

/// What helps where a text that lists everything passes.
const AGAINST_LISTS: &str = "`equals`, a `negate`d grader for wrong answers, `field-accuracy`, `tool-trajectory` or a judge would \
                             distinguish";

/// What is known of the results that pass.
#[derive(Debug, Clone)]
pub(crate) struct Passing<'c> {
    /// The empty probes that pass.
    pub(crate) probes: &'c [EmptyProbe],
    /// The prompts of the case.
    pub(crate) prompt: &'c str,
}

impl Passing<'_> {
    pub(crate) fn has(&self, probe: EmptyProbe) -> bool {
        self.probes.contains(&probe)
    }

    /// What helps if a text passes that lists all expected texts.
    pub(crate) fn by_listing(&self) -> Option<String> {
        let is_only_listed = self.has(EmptyProbe::Hedge);
        is_only_listed.then(|| format!("a text that lists every expected text passes: {AGAINST_LISTS}"))
    }
}

/// Characters of a value in a sentence.
const SHOWN: usize = 40;

/// A value as sentences show it.
pub(crate) fn shown(text: &str) -> String {
    format!("`{}`", middle_out(text, SHOWN).replace(['\n', '\r', '\t'], " "))
}

/// A tool that a name with `*` and `?` means.
pub(crate) fn a_tool(name: &str) -> String {
    let tool = name.replace('*', "").replace('?', "x");
    if tool.is_empty() { "tool".to_owned() } else { tool }
}

pub(crate) fn skill_call(skill: &str) -> ToolCall {
    ToolCall::new("Skill").with_input(json!({ "skill": skill }))
}
