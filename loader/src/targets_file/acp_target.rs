//! The keys of an agent that speaks the Agent Client Protocol.

use evalsuite_schema::keys::Keys;
use evalsuite_schema::{AcpTarget, PermissionDecision, Permissions};

use super::process::{command_line, placeholder_names, read_process};
use super::without_effect;
use crate::diagnostic::{Code, Diagnostics};
use crate::fields::paths::Scope;
use crate::fields::{Fields, mcp, settings};
use crate::read::node::{Data, Entry, Node};
use crate::{fields, keys};

pub(super) fn read(node: &Node, scope: Scope<'_>, d: &mut Diagnostics) -> Option<AcpTarget> {
    let mut fields = Fields::new(node, AcpTarget::TABLE, d)?;
    let mut parts = fields.parts(scope, d);
    parts.make("command", fields.require("command", d).and_then(|entry| command(&entry.value, d)));
    read_process(&mut fields, &mut parts, scope, d);
    mcp::read_of_session(&mut fields, &mut parts, scope, d);
    if let Some(entry) = fields.get("permissions") {
        parts.make("permissions", permissions(entry, scope, d));
    }
    without_effect(&mut fields, d);
    fields.finish(d);
    parts.into_value_of_rest()
}

fn command(node: &Node, d: &mut Diagnostics) -> Option<String> {
    let text = command_line(node, d)?;
    for name in placeholder_names(&text).filter(|name| keys::is_known(keys::OF_COMMANDS, name)) {
        let message = format!("`{{{name}}}` is not replaced in the command of an ACP agent");
        let help = "delete it: the agent gets the prompt and its files in a message; variables such as EVALSUITE_CASE_ID are in its \
                    environment";
        d.report(Code::UnknownPlaceholder, node.span, message, help);
    }
    Some(text)
}

fn permissions(entry: &Entry, scope: Scope<'_>, d: &mut Diagnostics) -> Option<Permissions> {
    let (node, what) = (&entry.value, fields::label(entry));
    match &node.data {
        Data::String(_) => {
            let word = fields::word(node, &what, PermissionDecision::WORDS, d)?;
            Some(if word == "allow" { Permissions::Allow } else { Permissions::Deny })
        }
        Data::Sequence(_) => {
            let rules = fields::list(node, &what, d)?;
            if rules.is_empty() {
                let help = "write a rule, or `permissions: deny`";
                return fields::reject(Code::OutOfRange, node.span, "`permissions` is an empty list", help, d);
            }
            fields::all(rules, |rule| settings::object(rule, scope, d)).map(Permissions::Rules)
        }
        _ => fields::wrong_type(node, &what, "`allow`, `deny` or a list of rules", d),
    }
}
