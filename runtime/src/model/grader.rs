//! Graders in Rust: the trait, and functions as graders.

use std::any::type_name;
use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::sync::Arc;

use evalsuite_records::record::GraderKind;
use evalsuite_schema::{Object, Value};
use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer};

use crate::model::callable::{AsyncFunction, Callable, Implements, PlainFunction, block_on};
use crate::model::evidence::Evidence;
use crate::model::score::Score;
use crate::platform::time_limit::Cancel;

/// A grader as a type, for a grader with its own data or pass mark.
///
/// Functions are graders without this trait, see [`IntoGrader`].
///
/// ```
/// use evalsuite::{Evidence, Grader, Score};
///
/// struct Shorter;
///
/// #[derive(serde::Deserialize)]
/// struct Limit { characters: usize }
///
/// impl Grader for Shorter {
///     type Config = Limit;
///
///     async fn grade(&self, limit: Limit, evidence: &Evidence<'_>) -> Score {
///         (evidence.answer().chars().count() <= limit.characters).into()
///     }
/// }
/// ```
pub trait Grader: Send + Sync + 'static {
    /// The `config` of an entry in the suite's files; `{}` where none is written.
    type Config: DeserializeOwned;

    /// Grades one trial.
    fn grade(&self, config: Self::Config, evidence: &Evidence<'_>) -> impl Future<Output = Score>;

    /// Kind of the grader in records.
    fn kind(&self) -> GraderKind {
        GraderKind::Code
    }

    /// Lowest value that passes, 0 to 1, where the entry has no `min_score`. `None`: the default of the suite's layout.
    fn pass_mark(&self) -> Option<f64> {
        None
    }

    /// Whether the grader asks a judge. A case with such a grader is skipped if there is no judge.
    fn needs_judge(&self) -> bool {
        false
    }
}

/// Types that can be a grader: `fn(&Evidence) -> R`, `fn(C, &Evidence) -> R`, each also `async`, or a [`Grader`].
///
/// `C` is decoded from the entry's `config`. `R` is any type that converts into a [`Score`]: `bool`, `f64`,
/// `Vec<Assertion>`, `Score`, an `Option` or `Result` of these. A panic is an error of the grader.
///
/// ```
/// use evalsuite::{Assertion, Evals, EvalSuite, Evidence};
///
/// fn completed(evidence: &Evidence<'_>) -> bool {
///     evidence.answer().starts_with("Saved")
/// }
///
/// #[derive(serde::Deserialize)]
/// struct MustContain {
///     substrings: Vec<String>,
/// }
///
/// fn must_contain(config: MustContain, evidence: &Evidence<'_>) -> Vec<Assertion> {
///     let found = |text: &String| Assertion::new(format!("contains `{text}`"), evidence.answer().contains(text));
///     config.substrings.iter().map(found).collect()
/// }
///
/// # fn example(SUITE: &'static EvalSuite) -> Evals {
/// Evals::new(SUITE).with_grader("completed", completed).with_grader("must-contain", must_contain)
/// # }
/// ```
///
/// `Marker` distinguishes these forms and is always inferred.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a grader",
    note = "a grader is `fn(&Evidence<'_>) -> R` or `fn(Config, &Evidence<'_>) -> R`, each also `async`, or a type that implements `evalsuite::Grader`",
    note = "`R` is `bool`, `f64`, `Vec<Assertion>`, `Score`, or an `Option` or `Result` of these; `Config` implements `serde::Deserialize`"
)]
pub trait IntoGrader<Marker> {
    /// The grader as [`Evals`](crate::Evals) stores it.
    fn into_grader(self) -> BoundGrader;
}

/// A grader of any form. It can be passed wherever a grader is expected.
///
/// ```
/// use evalsuite::{BoundGrader, Evidence, IntoGrader};
///
/// fn is_short(evidence: &Evidence<'_>) -> bool {
///     evidence.answer().len() < 200
/// }
///
/// async fn is_polite(evidence: &Evidence<'_>) -> bool {
///     evidence.answer().contains("please")
/// }
///
/// let graders: Vec<(&str, BoundGrader)> = vec![("is-short", is_short.into_grader()), ("is-polite", is_polite.into_grader())];
/// ```
#[derive(Clone)]
pub struct BoundGrader {
    pub(crate) callable: Callable<GradeFunction>,
    check: fn(&Object) -> Result<(), ConfigError>,
    pub(crate) kind: GraderKind,
    pub(crate) pass_mark: Option<f64>,
    pub(crate) needs_judge: bool,
}

impl fmt::Debug for BoundGrader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("BoundGrader").field(&self.callable).finish()
    }
}

