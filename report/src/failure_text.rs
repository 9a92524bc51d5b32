//! Why a case or trial did not pass, in the words of its records: one line, the place to look at, the details, and what an assertion
//! expects.

use evalsuite_records::record::{Assertion, GraderRecord, GraderState, Reason, Status, TrialRecord, Verdict};
use evalsuite_schema::Location;
use evalsuite_schema::diagnostics::counted;

use crate::run_data::CaseData;

/// Most characters of an answer in the details.
const ANSWER: usize = 2_000;

/// Why a case or trial did not pass.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct FailureText {
    /// One line.
    pub(crate) message: String,
    /// Where the first grader that did not pass is defined; without one, the case.
    pub(crate) location: Location,
    /// The graders that did not pass with their failed assertions, and the answer.
    pub(crate) details: String,
}

impl FailureText {
    /// Of a case: what its first trial with the case's outcome says.
    pub(crate) fn of_case(case: &CaseData) -> Self {
        let record = &case.record;
        match case.trials.iter().find(|trial| trial.record.outcome == record.outcome) {
            Some(trial) if record.outcome != Status::Skipped => Self::of_trial(&trial.record),
            _ => Self {
                message: reason_line(record.reason.as_ref(), record.outcome),
                location: record.location.clone(),
                ..Self::default()
            },
        }
    }

    /// Of a trial.
    pub(crate) fn of_trial(trial: &TrialRecord) -> Self {
        let graders = not_passed(trial);
        let first = graders.first().map(|grader| format!("{}: {}", grader.name, statement(grader)));
        let message = match (&trial.reason, first) {
            (Some(reason), _) if trial.outcome == Status::Error => reason_line(Some(reason), trial.outcome),
            (_, Some(first)) => one_line(&first),
            (reason, None) => reason_line(reason.as_ref(), trial.outcome),
        };
        let location = graders.first().map(|grader| &grader.location).filter(|location| !location.file.is_empty());
        Self { message, location: location.unwrap_or(&trial.location).clone(), details: details(trial, &graders) }
    }
}

/// `2 of 3 trials passed, 1 ended in an error; the test runner repeated it: attempt 2`.
pub(crate) fn flakiness(case: &CaseData) -> String {
    let errors = match case.record.errors {
        0 => String::new(),
        errors => format!(", {errors} ended in an error"),
    };
    let repeated = match case.record.runner_attempt {
        ..=1 => String::new(),
        attempt => format!("; the test runner repeated it: attempt {attempt}"),
    };
    let ended = case.record.completed + case.record.errors;
    format!("{} of {} passed{errors}{repeated}", case.record.passed, counted(ended, "trial"))
}

/// The graders that count and did not pass, of the trial and then of its turns; composites by their members. A required one that did not
/// decide fails the trial, too.
fn not_passed(trial: &TrialRecord) -> Vec<&GraderRecord> {
    let mut found = Vec::new();
    for grader in trial.all_graders() {
        add_not_passed(grader, &mut found);
    }
    // Those that decide come first.
    found.sort_by_key(|grader| (grader.state != GraderState::Error, !grader.required));
    found
}

fn add_not_passed<'a>(grader: &'a GraderRecord, found: &mut Vec<&'a GraderRecord>) {
    let has_failed = match grader.state {
        GraderState::Error => true,
        GraderState::Decided => grader.verdict == Some(Verdict::Fail),
        GraderState::Undecided => grader.required,
    };
    if !has_failed || grader.advisory.is_some() {
        return;
    }
    let before = found.len();
    for member in &grader.members {
        add_not_passed(member, found);
    }
    if found.len() == before {
        found.push(grader);
    }
}

/// What the grader says is wrong.
fn statement(grader: &GraderRecord) -> &str {
    let assertion = grader.first_failed().map(|assertion| assertion.text.as_str());
    let text = grader.error.as_deref().or(assertion).or(grader.rationale.as_deref());
    let unknown = if grader.state == GraderState::Undecided { "did not decide" } else { "did not pass" };
    text.filter(|text| !text.trim().is_empty()).unwrap_or(unknown)
}

