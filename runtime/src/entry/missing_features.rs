//! Compile errors of generated code that needs a feature that is not enabled.

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

/// Expands to nothing: evalsuite has its feature `patterns`.
#[cfg(feature = "patterns")]
#[doc(hidden)]
#[macro_export]
macro_rules! __without_patterns {
    ($($error:tt)*) => {};
}

/// Expands to the error it is called with: evalsuite does not have its feature `patterns`.
#[cfg(not(feature = "patterns"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __without_patterns {
    ($($error:tt)*) => { $($error)* };
}

/// Expands to nothing: evalsuite has its feature `unicode-patterns`.
#[cfg(feature = "unicode-patterns")]
#[doc(hidden)]
#[macro_export]
macro_rules! __without_unicode_patterns {
    ($($error:tt)*) => {};
}

/// Expands to the error it is called with: evalsuite does not have its feature `unicode-patterns`.
#[cfg(not(feature = "unicode-patterns"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __without_unicode_patterns {
    ($($error:tt)*) => { $($error)* };
}

/// Expands to nothing: evalsuite has its feature `sealed`.
#[cfg(feature = "sealed")]
#[doc(hidden)]
#[macro_export]
macro_rules! __without_sealed {
    ($($error:tt)*) => {};
}

/// Expands to the error it is called with: evalsuite does not have its feature `sealed`.
#[cfg(not(feature = "sealed"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __without_sealed {
    ($($error:tt)*) => { $($error)* };
}

/// Expands to nothing: evalsuite has its feature `cli-agents`.
#[cfg(feature = "cli-agents")]
#[doc(hidden)]
#[macro_export]
macro_rules! __without_cli_agents {
    ($($error:tt)*) => {};
}

/// Expands to the error it is called with: evalsuite does not have its feature `cli-agents`.
#[cfg(not(feature = "cli-agents"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __without_cli_agents {
    ($($error:tt)*) => { $($error)* };
}

/// Expands to nothing: evalsuite has its feature `grader-tests`.
#[cfg(feature = "grader-tests")]
#[doc(hidden)]
#[macro_export]
macro_rules! __without_grader_tests {
    ($($error:tt)*) => {};
}

/// Expands to the error it is called with: evalsuite does not have its feature `grader-tests`.
#[cfg(not(feature = "grader-tests"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __without_grader_tests {
    ($($error:tt)*) => { $($error)* };
}

/// Expands to nothing: evalsuite has its feature `users`.
#[cfg(feature = "users")]
#[doc(hidden)]
#[macro_export]
macro_rules! __without_users {
    ($($error:tt)*) => {};
}

/// Expands to the error it is called with: evalsuite does not have its feature `users`.
#[cfg(not(feature = "users"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __without_users {
    ($($error:tt)*) => { $($error)* };
}

/// Expands to the suite with its simulated users: evalsuite has its feature `users`.
#[cfg(feature = "users")]
#[doc(hidden)]
#[macro_export]
macro_rules! __with_users {
    ($evals:expr; $($name:expr => $user:expr),*) => { $evals $(.with_user($name, $user))* };
}

/// Expands to the suite without simulated users: evalsuite does not have its feature `users`, which is an error.
#[cfg(not(feature = "users"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __with_users {
    ($evals:expr; $($users:tt)*) => {
        $evals
    };
}

/// Expands to the agents of a targets file: evalsuite has its feature `cli-agents`.
#[cfg(feature = "cli-agents")]
#[doc(hidden)]
#[macro_export]
macro_rules! __cli_agents {
    ($($error:tt)*) => {
        $crate::CliAgents
    };
}

/// Expands to the error it is called with, as an expression: evalsuite does not have its feature `cli-agents`.
#[cfg(not(feature = "cli-agents"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __cli_agents {
    ($($error:tt)*) => { $($error)* };
}

/// Expands to nothing: evalsuite has its feature `acp`.
#[cfg(feature = "acp")]
#[doc(hidden)]
#[macro_export]
macro_rules! __without_acp {
    ($($error:tt)*) => {};
}

/// Expands to the error it is called with: evalsuite does not have its feature `acp`.
#[cfg(not(feature = "acp"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __without_acp {
    ($($error:tt)*) => { $($error)* };
}

/// Expands to the agents of a targets file, those that speak the Agent Client Protocol among them: evalsuite has its feature `acp`.
#[cfg(feature = "acp")]
#[doc(hidden)]
#[macro_export]
macro_rules! __acp_agents {
    ($($error:tt)*) => {
        $crate::AcpAgents
    };
}

/// Expands to the error it is called with, as an expression: evalsuite does not have its feature `acp`.
#[cfg(not(feature = "acp"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __acp_agents {
    ($($error:tt)*) => { $($error)* };
}

/// Expands to how a suite was loaded: evalsuite has its feature `reload`.
#[cfg(feature = "reload")]
#[doc(hidden)]
#[macro_export]
macro_rules! __origin {
    ($($origin:tt)*) => { ::core::option::Option::Some(&$($origin)*) };
}

/// Expands to nothing that is kept in the program: evalsuite does not have its feature `reload`.
#[cfg(not(feature = "reload"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __origin {
    ($($field:tt)*) => {
        ::core::option::Option::None
    };
}
