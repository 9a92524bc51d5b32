//! Reads the keys of an object as its table states them. For keys that are written above the object they belong to, such as `threshold`
//! next to `execution`: where they belong, and the changes that move them there.

use evalsuite_schema::diagnostics::suggest;
use evalsuite_schema::keys::{FromParts, Parts, Written};
use evalsuite_schema::{Case, CaseExecution, ConversationKeys, Suite, SuiteExecution, Workspace, WrittenHooks};

use super::paths::{PathKind, Scope};
use super::values::{self, indented_after_first};
use super::{Fields, command, label};
use crate::diagnostic::{Diagnostics, Edit, Fix};
use crate::key_tables::{Key, Keys, Status, Table, Type};
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

/// Objects that are searched below the one in which the key is written.
const DEPTH: usize = 2;

/// Where a key belongs.
pub(super) struct Home {
    /// The keys of the objects around it, the outermost first.
    pub(super) path: Vec<&'static str>,
    /// What it is there.
    key: &'static Key,
}

/// The place of `written` below `keys`.
pub(super) fn home(written: &str, keys: &[&'static Key]) -> Option<Home> {
    (1..=DEPTH).find_map(|depth| below(written, keys, depth))
}

/// The place of `written` at this depth, if there is one only: each hook has the same keys.
fn below(written: &str, keys: &[&'static Key], depth: usize) -> Option<Home> {
    let mut homes = keys.iter().filter(|key| key.status == Status::Current).filter_map(|outer| {
        // Its keys have names that mean something else in a case: `model`, `judge`, `assertions`.
        let object = object_of(&outer.value).filter(|object| !std::ptr::eq(*object, ConversationKeys::TABLE))?;
        let inner: Vec<&'static Key> = object.all_keys().collect();
        if depth > 1 {
            let mut home = below(written, &inner, depth - 1)?;
            home.path.insert(0, outer.name);
            return Some(home);
        }
        let is_synonym = |key: &Key| suggest::synonyms(written).any(|name| name == key.name);
        let is_meant = |key: &&&Key| key.name == written || key.old.contains(&written) || is_synonym(key);
        let found = inner.iter().filter(|key| key.status == Status::Current).find(is_meant)?;
        Some(Home { path: vec![outer.name], key: found })
    });
    homes.next().filter(|_| homes.next().is_none())
}

const A_CASE: &str = "a case";

/// The objects whose keys are taken for each other's, as messages name them.
const RELATED: &[(&Table, &str)] = &[
    (Suite::TABLE, "the eval file"),
    (SuiteExecution::TABLE, "`execution` of the eval file"),
    (Case::TABLE, A_CASE),
    (CaseExecution::TABLE, "`execution` of a case"),
    (Workspace::TABLE, "`workspace`"),
    (WrittenHooks::TABLE, "`workspace.hooks`"),
];

/// Where `written` belongs, if it is a key of an object that the one with `keys` is taken for.
pub(super) fn elsewhere(written: &str, keys: &'static [Key]) -> Option<String> {
    if RELATED.iter().all(|(table, _)| !std::ptr::eq(table.keys, keys)) {
        return None;
    }
    // What is written in a part of a case belongs in the case.
    let is_of_case = std::ptr::eq(CaseExecution::TABLE.keys, keys);
    if let Some(help) = suggest::said_elsewhere(written) {
        return Some(help.to_owned());
    }
    let has_key = |table: &Table| table.keys.iter().any(|key| key.name == written && key.status == Status::Current);
    let own = RELATED.iter().filter(|(_, place)| is_of_case && *place == A_CASE);
    let (_, place) = own.chain(RELATED).find(|(table, _)| has_key(table))?;
    Some(format!("`{written}` belongs in {place}"))
}

/// The keys of the object that a value can be.
fn object_of(value: &Type) -> Option<&'static Table> {
    match value {
        Type::Object(table) => Some(table),
        Type::OneOf(types) => types.iter().find_map(object_of),
        _ => None,
    }
}

impl Home {
    /// What to write.
    pub(super) fn help(&self, entry: &Entry) -> String {
        let Key { name, value, example, .. } = self.key;
        let is_scalar = entry.value.as_mapping().is_none();
        let value = match value {
            Type::Object(_) if is_scalar => (*example).to_owned(),
            _ => entry.value.shown(),
        };
        let written = nested(&self.path, &format!("{name}: {value}"));
        format!("`{name}` belongs below `{}`: write `{written}`", self.path.join("."))
    }

    /// The changes that move `entry` of `mapping` there.
    pub(super) fn fix(&self, mapping: &Node, entry: &Entry) -> Option<Fix> {
        let (key_start, key_end) = entry.key_span.range?;
        let (value_start, value_end) = entry.value.span.range?;
        let name = self.key.name;
        if value_start.line != key_start.line || value_end.line != key_start.line {
            return self.fix_of_lines(mapping, entry);
        }
        if !entry.value.is_plain() {
            return None;
        }
        let (mut inside, mut missing) = (mapping, self.path.as_slice());
        while let [first, rest @ ..] = missing
            && let Some(found) = inside.entry(first)
        {
            (inside, missing) = (&found.value, rest);
        }
        if missing.len() == self.path.len() {
            let outer: String = missing.iter().map(|key| format!("{}: {{ ", entry.quoted_alike(key))).collect();
            return Some(Fix::Edits(vec![
                Edit::new(key_start, key_end, format!("{outer}{}", entry.quoted_alike(name))),
                Edit::new(value_end, value_end, " }".repeat(missing.len())),
            ]));
        }
        // Only an entry with a line of its own can be taken out without a look at what is around it.
        let is_first = mapping.as_mapping()?.first()?.key_span == entry.key_span;
        let (first, _) = inside.as_mapping()?.first()?.key_span.range?;
        let wanted = missing.first().copied().unwrap_or(name);
        if mapping.is_flow() || (is_first && key_start.column > 1) || inside.entry(wanted).is_some() {
            return None;
        }
        let moved = nested(missing, &format!("{name}: {}", entry.value.to_json()));
        let separator = inside.separator(first.column)?;
        Some(Fix::Edits(vec![
            Edit::new(key_start, value_end, ""),
            Edit::new(first, first, format!("{moved}{separator}")),
        ]))
    }

    /// As [`Home::fix`] for an entry of several lines, which are indented below new keys.
    fn fix_of_lines(&self, mapping: &Node, entry: &Entry) -> Option<Fix> {
        let ((start, key_end), (_, end)) = (entry.key_span.range?, entry.value.span.range?);
        if mapping.is_flow() || mapping.entry(self.path[0]).is_some() {
            return None;
        }
        let indent = usize::try_from(start.column).ok()?.checked_sub(1)?;
        let lines =
            self.path.iter().enumerate().map(|(depth, key)| format!("{key}:\n{}", " ".repeat(indent + 2 * depth + 2)));
        let mut edits = vec![Edit::new(start, key_end, format!("{}{}", lines.collect::<String>(), self.key.name))];
        edits.extend(indented_after_first(start, end, &"  ".repeat(self.path.len()))?);
        Some(Fix::Edits(edits))
    }
}

/// What to write in place of a key that was replaced by `new`: the path of a key, or words.
pub(super) fn written_elsewhere(new: &str, entry: &Entry) -> String {
    match new.split_once('.') {
        Some((outer, name)) => format!("write `{}`", nested(&[outer], &format!("{name}: {}", entry.value.shown()))),
        None => format!("write `{new}` instead"),
    }
}

/// `entry` in the objects of `path`.
fn nested(path: &[&str], entry: &str) -> String {
    path.iter().rev().fold(entry.to_owned(), |inner, outer| format!("{outer}: {{ {inner} }}"))
}
