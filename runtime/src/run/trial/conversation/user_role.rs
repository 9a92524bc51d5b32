//! What graders of a simulated user see in place of the case.

use evalsuite_schema::{Input, Message, Role, SimulatedUser};

use crate::model::evidence::Facts;

/// Makes the role of the user the input. What the case expects is expected of the agent.
pub(crate) fn describe_user(user: &SimulatedUser, facts: &mut Facts) {
    facts.input = Some(Input::Messages(vec![Message::text(Role::User, role(user))]));
    (facts.criteria, facts.description, facts.reference_solution) = (None, None, None);
    facts.expected_output.clear();
}

/// What judges read of the role.
fn role(user: &SimulatedUser) -> String {
    let mut text = "A simulated user plays a person who talks with an AI agent. The answer is what the person says, turn by turn; what \
                    the agent says is not shown. It is the user that is graded, not the agent. Its role:"
        .to_owned();
    let parts = [
        ("function", &user.name),
        ("persona", &user.persona),
        ("goal", &user.goal),
        ("ends the conversation when", &user.stops_when),
    ];
    for (name, part) in parts {
        if let Some(part) = part {
            text.push_str(&format!("\n\n{name}: {part}"));
        }
    }
    text
}
