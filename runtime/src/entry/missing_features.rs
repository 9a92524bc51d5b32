//! What generated code says about features that are not compiled in.

/// Expands to nothing: evalsuite has its feature `json-schema`.
#[cfg(feature = "json-schema")]
#[doc(hidden)]
#[macro_export]
macro_rules! __without_json_schema {
    ($($error:tt)*) => {};
}

/// Expands to the error it is called with: evalsuite does not have its feature `json-schema`.
#[cfg(not(feature = "json-schema"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __without_json_schema {
    ($($error:tt)*) => { $($error)* };
}
