use std::{future::Future, marker::PhantomData, sync::Arc};

use evalsuite_schema::{Object, record::GraderKind};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{
    model::{evidence::Evidence, score::Score},
    platform::cancel::Cancel,
};

/// A grader as a type, where a function is not enough.
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

    /// Who decides.
    fn kind(&self) -> GraderKind {
        GraderKind::Code
    }

    /// Lowest value of a passing verdict, 0 to 1, where the entry has no `min_score`. `None`: as for every grader.
    fn pass_mark(&self) -> Option<f64> {
        None
    }

    /// Whether it asks a judge. A case with such a grader is skipped where there is no judge.
    fn needs_judge(&self) -> bool {
        false
    }
}

/// What can be a grader: `fn(&Evidence) -> R`, `fn(C, &Evidence) -> R`, each also `async`, or a [`Grader`].
///
/// `C` is decoded from the entry's `config`. `R` is anything that becomes a [`Score`]: `bool`, `f64`,
/// `Vec<Assertion>`, `Score`, an `Option` or `Result` of these. A panic is an error of the grader.
///
/// `Marker` tells these forms apart and is always inferred.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a grader",
    note = "a grader is `fn(&Evidence<'_>) -> R` or `fn(Config, &Evidence<'_>) -> R`, each also `async`, or a type that implements `evalsuite::Grader`",
    note = "`R` is `bool`, `f64`, `Vec<Assertion>`, `Score`, or an `Option` or `Result` of these; `Config` implements `serde::Deserialize`"
)]
pub trait IntoGrader<Marker> {
    /// The grader in the form the suite keeps.
    fn into_grader(self) -> BoundGrader;
}

/// A grader bound to a suite.
#[derive(Clone)]
pub struct BoundGrader(pub(crate) Arc<dyn Grade>);

impl std::fmt::Debug for BoundGrader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BoundGrader").finish_non_exhaustive()
    }
}

/// The grader, and that it asks a judge: a case with it is skipped before its agent runs where there is no judge, instead of
/// being an error afterwards.
///
/// ```ignore
/// include_eval_suite!("suites/card_agent", agent = card_agent, graders = ["tone" => evalsuite::asks_judge(tone)]);
/// ```
///
/// A type says it itself, see [`Grader::needs_judge`].
pub fn asks_judge<M>(grader: impl IntoGrader<M>) -> BoundGrader {
    struct Judged(BoundGrader);

    impl Grade for Judged {
        fn check(&self, config: &Object) -> Result<(), String> {
            self.0.0.check(config)
        }

        fn grade(&self, config: &Object, evidence: &Evidence<'_>, cancel: &Cancel) -> Score {
            self.0.0.grade(config, evidence, cancel)
        }

        fn is_cooperative(&self) -> bool {
            self.0.0.is_cooperative()
        }

        fn kind(&self) -> GraderKind {
            self.0.0.kind()
        }

        fn pass_mark(&self) -> Option<f64> {
            self.0.0.pass_mark()
        }

        fn needs_judge(&self) -> bool {
            true
        }
    }

    BoundGrader(Arc::new(Judged(grader.into_grader())))
}

/// Marks graders that are bound already.
#[derive(Debug)]
pub struct Bound;

impl IntoGrader<Bound> for BoundGrader {
    fn into_grader(self) -> BoundGrader {
        self
    }
}

/// What is left of a grader once its form does not matter: a call that blocks its thread.
pub(crate) trait Grade: Send + Sync {
    /// Whether `config` can be decoded, without grading anything.
    fn check(&self, config: &Object) -> Result<(), String>;

