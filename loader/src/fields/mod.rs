//! Reads mappings key by key, and single values: every problem is reported, and reading continues.

pub(crate) mod command;
pub(crate) mod mcp;
pub(crate) mod paths;
#[cfg_attr(not(feature = "patterns"), path = "without_patterns.rs")]
pub(crate) mod pattern;
pub(crate) mod sealing;
pub(crate) mod settings;
pub(crate) mod values;
pub(crate) mod vars;

use crate::diagnostic::{Code, Diagnostic, Diagnostics, Fix, report_both};
use crate::key_tables::{Key, Status, Table, Type};
use crate::read::node::{Entry, Node};
use crate::source::Span;
use evalsuite_schema::diagnostics::suggest;

pub(crate) use values::{
    all, around, boolean, canary, control_character, environment, integer, list, literal, literal_text, object,
    pass_mark, short_text, string, text, texts, word, wrong_type,
};

/// The keys of one mapping, read with the table of its object. [`Fields::finish`] reports what is not in the table.
pub(crate) struct Fields<'n> {
    pub(crate) node: &'n Node,
    pub(crate) object: &'static Table,
    entries: &'n [Entry],
    /// Keys that it shares with other objects.
    common: &'static [Key],
    is_top: bool,
    /// The names of keys that were looked for.
    read: Vec<&'static str>,
}

/// Start of the keys that are the author's own, such as those with YAML anchors.
const OWN: &str = "x-";

/// Whether a key is the author's own.
pub(crate) fn is_own(key: &str) -> bool {
    key.starts_with(OWN)
}

/// Reads a value, which messages call by the text.
type Parse<T> = fn(&Node, &str, &mut Diagnostics) -> Option<T>;

impl<'n> Fields<'n> {
    /// The keys of `node`, which is an `object`. Anything but a mapping is wrong-type.
    pub(crate) fn new(node: &'n Node, object: &'static Table, d: &mut Diagnostics) -> Option<Self> {
        let Some(entries) = node.as_mapping() else { return values::not_an_object(node, object, d) };
        Some(Self { node, object, entries, common: object.common, is_top: false, read: Vec::new() })
    }

    /// The same with other common keys than the table's.
    pub(crate) fn with_common(self, common: &'static [Key]) -> Self {
        Self { common, ..self }
    }

    /// The keys of a file's root; anything but a mapping is root-not-mapping.
    pub(crate) fn of_root(root: &'n Node, object: &'static Table, help: &str, d: &mut Diagnostics) -> Option<Self> {
        if root.as_mapping().is_none() {
            let message = format!("expected a mapping, found {}", root.kind());
            return reject(Code::RootNotMapping, root.span, message, help, d);
        }
        Self::new(root, object, d).map(Self::at_top)
    }

    /// Marks the keys as those at the top of a file, which is the usual place for keys of one's own.
    pub(crate) fn at_top(self) -> Self {
        Self { is_top: true, ..self }
    }

