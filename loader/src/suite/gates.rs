//! `gates` of a suite: what its runs have to reach.

use evalsuite_schema::Target;
use evalsuite_schema::arm::{REFERENCE_ARMS, WITH_SKILL};
use evalsuite_schema::diagnostics::suggest;
use evalsuite_schema::gate::{Gate, SliceKey};

use crate::diagnostic::{Code, Diagnostics};
use crate::fields;
use crate::read::node::{Entry, Node};

/// The gates as they are written; those that are not valid are reported. `targets`: the matrix of the suite.
pub(crate) fn read(entry: &Entry, targets: &[Target], d: &mut Diagnostics) -> Vec<String> {
    let Some(items) = entry.value.as_sequence() else {
        return fields::wrong_type(&entry.value, "`gates`", "a list", d).unwrap_or_default();
    };
    if items.is_empty() {
        let help = "write a gate, such as `pass_rate >= 90%`, or delete the key";
        d.report(Code::InvalidGate, entry.value.span, "`gates` is empty", help);
    }
    items.iter().filter_map(|item| gate(item, targets, d)).collect()
}

fn gate(node: &Node, targets: &[Target], d: &mut Diagnostics) -> Option<String> {
    let text = fields::literal_text(node, "a gate", d)?;
    let invalid = |message: String, help: String, d| fields::reject(Code::InvalidGate, node.span, message, help, d);
    let gate: Gate = match text.parse() {
        Ok(gate) => gate,
        Err(error) => {
            return invalid(format!("{} in gate `{}`", error.message(), text.trim()), error.help().to_owned(), d);
        }
    };
    let keys = gate.selected().iter().map(|(key, _)| key).chain(gate.per());
    if keys.into_iter().any(|key| *key == SliceKey::Suite) {
        let message = "a gate of a suite is about this suite only".to_owned();
        return invalid(message, "delete `suite`".to_owned(), d);
    }
    let is_compared = |name: &str| match gate.compared_target() {
        Some(other) => name == other,
        None => REFERENCE_ARMS.contains(&name),
    };
    let has =
        |is_meant: &dyn Fn(&str) -> bool| targets.is_empty() || targets.iter().any(|target| is_meant(&target.name));
    if gate.measure().is_lift() && !(has(&|name| name == WITH_SKILL) && has(&is_compared)) {
        let other = gate.compared_target().map_or_else(|| REFERENCE_ARMS.join("` or `"), str::to_owned);
        let message = format!("`{}` compares target `{WITH_SKILL}` with `{other}`", gate.measure().as_str());
        return invalid(message, "add both to the targets of the suite".to_owned(), d);
    }
    let named = gate.selected().iter().filter(|(key, _)| *key == SliceKey::Target).map(|(_, name)| name.as_str());
    let is_known = |name: &&str| targets.is_empty() || targets.iter().any(|target| target.name == *name);
    if let Some(unknown) = named.into_iter().find(|name| !is_known(name)) {
        let names: Vec<&str> = targets.iter().map(|target| target.name.as_str()).collect();
        let message = format!("target `{unknown}` is not in `execution.targets` of the suite");
        return invalid(message, suggest::did_you_mean_or_known(unknown, &names), d);
    }
    Some(gate.to_string())
}
