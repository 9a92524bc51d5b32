//! The baseline of a suite, and its accepted answers: files under version control. Both are JSON Lines with a header, then one line per
//! case and target, sorted by them.

use std::fmt::{self, Write};

use evalsuite_schema::decimal::is_same;
use evalsuite_schema::diagnostics::counted;
use evalsuite_schema::json::{FromJson, FromJsonOverDefault, ToJson, skip_empty};
use evalsuite_schema::sorting::sort_by;

use super::CaseIdentity;

/// The accepted results of a suite's cases.
///
/// Its text is JSON Lines: a [`BaselineHeader`], then one [`BaselineCase`] per case and target, sorted by them.
///
/// ```
/// use evalsuite_records::record::Baseline;
///
/// let text = r#"{"schema":"evalsuite.baseline/1","suite":"shop","commit":"557ca36","date":"2026-11-22T14:25:50.464Z","version":"0.1.0"}
/// {"case":"refund","target":"default","passed":3,"trials":3,"score":0.91,"spread":0.05,"input":"5d","graders":"a0"}
/// "#;
/// let baseline = Baseline::parse(text)?;
/// assert_eq!(baseline.cases[0].passed, 3);
/// assert_eq!(baseline.to_text(), text);
/// # Ok::<(), evalsuite_records::record::BaselineError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Baseline {
    /// Suite and run of the results.
    pub header: BaselineHeader,
    /// The results, by case and target.
    pub cases: Vec<BaselineCase>,
}

/// The first line of a baseline: the suite and run of its results.
#[skip_empty(path, module, runs)]
#[derive(Debug, Clone, Default, PartialEq, Eq, ToJson, FromJsonOverDefault)]
#[non_exhaustive]
pub struct BaselineHeader {
    /// [`BaselineHeader::SCHEMA`].
    pub schema: String,
    /// Name of the suite.
    pub suite: String,
    /// Directory of the suite relative to its package, with `/` separators; empty in files of older versions.
    pub path: String,
    /// Rust path of the module whose results these are, such as `evals::shop`, if several modules include the suite; else empty.
    pub module: String,
    /// Commit of the run that was accepted last, hexadecimal, with `+` if files differed from it; `None` outside of a repository.
    pub commit: Option<String>,
    /// When the newest accepted run started, such as `2026-11-22T14:25:50.464Z` (UTC); only the day in files of older versions.
    pub date: String,
    /// Ids of the last runs that were accepted, and of those whose results they took over, in the order in which they were first accepted:
    /// the trials of a run count once.
    pub runs: Vec<String>,
    /// Version of evalsuite that wrote the file.
    pub version: String,
}

/// Most trials of a case: what is computed from them takes time for each.
const MOST_TRIALS: u32 = 1_000_000;

impl BaselineHeader {
    /// Value of `schema` in files of this version.
    pub const SCHEMA: &'static str = "evalsuite.baseline/1";
    /// Most runs that are remembered.
    pub const RUNS: usize = 50;

    /// Remembers that a run was accepted. One that was accepted before stays in its place.
    pub fn add_run(&mut self, id: &str) {
        if !self.runs.iter().any(|known| known == id) {
            self.runs.push(id.to_owned());
            self.runs.drain(..self.runs.len().saturating_sub(Self::RUNS));
        }
    }
}

