//! The graders of a case with the paths by which they are named.

use evalsuite_schema::{Case, Grader, GraderConfig, Turn};

use crate::run::selection::case_graders::turn_folder;

/// All graders of a case, those of its turns and the members of composites after them, with their paths and turns.
pub(crate) fn graders_with_paths(case: &Case) -> Vec<(String, &Grader, Option<&Turn>)> {
    let mut found = Vec::new();
    case.graders.iter().for_each(|grader| add_with_members(grader.name.clone(), grader, None, &mut found));
    let turns = case.conversation.iter().flat_map(|conversation| &conversation.turns);
    for (index, turn) in (0_u32..).zip(turns) {
        for grader in &turn.graders {
            add_with_members(format!("{}/{}", turn_folder(index), grader.name), grader, Some(turn), &mut found);
        }
    }
    found
}

/// The graders of the simulated user, with their paths. No result of an agent is graded by them.
pub(crate) fn user_graders_with_paths(case: &Case) -> Vec<(String, &Grader, Option<&Turn>)> {
    let mut found = Vec::new();
    for grader in case.user().into_iter().flat_map(|user| &user.graders) {
        add_with_members(format!("user/{}", grader.name), grader, None, &mut found);
    }
    found
}

fn add_with_members<'c>(
    path: String,
    grader: &'c Grader,
    turn: Option<&'c Turn>,
    found: &mut Vec<(String, &'c Grader, Option<&'c Turn>)>,
) {
    found.push((path.clone(), grader, turn));
    if let GraderConfig::Composite(composite) = &grader.config {
        for member in &composite.members {
            add_with_members(format!("{path}/{}", member.name), member, turn, found);
        }
    }
}
