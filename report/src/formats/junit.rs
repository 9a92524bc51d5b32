//! JUnit XML, as CI services read it.
//!
//! The writer of XML 1.0 is own code, because those on crates.io pass on characters that XML forbids, or drop them together with characters
//! that it allows.

use std::io::{self, Write};
use std::time::Duration;

use evalsuite_records::record::{CaseRecord, Status, UnknownParts};
use evalsuite_schema::decimal::shown_from;

use super::{Destination, Format};
use crate::failure_text::FailureText;
use crate::run_data::{CaseData, Problem, RunData, TrialData, count_outcomes};
use crate::sequential::RunDecision;

pub(super) const FORMAT: Format = Format::of_text(
    "junit",
    Destination::File,
    junit,
    "Write JUnit XML; choose a name other than that of the test runner's file",
);

/// The run as JUnit XML: a `testsuite` per suite and target, a `testcase` per case with `suite@target` as its class name.
///
/// A case that failed is a `failure`, one that broke an `error`, each with `file` and `line` of the first grader that did not pass.
/// Trials, and earlier attempts of the test runner, that did not pass of a case that passed are `flakyFailure`s and `flakyError`s, further ones of a case that did not are
/// `rerunFailure`s and `rerunError`s. Scores, cost and tags are properties. `time` is that of agent, changes of the workspace, and graders,
/// without setup and hooks.
///
/// Tests that were chosen and did not start are skipped, in a `testsuite` of their own per suite. Each file of the run that cannot be read is an
/// error in the `testsuite` [`RECORDS`].
pub(super) fn junit(run: &RunData, out: &mut dyn Write) -> io::Result<Vec<Problem>> {
    let mut xml = XmlWriter::new(out)?;
    let all: Vec<&CaseData> = run.suites.iter().flat_map(|suite| &suite.cases).collect();
    let unreadable: Vec<&Problem> = run.problems.iter().filter(|problem| problem.is_of_file()).collect();
    let not_started = run.all_suites().map(|suite| (suite.name.as_str(), suite.chosen_and_not_started()));
    let not_started: Vec<_> = not_started.filter(|(_, tests)| !tests.is_empty()).collect();
    let mut counts = Counts::of(&all);
    counts.add_tests(0, unreadable.len());
    not_started.iter().for_each(|(_, tests)| counts.add_tests(tests.len(), 0));
    xml.start("testsuites", &counts.attributes("evalsuite"))?;
    let decision = RunDecision::of(run);
    for suite in &run.suites {
        for (target, cases) in suite.by_target() {
            let class = format!("{}@{target}", suite.name);
            xml.start("testsuite", &Counts::of(&cases).attributes(&class))?;
            let mut properties = vec![("run_id", run.run_id.clone())];
            properties.extend(decision.iter().flat_map(|decision| of_decision(decision, &suite.name, target)));
            add_properties(&mut xml, properties)?;
            for case in cases {
                add_case(&mut xml, case, &class)?;
            }
            xml.end()?;
        }
    }
    for (suite, tests) in not_started {
        let skipped = tests.into_iter().map(|test| {
            let target = test.target.iter().map(|target| format!("@{target}"));
            let message = format!("the test `{}` did not start", test.test_name);
            [suite.to_owned() + &target.collect::<String>(), test.case_id.clone(), message]
        });
        add_tests_without_case(&mut xml, suite, "skipped", skipped.collect())?;
    }
    let errors = unreadable.iter().map(|problem| [RECORDS.to_owned(), problem.file.clone(), problem.message.clone()]);
    add_tests_without_case(&mut xml, RECORDS, "error", errors.collect())?;
    xml.finish()?;
    Ok(Vec::new())
}

/// Name of the `testsuite` for files of the run.
const RECORDS: &str = "records of the run";

/// A `testsuite` of tests that have no record, by class name, name and message.
fn add_tests_without_case(
    xml: &mut XmlWriter<'_>,
    suite: &str,
    element: &'static str,
    tests: Vec<[String; 3]>,
) -> io::Result<()> {
    if tests.is_empty() {
        return Ok(());
    }
    let mut counts = Counts::of(&[]);
    let of_element = |name| if element == name { tests.len() } else { 0 };
    counts.add_tests(of_element("skipped"), of_element("error"));
    xml.start("testsuite", &counts.attributes(suite))?;
    for [class, name, message] in tests {
        let attributes = [("name", name), ("classname", class), ("time", "0.000".to_owned())];
        xml.start("testcase", &attributes)?;
        xml.element(element, &[("message", message.clone())], &message)?;
        xml.end()?;
    }
    xml.end()
}