/// A line of a baseline: the accepted results of one case and target.
///
/// It has a state and a sample. The *state* is what tests hold the case to: the trials of all accepted runs since the case last changed, in
/// `passed` and `trials`. The *sample* is what scores are compared with: the planned trials of the run that was accepted last.
#[skip_empty(spread, counts_runs, outcomes, scores, stops_early, run, before, added, replaced, threshold, judges)]
#[derive(Debug, Clone, Default, PartialEq, ToJson, FromJsonOverDefault)]
#[non_exhaustive]
pub struct BaselineCase {
    /// Id of the case.
    pub case: String,
    /// Name of the target.
    pub target: String,
    /// Trials that passed, of all accepted runs since the case last changed, with those that repeated it.
    pub passed: u32,
    /// Trials that passed or failed in them, at least 1.
    pub trials: u32,
    /// Mean score of the planned trials of the run that was accepted last, 0 to 1.
    pub score: Option<f64>,
    /// Standard deviation of these scores (n − 1); `None` with fewer than two.
    pub spread: Option<f64>,
    /// Whether `passed` and `trials` count runs: the mean of its trials decides the case, or they are correlated.
    pub counts_runs: bool,
    /// Outcomes of these trials, in order: `P` passed, `F` failed. Empty in files of older versions, whose `passed` and `trials` are of
    /// one run.
    pub outcomes: String,
    /// Their scores, in order; empty if all of them equal `score`.
    pub scores: Vec<f64>,
    /// Whether trials end as soon as they decide the case.
    pub stops_early: bool,
    /// Id of the run that was accepted last with a result of the case; empty in files of older versions.
    pub run: String,
    /// `passed` and `trials` as they were before that run was accepted, which replaces its own results if it is accepted again; `None` if the
    /// case was new or another one, or was forced.
    pub before: Option<(u32, u32)>,
    /// What each run has added to `passed` and `trials`, in the order in which the runs were first accepted, with that of the run that was
    /// accepted last at the end: a run that is accepted again has its results in place of its earlier ones. Of the last ten runs; empty in
    /// files of older versions.
    pub added: Vec<AddedTrials>,
    /// Whether results of runs that were accepted before the first one in `added` count no more: the case has been raised or lowered since,
    /// or was forced.
    pub replaced: bool,
    /// SHA-256 of the input of the agent, hexadecimal.
    pub input: String,
    /// SHA-256 of the graders, hexadecimal.
    pub graders: String,
    /// The score with which a trial passes, 0 to 1; `None` in files of older versions.
    pub threshold: Option<f64>,
    /// The judges that were asked, as `name (model)`, sorted.
    pub judges: Vec<String>,
}

/// What a run has added to the state of a case.
#[derive(Debug, Clone, Default, PartialEq, Eq, ToJson, FromJsonOverDefault)]
#[non_exhaustive]
pub struct AddedTrials {
    /// Id of the run.
    pub run: String,
    /// Trials that passed, with those that repeated the case.
    pub passed: u32,
    /// Trials that passed or failed, at least 1.
    pub trials: u32,
}

/// How often a case passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum PassState {
    /// No trial passed.
    Fails,
    /// Some trials passed, some failed.
    Flaky,
    /// All trials passed.
    Passes,
}

impl PassState {
    /// The state for a number of passed trials.
    pub fn of(passed: u32, trials: u32) -> Self {
        match passed {
            0 => Self::Fails,
            passed if passed < trials => Self::Flaky,
            _ => Self::Passes,
        }
    }
}

impl BaselineCase {
    /// How often the case passed.
    pub fn state(&self) -> PassState {
        PassState::of(self.passed, self.trials)
    }

    /// Whether the case still has the input and the graders of the baseline, the same scores pass, and the same is counted.
    pub fn is_same_definition(&self, case: &CaseIdentity, threshold: f64, counts_runs: bool) -> bool {
        let has_same_threshold = self.threshold.is_none_or(|accepted| is_same(accepted, threshold));
        let has_same_digests = self.input == case.input_digest && self.graders == case.grader_digest;
        has_same_digests && has_same_threshold && self.counts_runs == counts_runs
    }

    /// Its key in the suite: case and target.
    pub fn key(&self) -> (&str, &str) {
        (&self.case, &self.target)
    }
}

impl KeyedLine for BaselineCase {
    fn key(&self) -> (&str, &str) {
        self.key()
    }

