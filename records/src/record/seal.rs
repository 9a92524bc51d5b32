//! Whether the kernel confined a command.

use evalsuite_schema::json::{FromJson, ToJson};

use super::{GraderRecord, TrialRecord};

/// Whether the kernel confined a command that ran, and in what.
#[derive(Debug, Clone, Default, PartialEq, Eq, ToJson, FromJson)]
#[json(fill)]
#[non_exhaustive]
pub struct SealRecord {
    /// Whether it did.
    pub state: SealState,
    /// Version of the kernel's interface Landlock, from 1; `None` without a seal.
    #[json(default, skip_if = "Option::is_none")]
    pub landlock_abi: Option<u32>,
    /// What the command was allowed to reach over the network: `all`, `none`, or `ports` and their numbers.
    #[json(default, skip_if = "String::is_empty")]
    pub network: String,
    /// What the kernel refuses: `files`, `truncation`, `processes`, `signals`, `tcp`, `udp`, `unix_sockets`, `abstract_sockets`.
    #[json(default, skip_if = "Vec::is_empty")]
    pub covered: Vec<String>,
    /// What it does not refuse, of the same and `file_metadata`.
    #[json(default, skip_if = "Vec::is_empty")]
    pub uncovered: Vec<String>,
    /// Why a command that was to be sealed is not; `None` if it is, or was not to be.
    #[json(default, skip_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl SealRecord {
    /// A command that the kernel does not confine, and why.
    pub fn unsealed(reason: impl Into<String>) -> Self {
        Self { reason: Some(reason.into()), ..Self::default() }
    }

    /// A command that was not to be sealed.
    pub fn off() -> Self {
        Self { state: SealState::Off, ..Self::default() }
    }

    /// Whether the command is sealed.
    pub fn is_sealed(&self) -> bool {
        self.state == SealState::Sealed
    }

    /// Whether the command was to be sealed, and is not.
    pub fn is_unsealed(&self) -> bool {
        self.state == SealState::Unsealed
    }

    /// The record as a line for people, such as "sealed: Landlock ABI 7, network none, not covered: file metadata".
    pub fn text(&self) -> String {
        match self.state {
            SealState::Sealed => {}
            SealState::Unsealed => {
                return format!("unsealed: {}", self.reason.as_deref().unwrap_or("for an unknown reason"));
            }
            SealState::Off => return "off".to_owned(),
        }
        let abi = self.landlock_abi.map_or_else(String::new, |abi| format!("Landlock ABI {abi}, "));
        let uncovered = self.uncovered.join(", ").replace('_', " ");
        let uncovered = if uncovered.is_empty() { uncovered } else { format!(", not covered: {uncovered}") };
        format!("sealed: {abi}network {}{uncovered}", self.network)
    }
}

impl TrialRecord {
    /// What became of the seals of the trial, each once: of its agent as [`SealRecord::text`], then
    /// [those of others that are missing](Self::unsealed_others).
    pub fn seals(&self) -> Vec<String> {
        let mut seals: Vec<String> = self.sealed.iter().map(SealRecord::text).collect();
        seals.extend(self.unsealed_others());
        seals
    }

    /// The commands besides the agent that were to be sealed and are not, each once, such as "unsealed: grader `tests`: the kernel has no
    /// Landlock".
    pub fn unsealed_others(&self) -> Vec<String> {
        let hooks = self.hooks.iter().map(|hook| (format!("hook `{}`", hook.name), hook.sealed.as_ref()));
        let mut all: Vec<(String, Option<&SealRecord>)> = hooks.collect();
        let of_turns = self.turns.iter().flatten().flat_map(|turn| &turn.graders);
        self.graders.iter().chain(of_turns).for_each(|grader| add_seals(grader, &mut all));
        let mut texts: Vec<String> = Vec::new();
        for (who, seal) in all {
            let Some(seal) = seal.filter(|seal| seal.is_unsealed()) else { continue };
            let text = seal.text().replacen(": ", &format!(": {who}: "), 1);
            if !texts.contains(&text) {
                texts.push(text);
            }
        }
        texts
    }
}

/// Adds the commands that a grader, its judge and its members ran.
fn add_seals<'r>(grader: &'r GraderRecord, all: &mut Vec<(String, Option<&'r SealRecord>)>) {
    if let Some(command) = &grader.command {
        all.push((format!("grader `{}`", grader.name), command.sealed.as_ref()));
    }
    if let Some(judge) = &grader.judge {
        all.push((format!("judge `{}`", judge.name), judge.sealed.as_ref()));
    }
    grader.members.iter().for_each(|member| add_seals(member, all));
}

/// Whether a command is sealed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, ToJson, FromJson)]
#[json(rename_all = "lowercase")]
pub enum SealState {
    /// The kernel confined it.
    Sealed,
    /// It was to be confined, and had the rights of the user.
    #[default]
    Unsealed,
    /// It was not to be confined.
    Off,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{CommandRecord, HookRecord, JudgeRecord, TrialRecord};

    #[test]
    fn a_record_of_a_command_that_was_not_to_be_sealed_says_no_more_than_that() {
        let text = evalsuite_schema::json::to_string(&SealRecord::off()).unwrap();
        assert_eq!(text, r#"{"state":"off"}"#);
        assert_eq!(evalsuite_schema::json::from_str::<SealRecord>(&text).unwrap(), SealRecord::off());
        assert_eq!(SealRecord::off().text(), "off");
    }

    #[test]
    fn seals_that_are_missing_are_named_with_who_runs_without_one() {
        let missing = || Some(SealRecord::unsealed("the kernel has no Landlock"));
        let mut trial = TrialRecord::new();
        trial.sealed =
            Some(SealRecord { state: SealState::Sealed, network: "all".to_owned(), ..SealRecord::default() });
        for (name, sealed) in [("before_each", missing()), ("after_each", Some(SealRecord::off()))] {
            trial.hooks.push(HookRecord { name: name.to_owned(), sealed, ..HookRecord::default() });
        }
        let mut member = GraderRecord { name: "tests".to_owned(), ..GraderRecord::default() };
        member.command = Some(CommandRecord { sealed: missing(), ..CommandRecord::default() });
        member.judge = Some(JudgeRecord { name: "strict".to_owned(), sealed: missing(), ..JudgeRecord::default() });
        let members = vec![member.clone(), member];
        trial.graders.push(GraderRecord { name: "both".to_owned(), members, ..GraderRecord::default() });
        let others = ["hook `before_each`", "grader `tests`", "judge `strict`"]
            .map(|who| format!("unsealed: {who}: the kernel has no Landlock"));
        assert_eq!(trial.unsealed_others(), others);
        assert_eq!(trial.seals()[0], "sealed: network all");
        assert_eq!(trial.seals()[1..], others);
    }
}