/// What a run that ends as soon as it is decided says of a suite and target.
fn of_decision(decision: &RunDecision, suite: &str, target: &str) -> Vec<(&'static str, String)> {
    let Some(found) = decision.suites.iter().find(|found| found.suite == suite && found.target == target) else {
        return Vec::new();
    };
    vec![
        ("decision", found.verdict.as_str().to_owned()),
        ("decision_base", decision.base.clone()),
        ("decision_margin", decision.margin.to_string()),
        ("decision_trials", format!("{} of at most {}, {} planned", found.trials, found.most, found.planned)),
        ("decision_of_run", decision.headline()),
        ("decision_rerun", decision.rerun()),
    ]
}

/// The tests in an element.
struct Counts {
    tests: usize,
    skipped: usize,
    errors: usize,
    failures: usize,
    time: String,
}

impl Counts {
    fn of(cases: &[&CaseData]) -> Self {
        let counts = count_outcomes(cases.iter().map(|case| case.record.outcome));
        Self {
            tests: cases.len(),
            skipped: counts.skipped as usize,
            errors: counts.error as usize,
            failures: counts.failed as usize,
            time: seconds(cases.iter().flat_map(|case| &case.trials)),
        }
    }

    fn add_tests(&mut self, skipped: usize, errors: usize) {
        self.tests += skipped + errors;
        self.skipped += skipped;
        self.errors += errors;
    }

    fn attributes(&self, name: &str) -> [(&'static str, String); 6] {
        [
            ("name", name.to_owned()),
            ("tests", self.tests.to_string()),
            ("skipped", self.skipped.to_string()),
            ("errors", self.errors.to_string()),
            ("failures", self.failures.to_string()),
            ("time", self.time.clone()),
        ]
    }
}

fn add_properties(xml: &mut XmlWriter<'_>, properties: Vec<(&'static str, String)>) -> io::Result<()> {
    xml.start("properties", &[])?;
    for (name, value) in properties {
        xml.element("property", &[("name", name.to_owned()), ("value", value)], "")?;
    }
    xml.end()
}

fn add_case(xml: &mut XmlWriter<'_>, case: &CaseData, class: &str) -> io::Result<()> {
    let record = &case.record;
    let failure = FailureText::of_case(case);
    let mut attributes =
        vec![("name", record.case_id.clone()), ("classname", class.to_owned()), ("time", seconds(&case.trials))];
    let place = if is_failure(record.outcome) { &failure.location } else { &record.location };
    if !place.file.is_empty() {
        attributes.push(("file", place.file.clone()));
    }
    if place.line > 0 {
        attributes.push(("line", place.line.to_string()));
    }
    xml.start("testcase", &attributes)?;
    add_properties(xml, properties(record, &case.trials))?;
    let element = match record.outcome {
        Status::Passed => None,
        Status::Failed => Some("failure"),
        Status::Error => Some("error"),
        Status::Skipped => Some("skipped"),
    };
    if let Some(element) = element {
        let text = text(&failure);
        let mut attributes = vec![("message", failure.message)];
        attributes.extend(record.reason.as_ref().map(|reason| ("type", reason.code.as_str().to_owned())));
        xml.element(element, &attributes, &text)?;
    }
    if record.outcome != Status::Skipped {
        // The status of a case that did not pass is that of its first trial with the same outcome.
        let shown = case.trials.iter().position(|trial| trial.record.outcome == record.outcome);
        let shown = shown.filter(|_| is_failure(record.outcome));
        let failed = case.trials.iter().enumerate().filter(|(_, trial)| is_failure(trial.record.outcome));
        for (_, trial) in failed.filter(|(index, _)| Some(*index) != shown) {
            add_rerun(xml, trial, record.outcome == Status::Passed)?;
        }
        for attempt in
            case.other_attempts.iter().map(|attempt| &attempt.record).filter(|attempt| is_failure(attempt.outcome))
        {
            add_earlier_attempt(xml, attempt, record.outcome == Status::Passed)?;
        }
    }
    xml.end()
}