    /// A merge by hand easily leaves a line that no run can have. What is compared with it would be a claim about nothing.
    fn problem(&self) -> Option<String> {
        let Self { passed, trials, before, added, outcomes, scores, .. } = self;
        let added = added.iter().map(|added| (added.passed, added.trials));
        for (passed, trials) in [(*passed, *trials)].into_iter().chain(*before).chain(added) {
            if trials == 0 || passed > trials {
                return Some(format!("{passed} of {trials} trials passed, which is not a result"));
            }
            if trials > MOST_TRIALS {
                return Some(format!("{trials} trials are more than {MOST_TRIALS}"));
            }
        }
        if let Some(score) = self.score.iter().chain(scores).find(|score| !(0.0..=1.0).contains(*score)) {
            return Some(format!("the score {score} is not a number from 0 to 1"));
        }
        if outcomes.contains(|letter| !matches!(letter, 'P' | 'F')) {
            return Some(format!("the outcomes `{outcomes}` have other letters than `P` and `F`"));
        }
        (scores.len() > outcomes.len()).then(|| {
            format!("{} scores of {} are not results of trials", scores.len(), counted(outcomes.len(), "outcome"))
        })
    }
}

impl Baseline {
    /// Reads the text of a file.
    ///
    /// # Errors
    ///
    /// If a line is not what it has to be, or two are about the same case and target.
    pub fn parse(text: &str) -> Result<Self, BaselineError> {
        let (header, cases) = parse(text, BaselineHeader::SCHEMA, |header: &BaselineHeader| &header.schema)?;
        Ok(Self { header, cases })
    }

    /// Reads the header and the line of one case in the text of a file, without the other lines; `None` if there is no such line.
    ///
    /// # Errors
    ///
    /// If one of them is not a valid one, or there are two lines.
    pub fn find(text: &str, case: &str, target: &str) -> Result<Option<BaselineCase>, BaselineError> {
        parse_header(text, BaselineHeader::SCHEMA, |header: &BaselineHeader| &header.schema)?;
        // Ids are written as JSON texts: a line without this one is about another case.
        let id = evalsuite_schema::Value::from(case).to_string();
        let mut found: Option<(usize, BaselineCase)> = None;
        for (index, line) in text.lines().enumerate().skip(1).filter(|(_, line)| line.contains(&id)) {
            let line: BaselineCase = parse_line(index + 1, line)?;
            if line.key() != (case, target) {
                continue;
            }
            if let Some((first, _)) = found {
                return Err(listed_twice(line.key(), first, index + 1));
            }
            found = Some((index + 1, line));
        }
        Ok(found.map(|(_, line)| line))
    }

    /// The text of the file, with the cases sorted.
    pub fn to_text(&self) -> String {
        to_text(&self.header, &self.cases)
    }
}

/// Why the text of a baseline or of accepted answers cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BaselineError {
    line: usize,
    message: String,
}

impl BaselineError {
    pub(super) fn new(line: usize, message: impl Into<String>) -> Self {
        Self { line, message: message.into() }
    }

    /// Line of the file, from 1.
    pub fn line(&self) -> usize {
        self.line
    }
}

impl fmt::Display for BaselineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for BaselineError {}

/// The answers of the trials that were accepted as a baseline.
///
/// Its text is JSON Lines: an [`AcceptedAnswersHeader`], then one [`AcceptedAnswer`] per case and target, sorted by them.
///
/// ```
/// use evalsuite_records::record::AcceptedAnswers;
///
/// let text = r#"{"schema":"evalsuite.accepted-answers/1","suite":"shop"}
/// {"case":"refund","target":"default","input":"5d","answer":"19.90 are on their way.\n"}
/// "#;
/// let answers = AcceptedAnswers::parse(text)?;
/// assert_eq!(answers.find("refund", "default").unwrap().answer, "19.90 are on their way.\n");
/// assert_eq!(answers.to_text(), text);
/// # Ok::<(), evalsuite_records::record::BaselineError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AcceptedAnswers {
    /// Suite of the answers.
    pub header: AcceptedAnswersHeader,
    /// The answers, by case and target.
    pub answers: Vec<AcceptedAnswer>,
}

/// The first line of a file with accepted answers. It does not change with the answers, so that branches can be merged.
#[derive(Debug, Clone, Default, PartialEq, Eq, ToJson, FromJsonOverDefault)]
#[non_exhaustive]
pub struct AcceptedAnswersHeader {
    /// [`AcceptedAnswersHeader::SCHEMA`].
    pub schema: String,
    /// Name of the suite.
    pub suite: String,
}

