//! Runs random inputs through the product and an oracle, and compares the grades.

use std::cell::Cell;
use std::fmt::Display;
use std::str::FromStr;
use std::time::Instant;

use evalsuite::__private::{AgentWork, GradableEvidence};
use evalsuite::Verdict;
use evalsuite::record::{GraderRecord, GraderState};
use evalsuite_schema::json::Value;
use evalsuite_schema::{Grader, Location};
use num_traits::ToPrimitive;
use proptest::strategy::Strategy;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};

use crate::decimal::{Decimal, Exact};

/// Inputs of a family unless `TEST_ORACLE_CASES` says another number.
const INPUTS: u32 = 500;

/// What an oracle says about an input.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Expected {
    /// Score and whether the grader passes.
    Decided(Exact, bool),
    /// The grader is undecided.
    Undecided,
    /// The grader is an error.
    Error,
}

impl Expected {
    /// A grader that scores 1 or 0.
    pub(crate) fn passed(passes: bool) -> Self {
        Self::Decided(Exact::from_integer(i64::from(passes).into()), passes)
    }
}

/// How the result of a guard is expected: without a written mark, everything has to hold, and an inverted verdict is swapped.
pub(crate) fn of_guard(score: Exact, is_forced: bool, min_score: Option<Decimal>, negate: bool) -> Expected {
    let one = Exact::from_integer(1.into());
    let passes = !is_forced && score >= min_score.map_or(one.clone(), Decimal::exact);
    match (negate, min_score) {
        (false, _) => Expected::Decided(score, passes),
        (true, None) => Expected::Decided(one - score, !passes),
        (true, Some(mark)) => {
            let score = one - score;
            Expected::Decided(score.clone(), score >= mark.exact())
        }
    }
}

/// The value of an environment variable, or a default.
fn setting<T: FromStr<Err: Display>>(name: &str, default: T) -> T {
    match std::env::var(name) {
        Ok(text) => text.parse().unwrap_or_else(|error| panic!("{name}={text}: {error}")),
        Err(_) => default,
    }
}

/// Number of inputs of every family.
pub(crate) fn inputs() -> u32 {
    setting("TEST_ORACLE_CASES", INPUTS)
}

/// The seed of this process.
pub(crate) fn seed() -> u64 {
    setting("TEST_ORACLE_SEED", 0)
}

/// Checks `inputs()` random inputs.
///
/// # Panics
///
/// With a shrunken input for which `check` fails.
pub(crate) fn for_each<S: Strategy>(family: &str, strategy: S, check: impl Fn(&S::Value) -> Result<(), String>) {
    for_each_of(inputs(), family, strategy, check);
}

/// Checks this many random inputs.
pub(crate) fn for_each_of<S: Strategy>(
    cases: u32,
    family: &str,
    strategy: S,
    check: impl Fn(&S::Value) -> Result<(), String>,
) {
    let (seed, started, count) = (seed(), Instant::now(), Cell::new(0_u64));
    let config = Config { cases, failure_persistence: None, max_shrink_iters: 20_000, ..Config::default() };
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &bytes));
    let result = runner.run(&strategy, |input| {
        count.set(count.get() + 1);
        check(&input).map_err(TestCaseError::fail)
    });
    match result {
        Ok(()) => {}
        Err(TestError::Fail(why, input)) => {
            panic!("{family}, TEST_ORACLE_SEED={seed} TEST_ORACLE_CASES={cases}: {why}\nsmallest input: {input:?}")
        }
        Err(error) => panic!("{family}: {error}"),
    }
    println!("{family}: {} inputs with seed {seed}, 0 differences, {:.1?}", count.get(), started.elapsed());
}

/// A grader with these settings.
pub(crate) fn grader(config: Value) -> Grader {
    let shown = config.to_string();
    let config = evalsuite_schema::json::from_value(config).unwrap_or_else(|error| panic!("{shown}: {error}"));
    Grader::new("g", Location::new("EVAL.yaml", 1, 1), config)
}

/// The record of a grader.
pub(crate) fn graded(grader: &Grader, work: AgentWork) -> GraderRecord {
    GradableEvidence::new(work).grade(grader)
}

/// The work of an agent that only answers.
pub(crate) fn answered(answer: &str) -> AgentWork {
    AgentWork { answer: answer.to_owned(), ..AgentWork::default() }
}

/// Compares a record with what the oracle says.
pub(crate) fn compare(record: &GraderRecord, expected: &Expected) -> Result<(), String> {
    let same = match (record.state, expected) {
        (GraderState::Decided, Expected::Decided(score, passes)) => {
            is_close(record.value, score) && record.verdict == Some(Verdict::from_passed(*passes))
        }
        (GraderState::Undecided, Expected::Undecided) | (GraderState::Error, Expected::Error) => true,
        _ => false,
    };
    if same {
        return Ok(());
    }
    let expected = match expected {
        Expected::Decided(score, passes) => {
            format!("score {score}, {}", if *passes { "pass" } else { "fail" })
        }
        Expected::Undecided => "undecided".to_owned(),
        Expected::Error => "an error".to_owned(),
    };
    let texts: Vec<&str> = record.assertions.iter().map(|assertion| assertion.text.as_str()).collect();
    Err(format!(
        "the oracle expects {expected}; the product: {:?} {:?} {:?} {:?} {texts:?}",
        record.state, record.value, record.verdict, record.error
    ))
}

/// Whether a number of the product is this fraction, up to rounding.
pub(crate) fn is_close(value: Option<f64>, expected: &Exact) -> bool {
    let expected = expected.to_f64().expect("a fraction is a number");
    value.is_some_and(|value| (value - expected).abs() <= 1e-12)
}