fn is_failure(outcome: Status) -> bool {
    matches!(outcome, Status::Failed | Status::Error)
}

/// The element for what did not pass beside the outcome of the case.
fn rerun_element(is_flaky: bool, outcome: Status) -> &'static str {
    match (is_flaky, outcome == Status::Error) {
        (true, true) => "flakyError",
        (true, false) => "flakyFailure",
        (false, true) => "rerunError",
        (false, false) => "rerunFailure",
    }
}

/// An attempt of the test runner before the one that counts.
fn add_earlier_attempt(xml: &mut XmlWriter<'_>, attempt: &CaseRecord, is_flaky: bool) -> io::Result<()> {
    let reason = attempt.reason.as_ref();
    let message = reason.map_or_else(|| attempt.outcome.as_str().to_owned(), |reason| reason.message.clone());
    let kind = format!("attempt {} of the test runner", attempt.runner_attempt);
    let attributes = [("message", message.clone()), ("type", kind)];
    xml.element(rerun_element(is_flaky, attempt.outcome), &attributes, &message)
}

fn add_rerun(xml: &mut XmlWriter<'_>, trial: &TrialData, is_flaky: bool) -> io::Result<()> {
    let failure = FailureText::of_trial(&trial.record);
    let element = rerun_element(is_flaky, trial.record.outcome);
    let text = text(&failure);
    let attributes = [
        ("time", seconds([trial])),
        ("message", failure.message),
        ("type", format!("trial {}", trial.record.trial + 1)),
    ];
    xml.element(element, &attributes, &text)
}

/// The text of an element: the details, after the message if they do not begin with the grader that it is about. Never empty: GitLab shows
/// the text in place of the message, and some readers expect one.
fn text(failure: &FailureText) -> String {
    let FailureText { message, details, .. } = failure;
    let is_explained = message.split_once(": ").is_some_and(|(grader, _)| details.starts_with(&format!("{grader}  ")));
    let parts = [message.as_str(), details.as_str()];
    parts[usize::from(is_explained)..].join("\n").trim_end().to_owned()
}

/// The time of trials in seconds, without what comes before the agent is called and after it is graded: workspaces, repositories and hooks.
fn seconds<'t>(trials: impl IntoIterator<Item = &'t TrialData>) -> String {
    let duration = |trial: &TrialData| {
        let timings = trial.record.timings;
        let around = timings.setup_ms.saturating_add(timings.teardown_ms);
        Duration::from_millis(timings.total_ms.saturating_sub(around))
    };
    let total = trials.into_iter().map(duration).fold(Duration::ZERO, Duration::saturating_add);
    format!("{:.3}", total.as_secs_f64())
}

fn properties(record: &CaseRecord, trials: &[TrialData]) -> Vec<(&'static str, String)> {
    let mut properties = vec![("outcome", record.outcome.as_str().to_owned())];
    let shown = |score| shown_from(4, score, record.threshold);
    properties.extend(record.score.map(|score| ("score", shown(score))));
    // Of a case whose process died in its first trial, it is not known.
    if record.threshold > 0.0 || record.score.is_some() {
        properties.push(("threshold", shown(record.threshold)));
    }
    properties.push(("trials", format!("{} of {} passed", record.passed, record.trials.len())));
    if record.runner_attempt > 1 {
        properties.push(("runner_attempt", record.runner_attempt.to_string()));
    }
    if record.errors > 0 {
        properties.push(("trial_errors", record.errors.to_string()));
    }
    if !record.failed_graders.is_empty() {
        properties.push(("failed_graders", record.failed_graders.join(", ")));
    }
    // Trials that do not count, and other attempts of the test runner, have cost something, too.
    let names = [
        ("cost_usd", "trials_of_unknown_cost"),
        ("judge_cost_usd", "trials_of_unknown_judge_cost"),
        ("user_cost_usd", "trials_of_unknown_user_cost"),
    ];
    let costs = record.costs().into_iter().zip(UnknownParts::counts(&record.unknown_costs()));
    for ((name, unknown_name), (cost, unknown)) in names.into_iter().zip(costs) {
        if let Some(cost) = cost {
            properties.push((name, format!("{cost:.6}")));
            properties.extend((unknown > 0).then(|| (unknown_name, unknown.to_string())));
        }
    }
    let mut seals: Vec<String> = trials.iter().flat_map(|trial| trial.record.seals()).collect();
    seals.sort();
    seals.dedup();
    properties.extend(seals.into_iter().map(|seal| ("sealed", seal)));
    properties.push(("test", record.test_name.clone()));
    if let Some(trial) = trials.first() {
        properties.extend(trial.record.tags.iter().map(|tag| ("tag", tag.clone())));
    }
    properties
}

