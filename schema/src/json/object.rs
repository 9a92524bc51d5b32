//! A JSON object.
//!
//! Steps of JSON Pointers (RFC 6901).

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};
use std::{fmt, iter, ops, slice, vec};

use crate::json::Value;
use crate::sorting::sort_by;

/// Up to this many keys, looking at each of them is faster than sorting them.
const FEW: usize = 16;

/// A JSON object, whose keys stay in the order in which they were inserted. For equality, the order does not matter.
///
/// Keys are searched one after another, because objects of cases and records are small. If many keys are added at once,
/// as from a hostile document, duplicates are found by sorting.
///
/// ```
/// use evalsuite_schema::Object;
///
/// let object = Object::from([("model", "small"), ("effort", "low")]);
/// assert_eq!(object.keys().collect::<Vec<_>>(), ["model", "effort"]);
/// assert_eq!(object["model"], "small");
/// ```
#[derive(Clone, Default)]
pub struct Object {
    entries: Vec<(String, Value)>,
    /// A key that the document had twice: for data of known fields, an error.
    repeated: Option<Box<str>>,
}

impl Object {
    /// An object without keys.
    pub const fn new() -> Self {
        Self { entries: Vec::new(), repeated: None }
    }

    /// Number of keys.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether it has no keys.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    fn position(&self, key: &str) -> Option<usize> {
        self.entries.iter().position(|(own, _)| own == key)
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.entries.iter().find(|(own, _)| own == key).map(|(_, value)| value)
    }

    /// The value of a key.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Value> {
        self.entries.iter_mut().find(|(own, _)| own == key).map(|(_, value)| value)
    }

    /// Whether it has a key.
    pub fn contains_key(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// Sets the value of a key, and returns the value it had. A new key is the last one.
    pub fn insert(&mut self, key: String, value: Value) -> Option<Value> {
        match self.get_mut(&key) {
            Some(own) => Some(std::mem::replace(own, value)),
            None => {
                self.entries.push((key, value));
                None
            }
        }
    }

    /// The value of a key, which is added with a value if it is missing.
    pub fn get_or_insert(&mut self, key: impl Into<String>, value: Value) -> &mut Value {
        let key = key.into();
        let index = self.position(&key).unwrap_or_else(|| {
            self.entries.push((key, value));
            self.entries.len() - 1
        });
        &mut self.entries[index].1
    }

    /// Removes a key. The others keep their order.
    pub fn remove(&mut self, key: &str) -> Option<Value> {
        Some(self.entries.remove(self.position(key)?).1)
    }

    /// Removes the entries for which `keep` returns `false`.
    pub fn retain(&mut self, mut keep: impl FnMut(&String, &mut Value) -> bool) {
        self.entries.retain_mut(|(key, value)| keep(key, value));
    }

    /// Keys and values.
    pub fn iter(&self) -> Iter<'_> {
        self.into_iter()
    }

    /// Keys and values.
    pub fn iter_mut(&mut self) -> impl DoubleEndedIterator<Item = (&String, &mut Value)> {
        self.entries.iter_mut().map(|(key, value)| (&*key, value))
    }

    /// The keys.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = &String> + DoubleEndedIterator + Clone {
        self.entries.iter().map(|(key, _)| key)
    }

    /// The values.
    pub fn values(&self) -> impl ExactSizeIterator<Item = &Value> + DoubleEndedIterator + Clone {
        self.entries.iter().map(|(_, value)| value)
    }

    /// The values.
    pub fn values_mut(&mut self) -> impl DoubleEndedIterator<Item = &mut Value> {
        self.entries.iter_mut().map(|(_, value)| value)
    }

    /// The values.
    pub fn into_values(self) -> impl DoubleEndedIterator<Item = Value> {
        self.entries.into_iter().map(|(_, value)| value)
    }

    /// Sorts the keys.
    pub fn sort_keys(&mut self) {
        sort_by(&mut self.entries, |(one, _), (other, _)| one.cmp(other));
    }

    /// The entries by key, for what does not depend on their order.
    fn sorted(&self) -> Vec<&(String, Value)> {
        let mut entries: Vec<_> = self.entries.iter().collect();
        sort_by(&mut entries, |one, other| one.0.cmp(&other.0));
        entries
    }

    /// The entries, and a key that the document had twice.
    pub(super) fn into_parts(self) -> (Vec<(String, Value)>, Option<Box<str>>) {
        (self.entries, self.repeated)
    }

    /// A key that the text of the object had twice.
    pub(super) fn repeated(&self) -> Option<&str> {
        self.repeated.as_deref()
    }

    /// Entries whose keys may be repeated: the place of the first one stays, with the value of the last one.
    pub(super) fn of_entries(entries: Vec<(String, Value)>) -> Self {
        let mut object = Self::new();
        if entries.len() <= FEW {
            for (key, value) in entries {
                match object.get_mut(&key) {
                    Some(own) => {
                        *own = value;
                        object.repeated = Some(key.into());
                    }
                    None => object.entries.push((key, value)),
                }
            }
            return object;
        }
        let mut places = BTreeMap::new();
        for (index, (key, _)) in entries.iter().enumerate() {
            places.entry(key.clone()).or_insert(index);
        }
        if places.len() == entries.len() {
            return Self { entries, repeated: None };
        }
        let mut kept: Vec<Option<(String, Value)>> = entries.iter().map(|_| None).collect();
        for (key, value) in entries {
            let place = places[&key];
            if kept[place].is_some() {
                object.repeated = Some(key.as_str().into());
            }
            kept[place] = Some((key, value));
        }
        Self { entries: kept.into_iter().flatten().collect(), ..object }
    }
}