impl AcceptedAnswersHeader {
    /// Value of `schema` in files of this version.
    pub const SCHEMA: &'static str = "evalsuite.accepted-answers/1";
}

/// A line of such a file: the accepted answer to one case, of one target.
#[derive(Debug, Clone, Default, PartialEq, Eq, ToJson, FromJsonOverDefault)]
#[non_exhaustive]
pub struct AcceptedAnswer {
    /// Id of the case.
    pub case: String,
    /// Name of the target.
    pub target: String,
    /// SHA-256 of the input of the agent, hexadecimal.
    pub input: String,
    /// The recorded answer: at most 64 KiB, without secrets; for a conversation, all its messages.
    pub answer: String,
}

impl KeyedLine for AcceptedAnswer {
    fn key(&self) -> (&str, &str) {
        (&self.case, &self.target)
    }
}

impl AcceptedAnswers {
    /// A suite without answers.
    pub fn new(suite: impl Into<String>) -> Self {
        let header = AcceptedAnswersHeader { schema: AcceptedAnswersHeader::SCHEMA.to_owned(), suite: suite.into() };
        Self { header, answers: Vec::new() }
    }

    /// Reads the text of a file.
    ///
    /// # Errors
    ///
    /// If a line is not what it has to be, or two are about the same case and target.
    pub fn parse(text: &str) -> Result<Self, BaselineError> {
        let (header, answers) =
            parse(text, AcceptedAnswersHeader::SCHEMA, |header: &AcceptedAnswersHeader| &header.schema)?;
        Ok(Self { header, answers })
    }

    /// The answer to a case, of a target.
    pub fn find(&self, case: &str, target: &str) -> Option<&AcceptedAnswer> {
        self.answers.iter().find(|answer| answer.key() == (case, target))
    }

    /// The text of the file, with the answers sorted.
    pub fn to_text(&self) -> String {
        to_text(&self.header, &self.answers)
    }
}

/// A line after the header.
pub(super) trait KeyedLine: ToJson + FromJson {
    /// Case and target, which no other line has.
    fn key(&self) -> (&str, &str);

    /// Why the values of the line are not valid.
    fn problem(&self) -> Option<String> {
        None
    }
}

/// Reads the header and all lines, sorted.
pub(super) fn parse<Header: FromJson, Line: KeyedLine>(
    text: &str,
    schema: &str,
    schema_of: fn(&Header) -> &str,
) -> Result<(Header, Vec<Line>), BaselineError> {
    let header = parse_header(text, schema, schema_of)?;
    let lines = text.lines().enumerate().skip(1).map(|(index, line)| (index + 1, line));
    let mut cases: Vec<(usize, Line)> = Vec::new();
    for (number, line) in lines.filter(|(_, line)| !line.trim().is_empty()) {
        cases.push((number, parse_line(number, line)?));
    }
    sort_by(&mut cases, |(_, left), (_, right)| left.key().cmp(&right.key()));
    for pair in cases.windows(2) {
        if let [(first, left), (second, right)] = pair
            && left.key() == right.key()
        {
            return Err(listed_twice(right.key(), *first, *second));
        }
    }
    Ok((header, cases.into_iter().map(|(_, line)| line).collect()))
}

/// Reads the first line.
fn parse_header<Header: FromJson>(
    text: &str,
    schema: &str,
    schema_of: fn(&Header) -> &str,
) -> Result<Header, BaselineError> {
    let first = text.lines().next().ok_or_else(|| BaselineError::new(1, "the file is empty"))?;
    let header: Header = read(1, first)?;
    let found = schema_of(&header);
    if found != schema {
        let message = format!("the schema is `{found}`, and this version of evalsuite reads `{schema}`");
        return Err(BaselineError::new(1, message));
    }
    Ok(header)
}

/// The error about two lines with the same key, by their numbers.
fn listed_twice((case, target): (&str, &str), first: usize, second: usize) -> BaselineError {
    BaselineError::new(second, format!("case `{case}` with target `{target}` is in line {first}, too"))
}

