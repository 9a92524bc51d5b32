//! Values as literals.

/// See [`json::json`](crate::json::json).
#[doc(hidden)]
#[macro_export]
macro_rules! __json {
    (null) => { $crate::Value::Null };
    ([$($item:tt)*]) => { $crate::Value::Array($crate::__json_items!([] $($item)*)) };
    ({$($entry:tt)*}) => {{
        #[allow(unused_mut)]
        let mut object = $crate::Object::new();
        $crate::__json_entries!(object [] $($entry)*);
        $crate::Value::Object(object)
    }};
    ($value:expr) => { $crate::json::to_value(&$value).expect("the value is JSON") };
}

/// Items of a list: those that are done, then those that follow. What is in braces or brackets is JSON.
#[doc(hidden)]
#[macro_export]
macro_rules! __json_items {
    ([$($done:expr,)*]) => { ::std::vec![$($done),*] };
    ([$($done:expr,)*] null $(, $($rest:tt)*)?) => { $crate::__json_items!([$($done,)* $crate::__json!(null),] $($($rest)*)?) };
    ([$($done:expr,)*] [$($item:tt)*] $(, $($rest:tt)*)?) => {
        $crate::__json_items!([$($done,)* $crate::__json!([$($item)*]),] $($($rest)*)?)
    };
    ([$($done:expr,)*] {$($entry:tt)*} $(, $($rest:tt)*)?) => {
        $crate::__json_items!([$($done,)* $crate::__json!({$($entry)*}),] $($($rest)*)?)
    };
    ([$($done:expr,)*] $value:expr $(, $($rest:tt)*)?) => {
        $crate::__json_items!([$($done,)* $crate::__json!($value),] $($($rest)*)?)
    };
}

/// Entries of an object: tokens of the key so far, then what follows.
#[doc(hidden)]
#[macro_export]
macro_rules! __json_entries {
    ($object:ident []) => {};
    ($object:ident [$($key:tt)+] : null $(, $($rest:tt)*)?) => {
        $object.insert(($($key)+).into(), $crate::__json!(null));
        $crate::__json_entries!($object [] $($($rest)*)?);
    };
    ($object:ident [$($key:tt)+] : [$($item:tt)*] $(, $($rest:tt)*)?) => {
        $object.insert(($($key)+).into(), $crate::__json!([$($item)*]));
        $crate::__json_entries!($object [] $($($rest)*)?);
    };
    ($object:ident [$($key:tt)+] : {$($entry:tt)*} $(, $($rest:tt)*)?) => {
        $object.insert(($($key)+).into(), $crate::__json!({$($entry)*}));
        $crate::__json_entries!($object [] $($($rest)*)?);
    };
    ($object:ident [$($key:tt)+] : $value:expr $(, $($rest:tt)*)?) => {
        $object.insert(($($key)+).into(), $crate::__json!($value));
        $crate::__json_entries!($object [] $($($rest)*)?);
    };
    ($object:ident [$($key:tt)*] $next:tt $($rest:tt)*) => {
        $crate::__json_entries!($object [$($key)* $next] $($rest)*);
    };
}
