//! Code generated from the table of graders, and who grades: code, commands, or the judges that graders ask.

use super::{Aggregator, Composite, Grader, GraderConfig};

use crate::json::{FromJson, ToJson};

/// Generates [`GraderConfig`](super::GraderConfig) and its functions from the table.
macro_rules! grader_config {
    ($($(#[doc = $doc:literal])* $variant:ident $(($settings:ty))? = $name:literal, $kind:ident, $grade:path, $example:literal;)*) => {
        /// The type of a grader and its settings.
        #[derive(Debug, Clone, PartialEq, ToJson, FromJson)]
        #[non_exhaustive]
        pub enum GraderConfig {
            $($(#[doc = $doc])* #[json(rename = $name)] $variant $(($settings))?,)*
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
            static TABLE: Table = keys::grader_table(SETTINGS, $name, concat!("`", $name, "`"), concat!($($doc),*).trim_ascii_start(), $example);
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

pub(super) use grader_config;

/// The types of graders that check a limit or which tools are called: [guards](GraderConfig::is_guard), except for a `skill-trigger`
/// that wants the skill to be used.
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
#[json(rename_all = "lowercase")]
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

impl GraderConfig {
    /// Whether the grader itself validates against a JSON Schema, which needs a feature of the runtime.
    pub fn needs_json_schema(&self) -> bool {
        match self {
            Self::JsonSchema(_) => true,
            Self::ContainsJson(config) => config.schema.is_some(),
            _ => false,
        }
    }

    /// Whether the grader is a guard: it checks a limit or which tools are called, and without a `min_score` its verdict is not averaged
    /// with those of other graders. A case fails if the verdict is `fail`.
    pub fn is_guard(&self) -> bool {
        let is_wanted = matches!(self, Self::SkillTrigger(config) if config.should_trigger);
        GUARDS.contains(&self.type_name()) && !is_wanted
    }

    /// The judge that the grader itself asks, without what the members of a composite ask. For a registered grader,
    /// this is not known here.
    pub fn asked_judge(&self) -> Option<AskedJudge<'_>> {
        let settings = match self {
            Self::LlmGrader(config) => &config.judge,
            Self::Rubrics(config) => &config.judge,
            Self::Compare(config) => &config.judge,
            Self::Composite(Composite { aggregator: Aggregator::LlmGrader { .. }, .. }) => {
                return Some(AskedJudge::Default);
            }
            _ => return None,
        };
        Some(settings.target.as_deref().map_or(AskedJudge::Default, AskedJudge::Named))
    }
}

impl Grader {
    /// Whether the grader is a guard by its type.
    pub fn is_guard(&self) -> bool {
        self.config.is_guard() && self.counts_entirely()
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
            if let GraderConfig::Composite(composite) = &grader.config {
                waiting.extend(composite.members.iter().rev());
            }
            Some(grader)
        })
    }
}