type GradeFunction = dyn Fn(&Object, &Evidence<'_>, &Cancel) -> Score + Send + Sync + 'static;

impl BoundGrader {
    fn new<C: DeserializeOwned>(
        name: &'static str,
        bind: fn(&'static str, Arc<GradeFunction>) -> Callable<GradeFunction>,
        grade: impl Fn(C, &Evidence<'_>, &Cancel) -> Score + Send + Sync + 'static,
    ) -> Self {
        let grade = move |config: &Object, evidence: &Evidence<'_>, cancel: &Cancel| match decode(config) {
            Ok(config) => grade(config, evidence, cancel),
            Err(error) => Score::error(format!("config rejected: {error}")),
        };
        Self {
            callable: bind(name, Arc::new(grade)),
            check: |config| decode::<C>(config).map(drop),
            kind: GraderKind::Code,
            pass_mark: None,
            needs_judge: false,
        }
    }

    /// Checks whether `config` can be decoded, without grading.
    pub(crate) fn check(&self, config: &Object) -> Result<(), ConfigError> {
        (self.check)(config)
    }
}

/// Why a config cannot be decoded. It is displayed with the path of the key: `rules[0].min: invalid type: …`.
pub(crate) type ConfigError = serde_path_to_error::Error<serde_json::Error>;

fn decode<C: DeserializeOwned>(config: &Object) -> Result<C, ConfigError> {
    serde_path_to_error::deserialize(Value::Object(config.clone()))
}

/// The config of a grader that takes none.
struct NoConfig;

impl<'de> Deserialize<'de> for NoConfig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Object::deserialize(deserializer)?.keys().next() {
            None => Ok(Self),
            Some(key) => Err(D::Error::custom(format_args!("the grader takes no config, but `{key}` is set"))),
        }
    }
}

/// Declares that a grader asks a judge: without a judge, its cases are skipped before their agents run, instead of being errors
/// afterwards.
///
/// ```
/// use evalsuite::{Evals, EvalSuite, Evidence, JudgeError, Score, asks_judge};
///
/// async fn tone(evidence: &Evidence<'_>) -> Result<Score, JudgeError> {
///     let polite: bool = evidence.judge().ask_json(format!("true or false: is this polite? {}", evidence.answer())).await?;
///     Ok(polite.into())
/// }
///
/// # fn example(SUITE: &'static EvalSuite) -> Evals {
/// Evals::new(SUITE).with_grader("tone", asks_judge(tone))
/// # }
/// ```
///
/// In the macro: `graders = ["tone" => evalsuite::asks_judge(tone)]`. A type declares it itself, see [`Grader::needs_judge`].
pub fn asks_judge<M>(grader: impl IntoGrader<M>) -> BoundGrader {
    BoundGrader { needs_judge: true, ..grader.into_grader() }
}

#[diagnostic::do_not_recommend]
impl IntoGrader<BoundGrader> for BoundGrader {
    fn into_grader(self) -> BoundGrader {
        self
    }
}

impl<G: Grader> IntoGrader<Implements> for G {
    fn into_grader(self) -> BoundGrader {
        let (kind, pass_mark, needs_judge) = (self.kind(), self.pass_mark(), self.needs_judge());
        let grade = move |config, evidence: &Evidence<'_>, cancel: &Cancel| {
            block_on(cancel, self.grade(config, evidence)).into()
        };
        BoundGrader { kind, pass_mark, needs_judge, ..BoundGrader::new(type_name::<G>(), Callable::cooperative, grade) }
    }
}

impl<F, R> IntoGrader<PlainFunction<R>> for F
where
    F: Fn(&Evidence<'_>) -> R + Send + Sync + 'static,
    R: Into<Score>,
{
    fn into_grader(self) -> BoundGrader {
        BoundGrader::new(type_name::<F>(), Callable::blocking, move |_: NoConfig, evidence, _| self(evidence).into())
    }
}

impl<F, R> IntoGrader<AsyncFunction<R>> for F
where
    F: AsyncFn(&Evidence<'_>) -> R + Send + Sync + 'static,
    R: Into<Score>,
{
    fn into_grader(self) -> BoundGrader {
        BoundGrader::new(type_name::<F>(), Callable::cooperative, move |_: NoConfig, evidence, cancel| {
            block_on(cancel, async { Into::<Score>::into(self(evidence).await) }).into()
        })
    }
}

/// Marks functions that take a config.
#[derive(Debug)]
pub struct WithConfig<C, M>(PhantomData<fn() -> (C, M)>);

impl<F, C, R> IntoGrader<WithConfig<C, PlainFunction<R>>> for F
where
    F: Fn(C, &Evidence<'_>) -> R + Send + Sync + 'static,
    C: DeserializeOwned,
    R: Into<Score>,
{
    fn into_grader(self) -> BoundGrader {
        BoundGrader::new(type_name::<F>(), Callable::blocking, move |config: C, evidence, _| {
            self(config, evidence).into()
        })
    }
}

impl<F, C, R> IntoGrader<WithConfig<C, AsyncFunction<R>>> for F
where
    F: AsyncFn(C, &Evidence<'_>) -> R + Send + Sync + 'static,
    C: DeserializeOwned,
    R: Into<Score>,
{
    fn into_grader(self) -> BoundGrader {
        BoundGrader::new(type_name::<F>(), Callable::cooperative, move |config: C, evidence, cancel| {
            block_on(cancel, async { Into::<Score>::into(self(config, evidence).await) }).into()
        })
    }
}
