//! Code generated from the table of graders, and who grades: code, commands, or the judges that graders ask.

use super::{Grader, GraderConfig};

use crate::json::{FromJson, ToJson};
use crate::{Command, Sealing, Value};

/// Generates [`GraderConfig`](super::GraderConfig) and its functions from the table.
macro_rules! grader_config {
    ($($(#[doc = $doc:literal])* $variant:ident $(($settings:ty))? = $name:literal, $kind:ident, $grade:path, $example:literal;)*) => {
        /// The type of a grader and its settings.
        #[derive(Debug, Clone, PartialEq, ToJson, FromJson)]
        #[non_exhaustive]
        pub enum GraderConfig {
            $(#[doc = concat!("`", $name, "`")] $(#[doc = $doc])* #[json(rename = $name)] $variant $(($settings))?,)*
            /// A grader registered in Rust decides.
            #[json(rename = "user")]
            User {
                /// The registered name, as the file writes it.
                grader: String,
                /// Its settings.
                #[json(default, skip_if = "Object::is_empty")]
                config: Object,
            },
        }

        /// Names of all built-in grader types, in the order in which they are documented.
        pub const BUILT_IN: &[&str] = &[$($name,)*];

        /// The [kind](GraderConfig::kind) of a built-in type; `None` for other names.
        pub fn built_in_kind(type_name: &str) -> Option<GraderKind> {
            match type_name {
                $($name => Some(GraderKind::$kind),)*
                _ => None,
            }
        }

        /// The tables of the built-in types, in the order in which they are documented.
        pub static TABLES: &[&crate::keys::Table] = &[$({
            use crate::keys::Table;

            const SETTINGS: &Table = {
                #[allow(unused_variables, reason = "of a type without settings")]
                let table = Table::NONE;
                $(let table = <$settings as crate::keys::Keys>::TABLE;)?
                table
            };
            static TABLE: Table = common_keys::grader_table(SETTINGS, $name, concat!("`", $name, "`"), concat!($($doc),*).trim_ascii_start(), $example);
            &TABLE
        },)*];

        impl GraderConfig {
            /// The settings of the built-in type `name`, from checked values; `None` if a problem was reported.
            pub fn from_parts(name: &str, parts: crate::keys::Parts) -> Option<Self> {
                match name {
                    $($name => Some(Self::$variant $((parts.into_value::<$settings>()?))?),)*
                    _ => None,
                }
            }

            /// The type as files and records name it: a built-in type, or the name of a registered grader.
            pub fn type_name(&self) -> &str {
                match self {
                    $(Self::$variant { .. } => $name,)*
                    Self::User { grader, .. } => grader,
                }
            }

            /// What the settings say to code that does not know the type. A type without settings, and a grader in Rust, say nothing.
            pub fn settings(&self) -> &dyn GraderSettings {
                match self {
                    $(Self::$variant $(($crate::settings_of!($settings, settings)))? => {
                        let known: &[&dyn GraderSettings] = &[$($crate::settings_of!($settings, settings),)? &()];
                        known[0]
                    })*
                    Self::User { .. } => &(),
                }
            }

            /// As [`settings`](Self::settings), to change them; `None` without any.
            pub fn settings_mut(&mut self) -> Option<&mut dyn GraderSettings> {
                match self {
                    $($(Self::$variant($crate::settings_of!($settings, settings)) => Some(settings),)?)*
                    _ => None,
                }
            }

            /// Who decides: the judge for [`GraderKind::Model`]. A registered grader may be of another kind.
            pub fn kind(&self) -> GraderKind {
                match self {
                    $(Self::$variant { .. } => GraderKind::$kind,)*
                    Self::User { .. } => GraderKind::Code,
                }
            }
        }
    };
}

/// The name of the variable that holds the settings, in a type that has settings.
#[doc(hidden)]
#[macro_export]
macro_rules! settings_of {
    ($settings:ty, $name:ident) => {
        $name
    };
}

pub(super) use grader_config;

/// The types of graders that check a limit or which tools are called: [guards](Grader::is_guard), except for a `skill-trigger`
/// that wants the skill to be used, by `should_trigger` or by `negate`.
pub const GUARDS: &[&str] =
    &["latency", "cost", "token-usage", "execution-metrics", "tool-trajectory", "skill-trigger"];

/// Kind of a grader.
///
/// ```
/// use evalsuite_schema::GraderKind;
///
/// assert_eq!(serde_json::to_string(&GraderKind::Model)?, r#""model""#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, ToJson, FromJson)]
#[non_exhaustive]
pub enum GraderKind {
    /// Code in this process.
    #[default]
    Code,
    /// A language model.
    Model,
    /// A person.
    Human,
    /// A program.
    Command,
}

/// A judge that a grader asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AskedJudge<'g> {
    /// The default judge.
    Default,
    /// The judge with this name.
    Named(&'g str),
}

/// What the settings of a type say to code that does not know the type.
pub trait GraderSettings {
    /// What the type adds to the name of a grader without one; `None`: the name is the type.
    fn name_part(&self) -> Option<String> {
        None
    }

    /// The texts that it looks for.
    fn texts(&self) -> Vec<&str> {
        Vec::new()
    }

    /// The pattern that it matches and its flags, which need a feature of the runtime.
    fn pattern(&self) -> Option<(&str, &str)> {
        None
    }

    /// The tools that it names, each with whether it has to be called.
    fn tools(&self) -> Vec<(&str, bool)> {
        Vec::new()
    }

    /// Whether one of the [`GUARDS`] is a guard with these settings, and with `negate` or without.
    fn is_guard(&self, _negate: bool) -> bool {
        true
    }

    /// The JSON Schema that it validates against, which needs a feature of the runtime.
    fn json_schema(&self) -> Option<&Value> {
        None
    }

    /// The judge that it asks, without what its members ask. For a registered grader, this is not known here.
    fn asked_judge(&self) -> Option<AskedJudge<'_>> {
        None
    }

    /// Whether it compares the answer with the accepted one.
    fn compares_with_baseline(&self) -> bool {
        false
    }

    /// The command that it runs.
    fn command(&self) -> Option<&Command> {
        None
    }

    /// What the command may use.
    fn sealing(&self) -> Option<&Sealing> {
        None
    }

    /// The graders in it.
    fn members(&self) -> &[Grader] {
        &[]
    }

    /// As [`members`](Self::members), to change them.
    fn members_mut(&mut self) -> &mut [Grader] {
        &mut []
    }
}

impl GraderSettings for () {}

impl GraderConfig {
    /// The judge that the grader itself asks, without what the members of a composite ask. For a registered grader,
    /// this is not known here.
    pub fn asked_judge(&self) -> Option<AskedJudge<'_>> {
        self.settings().asked_judge()
    }
}

impl Grader {
    /// Whether the grader is a guard by its type: it checks a limit or which tools are called. Unless it asks for partial credit, its verdict is
    /// not averaged with those of other graders: a case fails if the verdict is `fail`.
    pub fn is_guard(&self) -> bool {
        GUARDS.contains(&self.config.type_name()) && self.config.settings().is_guard(self.negate)
    }

    /// Whether it can be a guard: a `min_score` asks for partial credit, and with a weight of 0 the result is only shown.
    pub fn counts_entirely(&self) -> bool {
        self.min_score.is_none() && self.weight > 0.0
    }

    /// The grader and all graders in it, a composite before its members.
    pub fn with_members(&self) -> impl Iterator<Item = &Self> {
        let mut waiting = vec![self];
        std::iter::from_fn(move || {
            let grader = waiting.pop()?;
            waiting.extend(grader.config.settings().members().iter().rev());
            Some(grader)
        })
    }
}
