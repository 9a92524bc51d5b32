//! Writing of data.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use crate::diagnostics::{Diagnostic, Location};
use serde::ser::{Serialize, Serializer};
use serde_json::Result;

use super::ToJson;
use crate::json::writer::{JsonWriter, Parts, Spacing, Texts, json_of};
use crate::json::{Number, Object, Value};

/// An object that is being written, or a list. The first error is returned at its end.
#[doc(hidden)]
pub struct ObjectWriter<'w, 'd> {
    parts: Parts<'w, 'd>,
    result: Result<()>,
}

impl ObjectWriter<'_, '_> {
    /// Writes a field.
    pub fn field(&mut self, name: &str, value: &dyn ToJson) {
        if self.result.is_ok() {
            self.result = self.parts.field(name, &|writer| value.write(writer));
        }
    }

    /// Writes an entry of a map.
    fn entry(&mut self, key: &dyn ToJson, value: &dyn ToJson) -> Result<()> {
        let change = self.parts.change();
        let key = json_of(&|writer| key.write(writer), Spacing::Compact, change, Texts::Key)?;
        self.parts.key(key)?;
        self.parts.value(&|writer| value.write(writer))
    }

    /// Ends it.
    ///
    /// # Errors
    ///
    /// If a part of it was not JSON.
    pub fn end(self) -> Result<()> {
        self.result?;
        self.parts.close()
    }
}

impl<'d> JsonWriter<'d> {
    /// Begins an object.
    ///
    /// # Errors
    ///
    /// If an object cannot be written here.
    pub fn object<'w>(&'w mut self) -> Result<ObjectWriter<'w, 'd>> {
        Ok(ObjectWriter { parts: self.open("{", "}")?, result: Ok(()) })
    }

    /// Begins the object of a variant with fields.
    ///
    /// # Errors
    ///
    /// If an object cannot be written here.
    pub fn object_of_variant<'w>(&'w mut self, variant: &str) -> Result<ObjectWriter<'w, 'd>> {
        self.open_variant(variant)?;
        Ok(ObjectWriter { parts: self.open("{", "}}")?, result: Ok(()) })
    }

    /// Writes a variant with one value.
    ///
    /// # Errors
    ///
    /// If the value is not JSON.
    pub fn variant(&mut self, variant: &str, value: &dyn ToJson) -> Result<()> {
        self.open_variant(variant)?;
        value.write(self)?;
        self.close(false, "}")
    }

    /// Writes a variant without data.
    ///
    /// # Errors
    ///
    /// If nothing can be written.
    pub fn word(&mut self, variant: &'static str) -> Result<()> {
        self.serialize_unit_variant("", 0, variant)
    }

    fn list(&mut self, items: &mut dyn Iterator<Item = &dyn ToJson>) -> Result<()> {
        let mut parts = self.open("[", "]")?;
        for item in items {
            parts.next()?;
            item.write(parts.writer())?;
        }
        parts.close()
    }
}

/// Types that `serde` writes well.
macro_rules! by_serde {
    ($($type:ty)*) => {$(
        impl ToJson for $type {
            fn write(&self, writer: &mut JsonWriter<'_>) -> Result<()> {
                self.serialize(writer)
            }
        }
    )*};
}

by_serde! { () bool u8 u128 i32 i64 u16 u32 u64 usize f64 str String PathBuf Number Value Object serde_json::Value Location Diagnostic }

/// Types that hold a value.
macro_rules! by_content {
    ($($type:ty)*) => {$(
        impl<T: ToJson + ?Sized> ToJson for $type {
            fn write(&self, writer: &mut JsonWriter<'_>) -> Result<()> {
                (**self).write(writer)
            }
        }
    )*};
}

by_content! { &T &mut T Box<T> }

impl<T: ToJson> ToJson for Option<T> {
    fn write(&self, writer: &mut JsonWriter<'_>) -> Result<()> {
        match self {
            Some(value) => value.write(writer),
            None => writer.serialize_unit(),
        }
    }
}

impl<T: ToJson> ToJson for [T] {
    fn write(&self, writer: &mut JsonWriter<'_>) -> Result<()> {
        writer.list(&mut self.iter().map(|item| item as &dyn ToJson))
    }
}

impl<T: ToJson> ToJson for Vec<T> {
    fn write(&self, writer: &mut JsonWriter<'_>) -> Result<()> {
        self.as_slice().write(writer)
    }
}

impl<T: ToJson> ToJson for BTreeSet<T> {
    fn write(&self, writer: &mut JsonWriter<'_>) -> Result<()> {
        writer.list(&mut self.iter().map(|item| item as &dyn ToJson))
    }
}

impl<T: ToJson, const N: usize> ToJson for [T; N] {
    fn write(&self, writer: &mut JsonWriter<'_>) -> Result<()> {
        self.as_slice().write(writer)
    }
}

impl<A: ToJson, B: ToJson> ToJson for (A, B) {
    fn write(&self, writer: &mut JsonWriter<'_>) -> Result<()> {
        writer.list(&mut [&self.0 as &dyn ToJson, &self.1].into_iter())
    }
}

impl<K: ToJson, V: ToJson> ToJson for BTreeMap<K, V> {
    fn write(&self, writer: &mut JsonWriter<'_>) -> Result<()> {
        let mut object = writer.object()?;
        for (key, value) in self {
            object.entry(key, value)?;
        }
        object.end()
    }
}
