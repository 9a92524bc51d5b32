//! Methods of public types that read or set one field.

/// Builder methods that set a field: `pub fn with_x(x: u32) { x = Some(x) }`.
macro_rules! setters {
    (impl $type:ty { $($(#[$meta:meta])* pub fn $name:ident($value:ident: $value_type:ty) { $field:ident = $new:expr })* }) => {
        impl $type {
            $(
                $(#[$meta])*
                pub fn $name(mut self, $value: $value_type) -> Self {
                    self.$field = $new;
                    self
                }
            )*
        }
    };
}

/// Methods that return a field: `pub fn x(self) -> u32 { self.x }`.
macro_rules! getters {
    (impl $type:ty { $($(#[$meta:meta])* $visible:vis fn $name:ident($this:ident) -> $field_type:ty { $field:expr })* }) => {
        impl $type {
            $(
                $(#[$meta])*
                $visible fn $name(&$this) -> $field_type {
                    $field
                }
            )*
        }
    };
}

pub(crate) use {getters, setters};