/// Reads one line of a file, whose number is for the error.
fn parse_line<Line: KeyedLine>(number: usize, line: &str) -> Result<Line, BaselineError> {
    let line: Line = read(number, line)?;
    line.problem().map_or(Ok(line), |problem| Err(BaselineError::new(number, problem)))
}

/// With what the lines begin that git writes around the two sides of a conflict.
const CONFLICT_MARKERS: [&str; 4] = ["<<<<<<<", "|||||||", "=======", ">>>>>>>"];

fn read<T: FromJson>(number: usize, line: &str) -> Result<T, BaselineError> {
    if CONFLICT_MARKERS.iter().any(|marker| line.starts_with(marker)) {
        let message = "a merge left a conflict here: keep one side of the file, such as with `git checkout --ours`, and accept the last run of the other \
                       side again";
        return Err(BaselineError::new(number, message));
    }
    let read = evalsuite_schema::json::from_str(line).and_then(T::from_json);
    read.map_err(|error| BaselineError::new(number, error.to_string()))
}

/// The text of a file, with the lines sorted.
fn to_text<Line: KeyedLine>(header: &dyn ToJson, lines: &[Line]) -> String {
    let mut lines: Vec<&Line> = lines.iter().collect();
    sort_by(&mut lines, |left, right| left.key().cmp(&right.key()));
    let mut text = String::new();
    let mut add = |line: serde_json::Result<String>| {
        writeln!(text, "{}", line.expect("texts and numbers are JSON")).expect("writing to a string never fails");
    };
    add(evalsuite_schema::json::to_string(header));
    lines.into_iter().for_each(|line| add(evalsuite_schema::json::to_string(line)));
    text
}

#[cfg(test)]
mod baseline_tests {
    use super::*;

    fn case(id: &str, target: &str) -> BaselineCase {
        BaselineCase { case: id.into(), target: target.into(), trials: 1, ..BaselineCase::default() }
    }

    fn text(cases: &[BaselineCase]) -> String {
        let header = BaselineHeader { schema: BaselineHeader::SCHEMA.into(), ..BaselineHeader::default() };
        Baseline { header, cases: cases.to_vec() }.to_text()
    }

    #[test]
    fn lines_are_sorted_by_case_and_target() {
        let written = text(&[case("b", "x"), case("a", "y"), case("a", "x")]);
        let keys: Vec<(String, String)> =
            Baseline::parse(&written).unwrap().cases.into_iter().map(|case| (case.case, case.target)).collect();
        let expected = [("a", "x"), ("a", "y"), ("b", "x")].map(|(id, target)| (id.to_owned(), target.to_owned()));
        assert_eq!(keys, expected);
        assert_eq!(text(&[case("a", "x"), case("b", "x"), case("a", "y")]), written);
    }

    #[test]
    fn one_line_is_found_without_reading_the_others() {
        let written = text(&[case("a", "x"), case("a \"quoted\"", "x"), case("a", "y")]) + "{ torn\n";
        assert_eq!(Baseline::find(&written, "a", "y"), Ok(Some(case("a", "y"))));
        assert_eq!(Baseline::find(&written, "a \"quoted\"", "x"), Ok(Some(case("a \"quoted\"", "x"))));
        assert_eq!(Baseline::find(&written, "b", "x"), Ok(None));
        // The fields of another format may have other meanings.
        for (part, other) in [("baseline/1", "baseline/2"), ("{\"schema", "<<<<<<< HEAD\n{\"schema")] {
            let other = written.replacen(part, other, 1);
            let error = Baseline::find(&other, "a", "y").unwrap_err();
            assert_eq!((&error, error.line()), (&Baseline::parse(&other).unwrap_err(), 1));
        }
    }

