//! Paths of graders: names below those of composites and turns.

use std::collections::BTreeMap;

use evalsuite_records::record::{GraderRecord, GraderState, TurnRecord};
use evalsuite_schema::{Case, Grader, GraderConfig};

use crate::run::trial::conversation::turn_folder;

/// The graders of a case by their paths.
pub(super) fn graders_by_path(case: &Case) -> BTreeMap<String, &Grader> {
    let mut found = BTreeMap::new();
    case.graders.iter().for_each(|grader| add(grader.name.clone(), grader, &mut found));
    let turns = case.conversation.iter().flat_map(|conversation| &conversation.turns);
    for (index, turn) in (0_u32..).zip(turns) {
        for grader in &turn.graders {
            add(format!("{}/{}", turn_folder(index), grader.name), grader, &mut found);
        }
    }
    found
}

fn add<'g>(path: String, grader: &'g Grader, found: &mut BTreeMap<String, &'g Grader>) {
    if let GraderConfig::Composite(config) = &grader.config {
        config.members.iter().for_each(|member| add(format!("{path}/{}", member.name), member, found));
    }
    found.insert(path, grader);
}

/// A verdict of a grader.
pub(super) struct PathVerdict<'r> {
    pub(super) path: String,
    pub(super) record: &'r GraderRecord,
    pub(super) passes: bool,
}

/// The verdicts in the records of a trial, members of composites after them; graders without one are left out.
pub(super) fn verdicts<'r>(graders: &'r [GraderRecord], turns: Option<&'r [TurnRecord]>) -> Vec<PathVerdict<'r>> {
    let mut found = Vec::new();
    graders.iter().for_each(|record| add_verdicts(record.name.clone(), record, &mut found));
    for (index, turn) in (0_u32..).zip(turns.unwrap_or_default()) {
        for record in &turn.graders {
            add_verdicts(format!("{}/{}", turn_folder(index), record.name), record, &mut found);
        }
    }
    found
}

fn add_verdicts<'r>(path: String, record: &'r GraderRecord, found: &mut Vec<PathVerdict<'r>>) {
    let members: Vec<(String, &GraderRecord)> =
        record.members.iter().map(|member| (format!("{path}/{}", member.name), member)).collect();
    if let (GraderState::Decided, Some(verdict)) = (record.state, record.verdict) {
        found.push(PathVerdict { path, record, passes: verdict.is_pass() });
    }
    members.into_iter().for_each(|(path, member)| add_verdicts(path, member, found));
}