impl fmt::Debug for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Object").field("entries", &self.entries).finish()
    }
}

impl PartialEq for Object {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && (self.entries == other.entries || self.sorted() == other.sorted())
    }
}

impl Eq for Object {}

impl Hash for Object {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.sorted().hash(hasher);
    }
}

impl ops::Index<&str> for Object {
    type Output = Value;

    /// The value of a key.
    ///
    /// # Panics
    ///
    /// If the key is missing.
    fn index(&self, key: &str) -> &Value {
        self.get(key).expect("the object has this key")
    }
}

impl ops::IndexMut<&str> for Object {
    fn index_mut(&mut self, key: &str) -> &mut Value {
        self.get_mut(key).expect("the object has this key")
    }
}

impl<K: Into<String>, V: Into<Value>> FromIterator<(K, V)> for Object {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        let entries = entries.into_iter().map(|(key, value)| (key.into(), value.into())).collect();
        // The later of two values was meant.
        Self { repeated: None, ..Self::of_entries(entries) }
    }
}

impl<K: Into<String>, V: Into<Value>, const N: usize> From<[(K, V); N]> for Object {
    fn from(entries: [(K, V); N]) -> Self {
        entries.into_iter().collect()
    }
}

impl Extend<(String, Value)> for Object {
    fn extend<I: IntoIterator<Item = (String, Value)>>(&mut self, entries: I) {
        let own = std::mem::take(&mut self.entries);
        *self = own.into_iter().chain(entries).collect();
    }
}

impl IntoIterator for Object {
    type Item = (String, Value);
    type IntoIter = vec::IntoIter<(String, Value)>;

    fn into_iter(self) -> Self::IntoIter {
        self.entries.into_iter()
    }
}

impl<'o> IntoIterator for &'o Object {
    type Item = (&'o String, &'o Value);
    type IntoIter = Iter<'o>;

    fn into_iter(self) -> Iter<'o> {
        self.entries.iter().map(|(key, value)| (key, value))
    }
}

/// Keys and values of an [`Object`].
type Iter<'o> = iter::Map<slice::Iter<'o, (String, Value)>, fn(&'o (String, Value)) -> (&'o String, &'o Value)>;

/// The key that a step of a pointer names: `a~1b` names `a/b`.
pub fn key_of_step(step: &str) -> String {
    step.replace("~1", "/").replace("~0", "~")
}

/// The step of a pointer that names a key: the reverse of [`key_of_step`].
pub fn step_of_key(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_names_the_key_that_it_was_made_of() {
        for (key, step) in [("a/b", "a~1b"), ("~", "~0"), ("~1", "~01"), ("a.b", "a.b"), ("", "")] {
            assert_eq!((step_of_key(key).as_str(), key_of_step(step).as_str()), (step, key));
        }
    }
}
