//! Values that are left out of the canonical JSON.

/// `true` for the value that [`Default`] gives; such values are left out of the canonical JSON.
pub fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