    fn all_keys(&self) -> impl Iterator<Item = &'static Key> + use<> {
        self.common.iter().chain(self.object.keys)
    }

    /// The line of the table for `name`.
    pub(crate) fn key(&self, name: &str) -> &'static Key {
        let found = self.all_keys().find(|key| key.name == name);
        found.expect("keys are read with the table of their object")
    }

    /// The value of `key`; null counts as absent.
    pub(crate) fn get(&mut self, key: &'static str) -> Option<&'n Entry> {
        self.read.push(key);
        self.peek(key)
    }

    fn peek(&self, key: &str) -> Option<&'n Entry> {
        self.entries.iter().find(|entry| entry.key == key && !entry.value.is_null())
    }

    /// Marks all keys as read, where a problem makes the others meaningless.
    pub(crate) fn ignore_unread(&mut self) {
        self.read.extend(self.object.keys.iter().map(|key| key.name));
    }

    /// The value of `key` in any of its spellings: old ones are deprecated-key, two spellings are conflicting-keys.
    pub(crate) fn get_renamed(&mut self, key: &'static str, d: &mut Diagnostics) -> Option<&'n Entry> {
        self.entry(self.key(key), d)
    }

    /// The same by the line of the table.
    fn entry(&mut self, key: &'static Key, d: &mut Diagnostics) -> Option<&'n Entry> {
        self.read.push(key.name);
        let current = either(self.peek(key.name), key.or.and_then(|other| self.peek(other)), d);
        self.old_spellings(current, key.name, key.old, false, d)
    }

    /// The value of `key`, which was replaced by something that is written elsewhere, or of one of its old spellings:
    /// deprecated-key.
    pub(crate) fn get_replaced(&mut self, key: &'static str, d: &mut Diagnostics) -> Option<&'n Entry> {
        self.get(key);
        let Key { name, old, status: Status::Replaced(new), .. } = self.key(key) else { return None };
        let found = self.old_spellings(None, new, &[name], true, d);
        self.old_spellings(found, new, old, true, d)
    }

    fn old_spellings(
        &self,
        mut current: Option<&'n Entry>,
        new: &str,
        old: &[&'static str],
        is_elsewhere: bool,
        d: &mut Diagnostics,
    ) -> Option<&'n Entry> {
        for &old in old {
            let Some(entry) = self.peek(old) else { continue };
            if let Some(first) = current {
                conflict(first, entry, d);
            } else {
                let message = format!("`{old}` is now `{new}`");
                let problem = Diagnostic::new(Code::DeprecatedKey, message).at(entry.key_span);
                d.push(if is_elsewhere {
                    problem.help(settings::written_elsewhere(new, entry))
                } else {
                    let is_there = self.entries.iter().any(|entry| entry.key == new);
                    let fix = (!is_there).then(|| Fix::Replace(new.to_owned()));
                    problem.help(format!("rename it to `{new}`")).fix_if(fix)
                });
                current = Some(entry);
            }
        }
        current
    }

    /// The value of a required `key`, in whichever spelling; without it missing-key, or what the table says.
    pub(crate) fn require(&mut self, key: &'static str, d: &mut Diagnostics) -> Option<&'n Entry> {
        let found = self.entry(self.key(key), d);
        if found.is_none() {
            self.missing(self.object.missing, key, d);
        }
        found
    }

    /// The value of `key` as `parse` reads it.
    pub(crate) fn read<T>(&mut self, key: &'static str, parse: Parse<T>, d: &mut Diagnostics) -> Option<T> {
        self.get(key).and_then(|entry| parse(&entry.value, &label(entry), d))
    }

    /// As [`Fields::read`]; `or` without `key`, so that `None` says that a problem was reported.
    pub(crate) fn read_or<T>(&mut self, key: &'static str, or: T, parse: Parse<T>, d: &mut Diagnostics) -> Option<T> {
        self.get(key).map_or(Some(or), |entry| parse(&entry.value, &label(entry), d))
    }

    /// Reports that `key` is absent, unless another one was meant to be it, whose report says what to write.
    pub(crate) fn missing(&self, code: Code, key: &'static str, d: &mut Diagnostics) {
        if self.misspells(&[key]) || self.is_null(code, key, d) {
            return;
        }
        let help = match self.key(key).value {
            Type::Choice(words) => format!("add `{key}`: {}", suggest::quoted(words, "or")),
            _ => format!("add `{key}`"),
        };
        d.report(code, self.place_without(key), format!("missing key `{key}` in {}", self.object.what), help);
    }

    /// Whether `key` is written, with null in place of a value, which is reported.
    pub(crate) fn is_null(&self, code: Code, key: &str, d: &mut Diagnostics) -> bool {
        let Some(at) = self.entries.iter().position(|entry| entry.key == key && entry.value.is_null()) else {
            return false;
        };
        let entry = &self.entries[at];
        let problem = Diagnostic::new(code, self.null_message(key)).at(entry.key_span);
        let problem = match self.is_beside(entry) {
            true => problem,
            false => problem.related(entry.value.span, "the value is null"),
        };
        d.push(problem.help("write a value"));
        true
    }

    fn null_message(&self, key: &str) -> String {
        format!("`{key}` in {} is null", self.object.what)
    }

    /// Whether the value of an entry is written next to its key. That of a variable is somewhere else.
    fn is_beside(&self, entry: &Entry) -> bool {
        let (key, value) = (entry.key_span, entry.value.span);
        let is_between = |next: &Entry| (key.end()..value.start()).contains(&next.key_span.start());
        let is_inside = key.file == value.file && key.end() <= value.start() && value.end() <= self.node.span.end();
        is_inside && !self.entries.iter().any(is_between)
    }

    /// Reports keys that a variable makes null. Where null is written, the key counts as absent; here, a value is meant.
    pub(crate) fn null_variables(&self, d: &mut Diagnostics) {
        let is_known = |key: &str| is_in(self.common, key) || is_in(self.object.keys, key);
        let is_null = |entry: &&Entry| entry.value.is_null() && is_known(&entry.key) && !self.is_beside(entry);
        for entry in self.entries.iter().filter(is_null) {
            let message = self.null_message(&entry.key);
            // A required key is reported as missing.
            if !d.iter().any(|problem| problem.place == Some(entry.key_span) && problem.message == message) {
                self.is_null(Code::WrongType, &entry.key, d);
            }
        }
    }

    /// The span of a problem with the missing value of `key`: the key if it is written, else the whole mapping.
    pub(crate) fn place_without(&self, key: &str) -> Span {
        self.entries.iter().find(|entry| entry.key == key).map_or(self.node.span, |entry| entry.key_span)
    }

    /// The value of `key`, which is accepted with the warning that it has no effect.
    pub(crate) fn no_effect(&mut self, key: &'static str, d: &mut Diagnostics) -> Option<&'n Entry> {
        let found = self.get_renamed(key, d)?;
        if let Status::NoEffect(instead) = self.key(key).status {
            d.report(Code::NoEffect, found.key_span, format!("{} has no effect", label(found)), instead);
        }
        Some(found)
    }

    /// The entry of `key` in whichever spelling; nothing is reported.
    pub(crate) fn written(&self, key: &Key) -> Option<&'n Entry> {
        let mut spellings = std::iter::once(key.name).chain(key.or).chain(key.old.iter().copied());
        spellings.find_map(|spelling| self.peek(spelling))
    }

    /// Entries whose keys are not in the table, without the author's own; the caller handles them instead of [`Fields::finish`].
    pub(crate) fn rest(&self) -> impl Iterator<Item = &'n Entry> {
        let (common, keys) = (self.common, self.object.keys);
        let is_unknown = move |entry: &&Entry| !is_in(common, &entry.key) && !is_in(keys, &entry.key);
        self.entries.iter().filter(is_unknown).filter(|entry| !is_own(&entry.key))
    }

    /// The keys that can be suggested.
    pub(crate) fn known(&self) -> Vec<&'static str> {
        let current = self.all_keys().filter(|key| key.status == Status::Current);
        current.flat_map(|key| std::iter::once(key.name).chain(key.or)).collect()
    }

    /// Whether an unknown key is probably a misspelling of one of `keys`: its diagnostic says what to do, so that
    /// a report of the missing key would only repeat it.
    pub(crate) fn misspells(&self, keys: &[&'static str]) -> bool {
        self.rest().any(|entry| !suggest::nearest(&entry.key, keys.iter().copied()).is_empty())
    }

    /// The key that an unknown one certainly means, unless that is there too: one that is spelled nearly so, or the required one for
    /// which other tools have this name.
    pub(crate) fn certain_key(&self, entry: &Entry) -> Option<Fix> {
        let required = || self.all_keys().filter(|key| key.required).map(|key| key.name);
        let synonym = || suggest::synonyms(&entry.key).find(|name| required().any(|key| key == *name));
        let meant = suggest::certain(&entry.key, self.known()).or_else(synonym)?;
        let is_there = self.entries.iter().any(|other| other.key == meant);
        (!is_there).then(|| Fix::Replace(meant.to_owned()))
    }

    /// Reports every key that is not in the table.
    pub(crate) fn finish(self, d: &mut Diagnostics) {
        self.null_variables(d);
        let keys: Vec<&'static Key> = self.all_keys().collect();
        let mut moved_below = Vec::new();
        for entry in self.rest() {
            let problem =
                Diagnostic::new(Code::UnknownKey, format!("unknown key `{}` in {}", entry.key, self.object.what));
            let problem = problem.at(entry.key_span);
            d.push(match settings::home(&entry.key, &keys) {
                Some(home) => {
                    // An object that is not there is added by the first of its keys.
                    let is_first = !moved_below.contains(&home.path[0]);
                    moved_below.push(home.path[0]);
                    let is_there = self.entries.iter().any(|entry| entry.key == home.path[0]);
                    let fix = if is_first || is_there { home.fix(self.node, entry) } else { None };
                    problem.help(home.help(entry)).fix_if(fix)
                }
                None => problem.help(self.help_for(&entry.key)).fix_if(self.certain_key(entry)),
            });
        }
        // What is written in a key that nothing reads would have no effect.
        let is_unread = |key: &&Key| key.by_hand && key.status == Status::Current && !self.read.contains(&key.name);
        for entry in self.object.keys.iter().filter(is_unread).filter_map(|key| self.peek(key.name)) {
            let message = format!("{} in {} is not supported", label(entry), self.object.what);
            d.report(Code::UnknownKey, entry.key_span, message, "delete it");
        }
    }

    /// What to write in place of an unknown key.
    fn help_for(&self, key: &str) -> String {
        let known = self.known();
        let near = || suggest::did_you_mean(key, known.iter().copied());
        let is_synonym = suggest::synonyms(key).any(|name| known.contains(&name));
        let meant = if is_synonym { near() } else { settings::elsewhere(key, self.object.keys) };
        meant.or_else(near).unwrap_or_else(|| {
            let known = suggest::listed(&known);
            if self.is_top {
                format!("write `{OWN}{key}` if the key is your own; known: {known}")
            } else if self.object.keys.iter().any(|key| key.name == "metadata") {
                format!("write it below `metadata` if it is your own; known: {known}")
            } else {
                format!("known: {known}")
            }
        })
    }
}

/// Whether `written` is a key of the table, in one of its spellings.
fn is_in(keys: &[Key], written: &str) -> bool {
    // The names come first: this is the common case, in code that runs unoptimised.
    let mut index = 0;
    while index < keys.len() {
        if keys[index].name == written {
            return true;
        }
        index += 1;
    }
    keys.iter().any(|key| key.old.contains(&written) || key.or == Some(written))
}

/// Whichever of two spellings is there; both together are conflicting-keys.
pub(crate) fn either<'n>(one: Option<&'n Entry>, other: Option<&'n Entry>, d: &mut Diagnostics) -> Option<&'n Entry> {
    if let (Some(one), Some(other)) = (one, other) {
        conflict(one, other, d);
    }
    one.or(other)
}

fn conflict(first: &Entry, second: &Entry, d: &mut Diagnostics) {
    let message = format!("`{}` and `{}` are one setting", first.key, second.key);
    let other = (first.key_span, format!("`{}` is here", first.key));
    report_both(Code::ConflictingKeys, (second.key_span, message), other, "keep one", d);
}

/// Reports a problem because of which there is no value.
pub(crate) fn reject<T>(
    code: Code,
    place: Span,
    message: impl Into<String>,
    help: impl Into<String>,
    d: &mut Diagnostics,
) -> Option<T> {
    d.report(code, place, message, help);
    None
}

/// The key as messages name it.
pub(crate) fn label(entry: &Entry) -> String {
    format!("`{}`", entry.key)
}

/// Why a pattern cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PatternProblem {
    pub(crate) code: Code,
    pub(crate) message: String,
    /// The byte of the pattern where it is, if it is at one.
    pub(crate) offset: Option<usize>,
}

impl PatternProblem {
    /// The problem with its place in the pattern, for who cannot point at it.
    pub(crate) fn message_with_offset(&self) -> String {
        let place = self.offset.map(|offset| format!(" at offset {offset}")).unwrap_or_default();
        format!("{}{place}", self.message)
    }

    /// What to do about it; `otherwise` about one that is invalid.
    pub(crate) fn help(&self, otherwise: &'static str) -> &'static str {
        if self.code == Code::LimitExceeded { "write shorter patterns, or split the suite" } else { otherwise }
    }
}

#[cfg(test)]
mod tests {
    use evalsuite_schema::Workspace;
    use evalsuite_schema::keys::Keys;

    use super::*;
    use crate::tests::Package;

    #[test]
    fn a_key_that_nothing_reads_is_an_error() {
        let package = Package::new(&[]);
        let node = package.node("{hooks: {before_all: ./seed}, repos: ~}");
        let mut d = Diagnostics::new();
        Fields::new(&node, Workspace::TABLE, &mut d).unwrap().finish(&mut d);
        assert_eq!(package.lines(&d), ["1:2 E019 `hooks` in `workspace` is not supported"]);
    }
}