    #[test]
    fn errors_name_the_line() {
        let error = |text: &str| Baseline::parse(text).unwrap_err().to_string();
        assert_eq!(error(""), "line 1: the file is empty");
        assert_eq!(
            error(&text(&[]).replace("baseline/1", "baseline/9")),
            "line 1: the schema is `evalsuite.baseline/9`, and this version of evalsuite reads `evalsuite.baseline/1`"
        );
        assert!(
            error(&(text(&[case("a", "x")]) + "<<<<<<< ours\n"))
                .starts_with("line 3: a merge left a conflict here: keep")
        );
        let twice = text(&[case("a", "x"), case("a", "x")]);
        assert_eq!(error(&twice), "line 3: case `a` with target `x` is in line 2, too");
        let more = BaselineCase { passed: 2, ..case("a", "x") };
        assert_eq!(error(&text(&[more])), "line 2: 2 of 1 trials passed, which is not a result");
    }

    #[test]
    fn a_line_that_no_run_can_have_is_an_error() {
        let error = |change: &dyn Fn(&mut BaselineCase)| {
            let mut line = case("a", "x");
            line.outcomes = "P".to_owned();
            change(&mut line);
            let written = text(&[line]);
            let error = Baseline::parse(&written).unwrap_err().to_string();
            assert_eq!(Baseline::find(&written, "a", "x").unwrap_err().to_string(), error);
            error
        };
        assert_eq!(error(&|line| line.score = Some(7.0)), "line 2: the score 7 is not a number from 0 to 1");
        let scores = |line: &mut BaselineCase| (line.outcomes, line.scores) = ("PF".to_owned(), vec![1.0, -0.5]);
        assert_eq!(error(&scores), "line 2: the score -0.5 is not a number from 0 to 1");
        let outcomes = |line: &mut BaselineCase| line.outcomes = "PX".to_owned();
        assert_eq!(error(&outcomes), "line 2: the outcomes `PX` have other letters than `P` and `F`");
        let scores = |line: &mut BaselineCase| line.scores = vec![1.0, 0.5];
        assert_eq!(error(&scores), "line 2: 2 scores of 1 outcome are not results of trials");
        let trials = |line: &mut BaselineCase| line.trials = u32::MAX;
        assert_eq!(error(&trials), "line 2: 4294967295 trials are more than 1000000");
    }

    #[test]
    fn a_case_with_two_lines_is_not_found() {
        let twice = text(&[case("a", "x"), BaselineCase { passed: 0, ..case("a", "x") }, case("b", "x")]);
        let error = Baseline::find(&twice, "a", "x").unwrap_err().to_string();
        assert_eq!(error, "line 3: case `a` with target `x` is in line 2, too");
        assert_eq!(Baseline::find(&twice, "b", "x"), Ok(Some(case("b", "x"))));
    }
}

#[cfg(test)]
mod accepted_answers_tests {
    use super::*;

    fn answer(case: &str, answer: &str) -> AcceptedAnswer {
        AcceptedAnswer { case: case.into(), target: "x".into(), answer: answer.into(), ..AcceptedAnswer::default() }
    }

    #[test]
    fn answers_are_the_same_after_a_round_trip_and_one_line_each() {
        let mut answers = AcceptedAnswers::new("shop");
        answers.answers = vec![answer("b", "two\nlines\r\n"), answer("a", "\u{2028} \"quoted\" \u{0} \u{202e}")];
        let text = answers.to_text();
        assert_eq!(text.lines().count(), 3, "{text}");
        answers.answers.reverse();
        assert_eq!(AcceptedAnswers::parse(&text), Ok(answers), "sorted by case");
    }

    #[test]
    fn errors_name_the_line() {
        let error = |text: &str| AcceptedAnswers::parse(text).unwrap_err().to_string();
        let mut answers = AcceptedAnswers::new("shop");
        answers.answers = vec![answer("a", "1"), answer("a", "2")];
        assert_eq!(error(&answers.to_text()), "line 3: case `a` with target `x` is in line 2, too");
        let text = AcceptedAnswers::new("shop").to_text();
        assert!(error(&format!("{text}<<<<<<< ours\n")).starts_with("line 2: a merge left a conflict here: keep"));
        assert_eq!(
            error(&text.replace("answers/1", "answers/9")),
            "line 1: the schema is `evalsuite.accepted-answers/9`, and this version of evalsuite reads `evalsuite.accepted-answers/1`"
        );
    }
}
