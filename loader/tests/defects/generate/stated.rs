//! Keys whose statements say all there is to say: a valid value, and the rule by which it is broken.

use evalsuite_schema::keys::{Key, Status, Table, Type};

use super::Generator;
use crate::tree::{Entry, Node, Rule, any_text, boolean, choice, integer, list, name, number, text};

impl Generator {
    /// Adds the keys of `table` that the caller has not added: required ones, and by chance the others. Left out are `except`, and keys
    /// for which the loader or the type of their values has rules of its own.
    pub(super) fn stated(&mut self, mut node: Node, table: &'static Table, except: &[&str]) -> Node {
        for key in table.keys {
            let is_free = key.status == Status::Current && !key.by_hand && !except.contains(&key.name);
            let is_there =
                node.entries().iter().any(|entry| entry.key == key.name || key.or == Some(entry.key.as_str()));
            if !is_free || is_there || !(key.required || self.has()) {
                continue;
            }
            let Some(value) = self.value(key) else { continue };
            node.push(Entry {
                key: key.name.to_owned(),
                value,
                required: key.required.then_some(table.missing),
                old: key.old,
                other: key.or.map(|spelling| (spelling, spelling)),
            });
        }
        node
    }

    fn value(&mut self, key: &Key) -> Option<Node> {
        let example = key.example.trim_matches(['"', '\'']);
        Some(match key.value {
            Type::AnyText => any_text(example).rule(Rule::String),
            Type::NotEmpty => any_text(example).rule(Rule::NotEmpty),
            Type::Text => text(example),
            Type::Literal => name(example),
            Type::Boolean => boolean(example == "true"),
            Type::Number(range) => number(example).rule(Rule::Number(range)),
            Type::Integer(low, high) => {
                let bound = |bound: u64| i64::try_from(bound).unwrap_or(i64::MAX);
                integer(example.parse().expect("the example is a whole number"), bound(low), bound(high))
            }
            Type::Choice(words) => choice(example, words),
            Type::Data => self.facts(),
            Type::List(Type::Text) => list(example.trim_matches(['[', ']']).split(", ").map(text)),
            _ => return None,
        })
    }
}