/// Indent of an element within another one.
const INDENT: &str = "    ";

/// Writes elements. Every text goes through [`escaped`], so what it writes is well-formed whatever the texts are.
pub(super) struct XmlWriter<'w> {
    out: &'w mut dyn Write,
    open: Vec<&'static str>,
}

/// Names and values of attributes.
pub(super) type Attributes = [(&'static str, String)];

impl<'w> XmlWriter<'w> {
    pub(super) fn new(out: &'w mut dyn Write) -> io::Result<Self> {
        write!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
        Ok(Self { out, open: Vec::new() })
    }

    /// Begins an element that contains others.
    pub(super) fn start(&mut self, name: &'static str, attributes: &Attributes) -> io::Result<()> {
        self.tag(name, attributes, ">")?;
        self.open.push(name);
        Ok(())
    }

    /// Ends the element that was begun last.
    pub(super) fn end(&mut self) -> io::Result<()> {
        let Some(name) = self.open.pop() else { return Ok(()) };
        write!(self.out, "\n{}</{name}>", INDENT.repeat(self.open.len()))
    }

    /// An element with a text, which may be empty.
    pub(super) fn element(&mut self, name: &'static str, attributes: &Attributes, text: &str) -> io::Result<()> {
        if text.is_empty() {
            return self.tag(name, attributes, "/>");
        }
        self.tag(name, attributes, ">")?;
        write!(self.out, "{}</{name}>", escaped(text, false))
    }

    /// Ends the document.
    pub(super) fn finish(mut self) -> io::Result<()> {
        while !self.open.is_empty() {
            self.end()?;
        }
        writeln!(self.out)
    }

    fn tag(&mut self, name: &str, attributes: &Attributes, end: &str) -> io::Result<()> {
        write!(self.out, "\n{}<{name}", INDENT.repeat(self.open.len()))?;
        for (name, value) in attributes {
            write!(self.out, " {name}=\"{}\"", escaped(value, true))?;
        }
        write!(self.out, "{end}")
    }
}

/// A text that a reader of XML gets back. A character that XML cannot express is shown as in Rust: `\u{ffff}`.
fn escaped(text: &str, is_attribute: bool) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' if is_attribute => escaped.push_str("&quot;"),
            // Readers change these to other white space if they are not written as references.
            '\r' => escaped.push_str("&#13;"),
            '\n' if is_attribute => escaped.push_str("&#10;"),
            '\t' if is_attribute => escaped.push_str("&#9;"),
            _ if is_allowed(character) => escaped.push(character),
            _ => escaped.extend(character.escape_unicode()),
        }
    }
    escaped
}

/// `Char` of XML 1.0. The others cannot be written as references either.
fn is_allowed(character: char) -> bool {
    matches!(
        character,
        '\t' | '\n' | '\r' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..='\u{10ffff}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_nested_and_their_texts_escaped() {
        let mut out = Vec::new();
        let mut xml = XmlWriter::new(&mut out).unwrap();
        xml.start("a", &[("b", "\"x\"\t<\n\r\u{0}".to_owned())]).unwrap();
        xml.element("c", &[], "1 ]]> 2\r\n\u{ffff}\u{fffd}\u{1b}").unwrap();
        xml.element("d", &[("e", String::new())], "").unwrap();
        xml.finish().unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
             <a b=\"&quot;x&quot;&#9;&lt;&#10;&#13;\\u{0}\">\n    \
             <c>1 ]]&gt; 2&#13;\n\\u{ffff}\u{fffd}\\u{1b}</c>\n    \
             <d e=\"\"/>\n\
             </a>\n"
        );
    }
}