fn details(trial: &TrialRecord, graders: &[&GraderRecord]) -> String {
    let mut lines: Vec<String> = Vec::new();
    for grader in graders {
        let state = if grader.state == GraderState::Undecided { "undecided" } else { "error" };
        let value = grader.value.map_or_else(|| state.to_owned(), |value| format!("{value:.2}"));
        let required = match (grader.required, grader.guard) {
            (true, _) => "  required",
            (_, true) => "  guard",
            _ => "",
        };
        lines.push(format!("{}  {value}{required}  {}", grader.name, grader.location));
        let failed = grader.assertions.iter().filter(|assertion| !assertion.passed);
        for assertion in failed {
            lines.push(format!("  ✗ {}", assertion.text));
            let parts =
                [("expected", &assertion.expected), ("actual", &assertion.actual), ("evidence", &assertion.evidence)];
            for (name, value) in parts.into_iter().filter_map(|(name, value)| Some((name, value.as_ref()?))) {
                lines.push(format!("    {name}: {value}"));
            }
        }
        if let Some(error) = &grader.error {
            lines.push(format!("  {error}"));
        } else if grader.first_failed().is_none()
            && let Some(rationale) = &grader.rationale
        {
            lines.push(format!("  {rationale}"));
        }
    }
    if let Some(answer) = &trial.answer {
        let shown: String = answer.chars().take(ANSWER).collect();
        let more = if shown.len() < answer.len() { "…" } else { "" };
        lines.push(format!("answer: {shown}{more}"));
    }
    lines.join("\n").trim_end().to_owned()
}

fn reason_line(reason: Option<&Reason>, outcome: Status) -> String {
    reason.map_or_else(|| outcome.as_str().to_owned(), |reason| one_line(&reason.message))
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The text of an assertion. A grader of type `rubrics` puts the id of the criterion before it, which is left out.
pub(crate) fn expectation_text<'a>(grader: &GraderRecord, assertion: &'a Assertion) -> &'a str {
    let with_id = assertion.text.strip_prefix('[').filter(|_| grader.grader_type == "rubrics");
    with_id.and_then(|text| Some(text.split_once("] ")?.1)).unwrap_or(&assertion.text)
}

#[cfg(test)]
mod tests {
    use evalsuite_records::record::{Assertion, ReasonCode, Stage};

    use super::*;

    fn grader(name: &str, verdict: Verdict) -> GraderRecord {
        let mut grader = GraderRecord::default();
        grader.name = name.into();
        grader.state = GraderState::Decided;
        grader.verdict = Some(verdict);
        grader.value = Some(if verdict.is_pass() { 1.0 } else { 0.25 });
        grader.location = Location::new("suites/s/case.yaml", 4, 5);
        grader
    }

    #[test]
    fn a_failure_is_the_first_failed_assertion_at_its_grader() {
        let mut trial = TrialRecord::new();
        trial.outcome = Status::Failed;
        trial.location = Location::new("suites/s/case.yaml", 1, 1);
        trial.answer = Some("No.".into());
        let mut tone = grader("tone", Verdict::Fail);
        tone.assertions = vec![Assertion::new("greets", true), Assertion::new("apologises\nto the customer", false)];
        let mut composite = grader("all", Verdict::Fail);
        composite.required = true;
        composite.members = vec![grader("format", Verdict::Pass), tone];
        let mut advisory = grader("strict", Verdict::Fail);
        advisory.advisory = Some("not calibrated".into());
        trial.graders = vec![grader("passes", Verdict::Pass), advisory, composite];
        let failure = FailureText::of_trial(&trial);
        assert_eq!(failure.message, "tone: apologises to the customer");
        assert_eq!(failure.location.line, 4);
        assert_eq!(failure.details, "tone  0.25  suites/s/case.yaml:4:5\n  ✗ apologises\nto the customer\nanswer: No.");
    }

    #[test]
    fn a_required_grader_that_did_not_decide_is_the_failure_and_others_are_not() {
        let mut trial = TrialRecord::new();
        trial.outcome = Status::Failed;
        let undecided = |name: &str, required: bool| {
            let mut grader = grader(name, Verdict::Fail);
            (grader.state, grader.verdict, grader.value) = (GraderState::Undecided, None, None);
            grader.required = required;
            grader
        };
        trial.graders = vec![undecided("tone", false), undecided("policy", true)];
        let failure = FailureText::of_trial(&trial);
        assert_eq!((failure.message.as_str(), failure.location.line), ("policy: did not decide", 4));
        assert_eq!(failure.details, "policy  undecided  required  suites/s/case.yaml:4:5");
    }

    #[test]
    fn an_error_is_its_reason_at_the_case() {
        let mut trial = TrialRecord::new();
        trial.location = Location::new("suites/s/case.yaml", 1, 1);
        trial.reason = Some(Reason::new(Stage::Agent, ReasonCode::Timeout, "the agent did not\nend within 5 s"));
        let failure = FailureText::of_trial(&trial);
        assert_eq!(failure.message, "the agent did not end within 5 s");
        assert_eq!(failure.location, trial.location);
    }

    #[test]
    fn ids_of_rubrics_are_left_out() {
        let mut grader = GraderRecord::default();
        let assertion = Assertion::new("[expectation-1] Every field [x] is filled.", true);
        assert_eq!(expectation_text(&grader, &assertion), assertion.text);
        grader.grader_type = "rubrics".to_owned();
        assert_eq!(expectation_text(&grader, &assertion), "Every field [x] is filled.");
        let plain = Assertion::new("Polite", true);
        assert_eq!(expectation_text(&grader, &plain), "Polite");
    }
}
