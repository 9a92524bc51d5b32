//! Reads the keys of an object as its table states them.

use evalsuite_schema::keys::{FromParts, Key, Parts, Status, Table, Type, Written};

use super::paths::{PathKind, Scope};
use super::{Fields, command, label, values};
use crate::diagnostic::Diagnostics;
use crate::read::node::{Entry, Node};

/// The object that `node` is; `None`: a problem was reported.
pub(crate) fn object<T: FromParts>(node: &Node, scope: Scope<'_>, d: &mut Diagnostics) -> Option<T> {
    parts_of(node, T::TABLE, scope, d)?.into_value()
}

fn parts_of(node: &Node, table: &'static Table, scope: Scope<'_>, d: &mut Diagnostics) -> Option<Parts> {
    let mut fields = Fields::new(node, table, d)?;
    let parts = fields.parts(scope, d);
    fields.finish(d);
    Some(parts)
}

impl<'n> Fields<'n> {
    /// The checked values of the object's own keys, without those that the caller reads by hand.
    pub(crate) fn parts(&mut self, scope: Scope<'_>, d: &mut Diagnostics) -> Parts {
        let mut parts = Parts::default();
        for key in self.object.keys {
            match key.status {
                _ if key.by_hand => {}
                Status::Current => match self.entry(key, d) {
                    Some(entry) => match value_at(entry, key, scope, d) {
                        Some(value) => parts.set(key.name, value),
                        None => parts.mark_broken(),
                    },
                    None if key.required => {
                        self.missing(self.object.missing, key.name, d);
                        parts.mark_broken();
                    }
                    None => {}
                },
                Status::NoEffect(_) => {
                    if let Some(entry) = self.no_effect(key.name, d) {
                        value_at(entry, key, scope, d);
                    }
                }
                Status::Refused(code, message, help) => {
                    if let Some(entry) = self.get(key.name) {
                        d.report(code, entry.key_span, message, help);
                    }
                }
                Status::Replaced(_) => {}
            }
        }
        parts
    }

    /// The checked value of a key that the caller reads by hand.
    pub(crate) fn value_of(&mut self, key: &'static str, scope: Scope<'_>, d: &mut Diagnostics) -> Option<Written> {
        let key = self.key(key);
        let entry = self.entry(key, d)?;
        value_at(entry, key, scope, d)
    }
}

fn value_at(entry: &Entry, key: &Key, scope: Scope<'_>, d: &mut Diagnostics) -> Option<Written> {
    value(&entry.value, &label(entry), &key.value, key, scope, d)
}

/// The value of `key`, or of an element of its list: `what` is the name of it.
fn value(node: &Node, what: &str, of_type: &Type, key: &Key, scope: Scope<'_>, d: &mut Diagnostics) -> Option<Written> {
    match of_type {
        Type::Any => Some(Written::Data(node.to_json())),
        Type::AnyText => values::string(node, what, d).map(Written::Text),
        Type::NotEmpty => values::not_empty(node, what, d).map(Written::Text),
        Type::Text => values::text(node, what, d).map(Written::Text),
        Type::Literal => values::literal_text(node, what, d).map(Written::Text),
        Type::Boolean => values::boolean(node, what, d).map(Written::Boolean),
        Type::Number(range) => values::number_in(node, what, range, d).map(Written::Number),
        Type::Integer(low, high) => values::integer(node, what, *low, *high, d).map(Written::Integer),
        Type::Choice(words) => values::word(node, what, words, d).map(Written::Word),
        Type::Data => values::object(node, what, d).map(|object| Written::Data(object.into())),
        Type::File | Type::Directory => {
            let kind = if matches!(of_type, Type::File) { PathKind::File } else { PathKind::Directory };
            scope.find(node, what, kind, d).map(|found| Written::made(found.reference))
        }
        Type::Command => command::read(node, what, scope, None, d).map(Written::made),
        Type::Arguments => command::argv(node, what, scope, None, d).map(Written::made),
        Type::List(of) | Type::Some(of) => {
            let items = values::list(node, what, d)?;
            if let (true, Some((code, problem, help))) = (items.is_empty(), key.empty) {
                return super::reject(code, node.span, format!("{what} {problem}"), help, d);
            }
            let element = format!("an element of {what}");
            values::all(items, |item| value(item, &element, of, key, scope, d)).map(Written::List)
        }
        Type::Object(table) => parts_of(node, table, scope, d).map(Written::Parts),
        Type::Pattern(..) | Type::Map(_) | Type::OneOf(_) | Type::Grader | Type::GraderSettings => {
            unreachable!("`{}` is read by hand", key.name)
        }
    }
}
