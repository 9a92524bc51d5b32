//! What a sealed command may use: the keys that tables do not state.

use evalsuite_schema::keys::{Keys, Parts};
use evalsuite_schema::placeholder::Syntax;
use evalsuite_schema::{Network, NetworkPorts, PathRef};

use super::paths::{PathKind, Scope, is_absolute};
use super::{Fields, label, list, reject, text, values, wrong_type};
use crate::diagnostic::{Code, Diagnostics};
use crate::read::node::{Data, Entry, Node};

/// Reads `network`, `read` and `write`.
pub(crate) fn read(fields: &mut Fields<'_>, parts: &mut Parts, scope: Scope<'_>, d: &mut Diagnostics) {
    read_with(fields, parts, scope, false, d);
}

/// Reads them of a target, whose paths may contain variables.
pub(crate) fn read_of_target(fields: &mut Fields<'_>, parts: &mut Parts, scope: Scope<'_>, d: &mut Diagnostics) {
    read_with(fields, parts, scope, true, d);
}

/// Reports keys of a sealed command that are written without a value. Elsewhere that is as if they were absent; here the command would do
/// without what they protect.
pub(crate) fn refuse_blank(fields: &Fields<'_>, d: &mut Diagnostics) {
    let is_blank = |entry: &&Entry| KEYS.contains(&entry.key.as_str()) && entry.value.is_null();
    for entry in fields.node.as_mapping().into_iter().flatten().filter(is_blank) {
        let message = format!("`{}` has no value", entry.key);
        d.report(Code::BlankValue, entry.key_span, message, "write a value or delete the key");
    }
}

const KEYS: [&str; 5] = ["sealed", "network", "unix_sockets", "read", "write"];

fn read_with(fields: &mut Fields<'_>, parts: &mut Parts, scope: Scope<'_>, variables: bool, d: &mut Diagnostics) {
    refuse_blank(fields, d);
    if let Some(entry) = fields.get("network") {
        parts.make("network", network(entry, scope, d));
    }
    for key in ["read", "write"] {
        if let Some(entry) = fields.get(key) {
            parts.make(key, paths(entry, scope, variables, d));
        }
    }
}

fn network(entry: &Entry, scope: Scope<'_>, d: &mut Diagnostics) -> Option<Network> {
    let (node, what) = (&entry.value, label(entry));
    match &node.data {
        Data::String(_) => {
            let word = values::word(node, &what, Network::WORDS, d)?;
            Some(if word == "none" { Network::None } else { Network::All })
        }
        Data::Mapping(_) => {
            let mut fields = Fields::new(node, NetworkPorts::TABLE, d)?;
            let written_ports = fields.get("ports").map_or(node.span, |entry| entry.value.span);
            let written: Option<NetworkPorts> = fields.parts(scope, d).into_value();
            fields.finish(d);
            let ports = written?.ports;
            if ports.is_empty() {
                let help = "name the ports, or write `network: none`";
                return reject(Code::OutOfRange, written_ports, "`ports` is empty", help, d);
            }
            Some(Network::Ports(ports.into_iter().filter_map(|port| port.try_into().ok()).collect()))
        }
        _ => wrong_type(node, &what, "`all`, `none` or `{ports: [443]}`", d),
    }
}

fn paths(entry: &Entry, scope: Scope<'_>, variables: bool, d: &mut Diagnostics) -> Option<Vec<PathRef>> {
    let what = label(entry);
    let items = list(&entry.value, &what, d)?;
    values::all(items, |item| path(item, &format!("an element of {what}"), scope, variables, d))
}

/// A path. Those outside of the package differ between machines, and are looked for when the command runs.
fn path(node: &Node, what: &str, scope: Scope<'_>, variables: bool, d: &mut Diagnostics) -> Option<PathRef> {
    if node.is_null() {
        let message = format!("{what} must be text, found nothing");
        return reject(
            Code::WrongType,
            node.span,
            message,
            "write a path; the home directory is `\"~\"`, with quotes",
            d,
        );
    }
    let written = text(node, what, d)?;
    let later = is_absolute(&written) || written == "~" || written.starts_with("~/");
    match later && !Syntax::Variable.is_in(&written) || variables && Syntax::Variable.is_in(&written) {
        true => Some(PathRef::new(written)),
        false => scope.find(node, what, PathKind::Any, d).map(|found| found.reference),
    }
}
