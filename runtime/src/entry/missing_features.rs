//! Compile errors of generated code that needs a feature that is not enabled.

/// `FEATURE: MACRO`, each a macro that expands to nothing with the feature, and without it to the error that it is called with. The first token is
/// the `$` of their parameters.
macro_rules! errors_without {
    ($d:tt $($feature:literal: $name:ident,)*) => {$(
        #[cfg(feature = $feature)]
        #[doc(hidden)]
        #[macro_export]
        macro_rules! $name {
            ($d($d error:tt)*) => {};
        }

        #[cfg(not(feature = $feature))]
        #[doc(hidden)]
        #[macro_export]
        macro_rules! $name {
            ($d($d error:tt)*) => { $d($d error)* };
        }
    )*};
}

errors_without! { $
    "json-schema": __without_json_schema,
    "patterns": __without_patterns,
    "unicode-patterns": __without_unicode_patterns,
    "sealed": __without_sealed,
    "cli-agents": __without_cli_agents,
    "grader-tests": __without_grader_tests,
    "users": __without_users,
    "acp": __without_acp,
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