    fn grade(&self, config: &Object, evidence: &Evidence<'_>, cancel: &Cancel) -> Score;

    /// Whether a cancelled call ends by itself.
    fn is_cooperative(&self) -> bool;

    fn kind(&self) -> GraderKind {
        GraderKind::Code
    }

    fn pass_mark(&self) -> Option<f64> {
        None
    }

    fn needs_judge(&self) -> bool {
        false
    }
}

fn decode<C: DeserializeOwned>(config: &Object) -> Result<C, String> {
    C::deserialize(Value::Object(config.clone())).map_err(|error| error.to_string())
}

fn refuse_config(config: &Object) -> Result<(), String> {
    match config.keys().next() {
        None => Ok(()),
        Some(key) => Err(format!("the grader takes no config, but `{key}` is set")),
    }
}

fn rejected(error: &str) -> Score {
    Score::error(format!("config rejected: {error}"))
}

fn with_config<C: DeserializeOwned>(config: &Object, grade: impl FnOnce(C) -> Score) -> Score {
    decode(config).map_or_else(|error| rejected(&error), grade)
}

fn without_config(config: &Object, grade: impl FnOnce() -> Score) -> Score {
    refuse_config(config).map_or_else(|error| rejected(&error), |()| grade())
}

fn finish<R: Into<Score>>(result: std::io::Result<Option<R>>) -> Score {
    match result {
        Ok(Some(score)) => score.into(),
        Ok(None) => Score::error("cancelled"),
        Err(error) => Score::error(format!("cannot start an async runtime: {error}")),
    }
}

/// Marks types that implement [`Grader`].
#[derive(Debug)]
pub struct TypeGrader;

impl<G: Grader> IntoGrader<TypeGrader> for G {
    fn into_grader(self) -> BoundGrader {
        struct Typed<G>(G);

        impl<G: Grader> Grade for Typed<G> {
            fn check(&self, config: &Object) -> Result<(), String> {
                decode::<G::Config>(config).map(drop)
            }

            fn grade(&self, config: &Object, evidence: &Evidence<'_>, cancel: &Cancel) -> Score {
                with_config(config, |config| finish(cancel.block_on(self.0.grade(config, evidence))))
            }

            fn is_cooperative(&self) -> bool {
                true
            }

            fn kind(&self) -> GraderKind {
                self.0.kind()
            }

            fn pass_mark(&self) -> Option<f64> {
                self.0.pass_mark()
            }

            fn needs_judge(&self) -> bool {
                self.0.needs_judge()
            }
        }

        BoundGrader(Arc::new(Typed(self)))
    }
}

struct Function<F, M>(F, PhantomData<fn() -> M>);

impl<F, M> Function<F, M> {
    fn bind(function: F) -> BoundGrader
    where
        Self: Grade + 'static,
    {
        BoundGrader(Arc::new(Self(function, PhantomData)))
    }
}

/// Marks functions of the evidence.
#[derive(Debug)]
pub struct PlainGrader<R>(PhantomData<fn() -> R>);

impl<F, R> IntoGrader<PlainGrader<R>> for F
where
    F: Fn(&Evidence<'_>) -> R + Send + Sync + 'static,
    R: Into<Score> + 'static,
{
    fn into_grader(self) -> BoundGrader {
        Function::<F, PlainGrader<R>>::bind(self)
    }
}

impl<F, R> Grade for Function<F, PlainGrader<R>>
where
    F: Fn(&Evidence<'_>) -> R + Send + Sync,
    R: Into<Score>,
{
    fn check(&self, config: &Object) -> Result<(), String> {
        refuse_config(config)
    }

    fn grade(&self, config: &Object, evidence: &Evidence<'_>, _cancel: &Cancel) -> Score {
        without_config(config, || (self.0)(evidence).into())
    }

    fn is_cooperative(&self) -> bool {
        false
    }
}

/// Marks functions of a config and the evidence.
#[derive(Debug)]
pub struct ConfigGrader<C, R>(PhantomData<fn() -> (C, R)>);

impl<F, C, R> IntoGrader<ConfigGrader<C, R>> for F
where
    F: Fn(C, &Evidence<'_>) -> R + Send + Sync + 'static,
    C: DeserializeOwned + 'static,
    R: Into<Score> + 'static,
{
    fn into_grader(self) -> BoundGrader {
        Function::<F, ConfigGrader<C, R>>::bind(self)
    }
}

impl<F, C, R> Grade for Function<F, ConfigGrader<C, R>>
where
    F: Fn(C, &Evidence<'_>) -> R + Send + Sync,
    C: DeserializeOwned,
    R: Into<Score>,
{
    fn check(&self, config: &Object) -> Result<(), String> {
        decode::<C>(config).map(drop)
    }

    fn grade(&self, config: &Object, evidence: &Evidence<'_>, _cancel: &Cancel) -> Score {
        with_config(config, |config| (self.0)(config, evidence).into())
    }

    fn is_cooperative(&self) -> bool {
        false
    }
}

/// Marks async functions of the evidence.
#[derive(Debug)]
pub struct AsyncGrader<R>(PhantomData<fn() -> R>);

impl<F, R> IntoGrader<AsyncGrader<R>> for F
where
    F: AsyncFn(&Evidence<'_>) -> R + Send + Sync + 'static,
    R: Into<Score> + 'static,
{
    fn into_grader(self) -> BoundGrader {
        Function::<F, AsyncGrader<R>>::bind(self)
    }
}

impl<F, R> Grade for Function<F, AsyncGrader<R>>
where
    F: AsyncFn(&Evidence<'_>) -> R + Send + Sync,
    R: Into<Score>,
{
    fn check(&self, config: &Object) -> Result<(), String> {
        refuse_config(config)
    }

    fn grade(&self, config: &Object, evidence: &Evidence<'_>, cancel: &Cancel) -> Score {
        without_config(config, || finish(cancel.block_on((self.0)(evidence))))
    }

    fn is_cooperative(&self) -> bool {
        true
    }
}

/// Marks async functions of a config and the evidence.
#[derive(Debug)]
pub struct AsyncConfigGrader<C, R>(PhantomData<fn() -> (C, R)>);

impl<F, C, R> IntoGrader<AsyncConfigGrader<C, R>> for F
where
    F: AsyncFn(C, &Evidence<'_>) -> R + Send + Sync + 'static,
    C: DeserializeOwned + 'static,
    R: Into<Score> + 'static,
{
    fn into_grader(self) -> BoundGrader {
        Function::<F, AsyncConfigGrader<C, R>>::bind(self)
    }
}

impl<F, C, R> Grade for Function<F, AsyncConfigGrader<C, R>>
where
    F: AsyncFn(C, &Evidence<'_>) -> R + Send + Sync,
    C: DeserializeOwned,
    R: Into<Score>,
{
    fn check(&self, config: &Object) -> Result<(), String> {
        decode::<C>(config).map(drop)
    }

    fn grade(&self, config: &Object, evidence: &Evidence<'_>, cancel: &Cancel) -> Score {
        with_config(config, |config| finish(cancel.block_on((self.0)(config, evidence))))
    }

    fn is_cooperative(&self) -> bool {
        true
    }
}
