//! Keys that are written above the object they belong to, such as `threshold` next to `execution`: where they belong, and the changes
//! that move them there.

use evalsuite_schema::WrittenHooks;
use evalsuite_schema::diagnostics::suggest;
use evalsuite_schema::{Case, CaseExecution, ConversationKeys, Suite, SuiteExecution, Workspace};

use super::values::indented_after_first;
use crate::diagnostic::{Edit, Fix};
use crate::keys::{Key, Keys, Status, Table, Type};
use crate::read::node::{Entry, Node};

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
