//! The summary of a suite as text.

use std::collections::BTreeMap;
use std::fmt;

use evalsuite_schema::diagnostics::{counted, terminal};
use evalsuite_schema::sorting::sort_by;

use crate::record::{
    CaseRecord, Estimate, Reason, Stability, Status, SuiteSummary, TargetSummary, UnknownCosts, Usage, UserCounts,
};
use crate::summary::text_table::TextTable;

/// Largest number of cases that are listed as the slowest ones.
const SLOWEST: usize = 5;
/// Largest number of skipped cases that are named per reason.
const NAMED: usize = 3;

/// The summary of a suite as people read it: one row per target and per grader, the slowest cases, and what was skipped and
/// why. `Evals::run` and `cargo evalsuite run` show it. Tables are at most
/// [`TextTable::USUAL_WIDTH`] columns wide.
///
/// ```no_run
/// use std::path::Path;
///
/// use evalsuite_records::summary::{SummaryText, summarize_run};
///
/// for suite in &summarize_run(Path::new("target/evalsuite/runs/nightly"))?.suites {
///     print!("{}", SummaryText::new(suite));
/// }
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct SummaryText<'a> {
    summary: &'a SuiteSummary,
    width: usize,
}

impl<'a> SummaryText<'a> {
    /// The text of this summary.
    pub fn new(summary: &'a SuiteSummary) -> Self {
        Self { summary, width: TextTable::USUAL_WIDTH }
    }

    /// Sets the largest width of tables, in columns.
    #[must_use]
    pub fn with_width(mut self, columns: usize) -> Self {
        self.width = columns;
        self
    }
}

impl fmt::Display for SummaryText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { summary, width } = *self;
        let count = |outcome| summary.cases.iter().filter(|case| case.outcome == outcome).count();
        let flaky = summary.cases.iter().filter(|case| case.stability == Some(Stability::Flaky)).count();
        writeln!(
            f,
            "{}: {} passed, {} failed, {} error, {} skipped{}",
            terminal::short_line(&summary.suite),
            count(Status::Passed),
            count(Status::Failed),
            count(Status::Error),
            count(Status::Skipped),
            if flaky > 0 { format!(", {flaky} flaky") } else { String::new() },
        )?;
        let reused: u32 = summary.targets.iter().map(|target| target.reused).sum();
        if reused > 0 {
            let cases = counted(reused, "unchanged case");
            writeln!(f, "  reused   {cases} of earlier runs; time and cost are those of the runs then")?;
        }
        if let Some(probe) = &summary.probe {
            writeln!(f, "  probe    {probe}")?;
        }
        sealing(&summary.targets, f)?;
        trial_errors(&summary.targets, f)?;
        users(&summary.targets, f)?;
        repeated(&summary.cases, f)?;
        unknown_spending(&summary.targets, f)?;
        failed_graders(&summary.cases, f)?;
        targets(&summary.targets).write(width, f)?;
        pass_at_k(summary, f)?;
        graders(&summary.targets).write(width, f)?;
        slowest(&summary.cases).write(width, f)?;
        skipped(&summary.cases, f)
    }
}

/// `  sealed   3 trials: Landlock ABI 7, network all`, and the same of trials that the kernel did not confine; nothing if none was to be.
fn sealing(targets: &[TargetSummary], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let mut all: BTreeMap<&str, u32> = BTreeMap::new();
    for (text, trials) in targets.iter().flat_map(|target| &target.sealing) {
        *all.entry(text).or_default() += trials;
    }
    if all.keys().all(|text| !text.contains(": ")) {
        return Ok(());
    }
    for (text, trials) in all {
        let (state, how) = text.split_once(": ").unwrap_or(("unsealed", "no seal was asked for"));
        writeln!(f, "  {state:<8} {}: {}", counted(trials, "trial"), terminal::short_line(how))?;
    }
    Ok(())
}

fn trial_errors(targets: &[TargetSummary], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let errors: u32 = targets.iter().map(|target| target.trials.error).sum();
    let trials: u32 = targets.iter().map(|target| target.trials.run()).sum();
    // Of a single trial, the line above says the same.
    if errors == 0 || trials < 2 {
        return Ok(());
    }
    writeln!(f, "  errors   {errors} of {trials} trials ended in an error")
}

/// `  users    3 of 40 graded simulated users left the role, 1 could not say anything: errors, not failures of the agent`.
fn users(targets: &[TargetSummary], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let sum = |of: fn(&UserCounts) -> u32| targets.iter().map(|target| of(&target.users)).sum::<u32>();
    let (trials, graded, left) = (sum(|all| all.trials), sum(|all| all.graded), sum(|all| all.left_role));
    let failed = sum(|all| all.failed);
    if trials == 0 {
        return Ok(());
    }
    let role = match graded {
        0 => format!("{}, not graded", counted(trials, "simulated user")),
        _ => format!("{left} of {} left the role", counted(graded, "graded simulated user")),
    };
    let failed = if failed > 0 { format!(", {failed} could not say anything") } else { String::new() };
    let what = if left > 0 || !failed.is_empty() { ": errors, not failures of the agent" } else { "" };
    writeln!(f, "  users    {role}{failed}{what}")
}

/// `  repeated 1 case passed in a later attempt of the test runner: shop::refund (attempt 2)`. Its earlier attempts are in no number.
fn repeated(cases: &[CaseRecord], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let is_repeated = |case: &&CaseRecord| case.outcome == Status::Passed && case.runner_attempt > 1;
    let found: Vec<&CaseRecord> = cases.iter().filter(is_repeated).collect();
    if found.is_empty() {
        return Ok(());
    }
    let name = |case: &&CaseRecord| format!("{} (attempt {})", case.test_name, case.runner_attempt);
    let named = named(found.iter().map(name));
    writeln!(f, "  repeated {} passed in a later attempt of the test runner: {named}", counted(found.len(), "case"))
}

/// `  cost     not known of the agent in 146 of 148 trials: what is shown is a lower bound`.
fn unknown_spending(targets: &[TargetSummary], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    type Of = fn(&TargetSummary) -> UnknownCosts;
    let of_each: [(&str, Of); 2] =
        [("cost    ", |target| target.unknown_costs), ("tokens  ", |target| target.unknown_tokens)];
    for (what, of) in of_each {
        let sum = |part: fn(UnknownCosts) -> u32| targets.iter().map(|target| part(of(target))).sum::<u32>();
        let trials = sum(|unknown| unknown.trials);
        for (who, unknown) in [
            ("the agent", sum(|unknown| unknown.agent)),
            ("judges", sum(|unknown| unknown.judges)),
            ("simulated users", sum(|unknown| unknown.users)),
        ] {
            if unknown > 0 {
                let count = format!("{unknown} of {trials} trials");
                writeln!(f, "  {what} not known of {who} in {count}: what is shown is a lower bound")?;
            }
        }
    }
    Ok(())
}

/// A sum, with the sign that it is a lower bound.
pub fn lower_bound(is_one: bool, sum: &str) -> String {
    if is_one { format!("≥ {sum}") } else { sum.to_owned() }
}

/// `2 cases passed although a grader failed: shop::refund (tool-trajectory), shop::order (tone)`.
fn failed_graders(cases: &[CaseRecord], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let found: Vec<&CaseRecord> = cases.iter().filter(|case| !case.failed_graders.is_empty()).collect();
    if found.is_empty() {
        return Ok(());
    }
    let name = |case: &&CaseRecord| format!("{} ({})", case.test_name, case.failed_graders.join(", "));
    let named = named(found.iter().map(name));
    writeln!(f, "  graders  {} passed although a grader failed: {named}", counted(found.len(), "case"))
}

/// A table of rows whose cells name their columns.
fn table<const N: usize>(rows: impl Iterator<Item = [(&'static str, Option<String>); N]>) -> TextTable {
    let rows: Vec<_> = rows.collect();
    let mut table =
        rows.first().map_or_else(TextTable::default, |row| TextTable::new(&row.each_ref().map(|(name, _)| *name)));
    rows.into_iter().for_each(|row| table.add(row.map(|(_, cell)| cell).to_vec()));
    table
}

/// One row per target, unless no case was run.
fn targets(targets: &[TargetSummary]) -> TextTable {
    // The line above the table has the sums.
    let has_errors = targets.iter().any(|target| target.cases.error > 0);
    let has_skipped = targets.iter().any(|target| target.cases.skipped > 0);
    let is_run = targets.iter().any(|target| target.cases.run() > 0);
    table(targets.iter().filter(|_| is_run).map(|target| {
        let interval = target.ci95_lower.zip(target.ci95_upper).filter(|_| target.scored_cases > 1);
        let cached = target.usage.map(|usage| usage.cached).filter(|cached| *cached > 0);
        let (unknown, uncounted) = (target.unknown_costs, target.unknown_tokens);
        let tokens = |usage: Option<Usage>, unknown: u32| usage.map(|usage| lower_bound(unknown > 0, &tokens(usage)));
        let dollars =
            |cost: Option<f64>, unknown: u32| cost.map(|cost| lower_bound(unknown > 0, &format!("{cost:.4}")));
        let total = target.duration_ms.p50.map(|_| target.duration_ms.total);
        [
            ("target", Some(target.target.clone())),
            ("passed", Some(target.cases.passed.to_string())),
            ("failed", Some(target.cases.failed.to_string())),
            ("error", has_errors.then(|| target.cases.error.to_string())),
            ("skipped", has_skipped.then(|| target.cases.skipped.to_string())),
            ("score", target.mean_score.map(score)),
            ("95 % interval", interval.map(|(lower, upper)| format!("{lower:.2} to {upper:.2}"))),
            ("tokens", tokens(target.usage, uncounted.agent)),
            ("cached", cached.map(|cached| lower_bound(uncounted.agent > 0, &cached.to_string()))),
            ("judge tokens", tokens(target.judge_usage, uncounted.judges)),
            ("user tokens", tokens(target.user_usage, uncounted.users)),
            ("USD", dollars(target.cost_usd, unknown.agent)),
            ("judge USD", dollars(target.judge_cost_usd, unknown.judges)),
            ("user USD", dollars(target.user_cost_usd, unknown.users)),
            ("time", total.map(seconds)),
            ("p50", target.duration_ms.p50.map(seconds)),
            ("p95", target.duration_ms.p95.map(seconds)),
        ]
    }))
}

/// For the largest k above 1 of each target, with what keeps the other cases out of it.
fn pass_at_k(summary: &SuiteSummary, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let targets = &summary.targets;
    let last = |estimates: &BTreeMap<u32, Estimate>| estimates.iter().next_back().map(|(k, e)| (*k, *e));
    for target in targets {
        let name = if targets.len() > 1 { format!("{}: ", target.target) } else { String::new() };
        let is_run = |case: &&CaseRecord| case.target == target.target && case.outcome != Status::Skipped;
        let cases = || summary.cases.iter().filter(is_run);
        let stopped = cases().filter(|case| case.was_cut_off()).count();
        if stopped > 0 {
            let all = target.cases.run();
            writeln!(f, "  {name}pass@k is not known: the trials of {stopped} of {all} cases stopped early")?;
        }
        if let (Some((k, at)), Some((_, hat))) = (last(&target.pass_at_k), last(&target.pass_hat_k))
            && k > 1
        {
            let of = format!("over {} of {} cases", at.cases, target.cases.run());
            let (mut limited, mut fewer) = (0, 0);
            for case in cases() {
                match case.truncated {
                    true => limited += 1,
                    false => fewer += u32::from(case.completed < k),
                }
            }
            let left_out = [(limited, "at their cost limit"), (fewer, &format!("with fewer than {k} graded trials"))];
            let left_out = left_out.iter().filter(|(count, _)| *count > 0).map(|(count, why)| format!("{count} {why}"));
            let left_out = left_out.collect::<Vec<_>>().join(", ");
            let left_out = if left_out.is_empty() { left_out } else { format!("; left out: {left_out}") };
            writeln!(f, "  {name}pass@{k} {:.2}, pass^{k} {:.2} ({of}{left_out})", at.value, hat.value)?;
        }
    }
    Ok(())
}

/// One row per grader and target.
fn graders(targets: &[TargetSummary]) -> TextTable {
    let rows = targets.iter().flat_map(|target| target.grader_mean.iter().map(move |row| (target, row)));
    table(rows.map(|(target, (name, grader))| {
        [
            ("grader", Some(name.clone())),
            ("target", (targets.len() > 1).then(|| target.target.clone())),
            ("mean", grader.mean.map(score)),
            ("decided", Some(grader.decided.to_string())),
            ("undecided", Some(grader.undecided.to_string())),
            ("errors", Some(grader.errors.to_string())),
        ]
    }))
}

/// The cases whose trials took longest, if there are several to compare. Times that would be shown as 0 say nothing.
fn slowest(cases: &[CaseRecord]) -> TextTable {
    let took = |case: &CaseRecord| case.trials.iter().filter_map(|trial| trial.duration_ms).sum::<u64>();
    let mut timed: Vec<(u64, &CaseRecord)> = cases.iter().map(|case| (took(case), case)).collect();
    timed.retain(|(took, _)| *took >= 50);
    sort_by(&mut timed, |one, other| other.0.cmp(&one.0));
    let shown = if timed.len() > 1 { SLOWEST } else { 0 };
    table(timed.iter().take(shown).map(|(took, case)| {
        [
            ("slowest", Some(case.test_name.clone())),
            ("time", Some(seconds(*took))),
            ("trials", (case.planned > 1).then(|| case.trials.len().to_string())),
        ]
    }))
}

/// One entry per reason for which cases were skipped, with what to do about it.
fn skipped(cases: &[CaseRecord], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let mut reasons: Vec<(&Reason, Vec<&str>)> = Vec::new();
    for case in cases.iter().filter(|case| case.outcome == Status::Skipped) {
        let Some(reason) = &case.reason else { continue };
        match reasons.iter_mut().find(|(known, _)| (&known.message, &known.help) == (&reason.message, &reason.help)) {
            Some((_, ids)) => ids.push(&case.case_id),
            None => reasons.push((reason, vec![&case.case_id])),
        }
    }
    for (Reason { message, help, .. }, ids) in reasons {
        let named = named(ids.into_iter().map(str::to_owned));
        writeln!(f, "  skipped  {named}: {}", terminal::short_line(message))?;
        if let Some(help) = help {
            writeln!(f, "    help: {}", terminal::short_line(help))?;
        }
    }
    Ok(())
}

/// The first names, and how many more there are.
fn named(mut names: impl ExactSizeIterator<Item = String>) -> String {
    let first = terminal::short_line(&names.by_ref().take(NAMED).collect::<Vec<_>>().join(", "));
    match names.len() {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}

fn score(value: f64) -> String {
    format!("{value:.2}")
}

/// All of them, as everywhere; the column `cached` says how many of them were read from a cache.
fn tokens(usage: Usage) -> String {
    usage.input.saturating_add(usage.cached).saturating_add(usage.output).to_string()
}

fn seconds(milliseconds: u64) -> String {
    format!("{:.1} s", milliseconds as f64 / 1000.0)
}

#[cfg(test)]
mod tests {
    use crate::record::{Durations, GraderMean, OutcomeCounts, ReasonCode, Stage, TrialSummary};

    use super::*;

    #[test]
    fn trials_with_and_without_a_seal_are_counted() {
        let seals = [("sealed: Landlock ABI 7, network none", 2), ("unsealed: the kernel has no Landlock", 1)];
        let mut of_target = target("default", [3, 0, 0, 0]);
        of_target.sealing = seals.into_iter().map(|(text, trials)| (text.to_owned(), trials)).collect();
        let text = text(vec![of_target], Vec::new());
        assert!(text.contains("  sealed   2 trials: Landlock ABI 7, network none\n"), "{text}");
        assert!(text.contains("  unsealed 1 trial: the kernel has no Landlock\n"), "{text}");
    }

    fn target(name: &str, counts: [u32; 4]) -> TargetSummary {
        let [passed, failed, error, skipped] = counts;
        let cases = OutcomeCounts { passed, failed, error, skipped };
        TargetSummary { target: name.to_owned(), cases, ..TargetSummary::default() }
    }

    fn case(id: &str, outcome: Status, took: &[u64]) -> CaseRecord {
        let mut case = CaseRecord::new();
        (case.case_id, case.test_name, case.outcome) = (id.to_owned(), format!("shop::{id}"), outcome);
        case.planned = 3;
        case.trials =
            took.iter().map(|took| TrialSummary { duration_ms: Some(*took), ..TrialSummary::default() }).collect();
        if outcome == Status::Skipped {
            let reason = Reason::new(Stage::Requirements, ReasonCode::RequirementMissing, "needs a judge");
            case.reason = Some(reason.with_help("add one"));
        }
        case
    }

    fn text(targets: Vec<TargetSummary>, cases: Vec<CaseRecord>) -> String {
        let mut summary = SuiteSummary::new();
        (summary.suite, summary.targets, summary.cases) = ("shop".to_owned(), targets, cases);
        SummaryText::new(&summary).to_string()
    }

    #[test]
    fn cases_that_passed_because_the_test_runner_repeated_them_are_named() {
        let again = |id: &str, outcome: Status, attempt: u32| {
            let mut case = case(id, outcome, &[1]);
            case.runner_attempt = attempt;
            case
        };
        let cases = vec![
            again("a", Status::Passed, 1),
            again("b", Status::Passed, 3),
            again("c", Status::Failed, 3),
            again("d", Status::Passed, 2),
        ];
        let text = text(vec![target("default", [3, 1, 0, 0])], cases);
        let line = "\n  repeated 2 cases passed in a later attempt of the test runner: shop::b (attempt 3), shop::d (attempt 2)\n";
        assert!(text.contains(line), "{text}");
    }

    #[test]
    fn a_suite_is_summed_up_per_target_and_grader_with_its_slowest_and_skipped_cases() {
        let mut small = target("small", [1, 1, 0, 4]);
        (small.mean_score, small.scored_cases) = (Some(0.5), 2);
        (small.ci95_lower, small.ci95_upper) = (Some(0.25), Some(0.75));
        (small.usage, small.judge_usage) = (Some(Usage::new(1200, 80).with_cached(9000)), Some(Usage::new(50, 5)));
        (small.cost_usd, small.judge_cost_usd) = (Some(0.25), Some(0.01));
        small.duration_ms = Durations::default();
        (small.duration_ms.total, small.duration_ms.p50, small.duration_ms.p95) = (4500, Some(1000), Some(2500));
        let mut contains = GraderMean::default();
        (contains.mean, contains.decided, contains.errors) = (Some(0.5), 3, 1);
        small.grader_mean.insert("contains".to_owned(), contains);
        let mut large = target("large", [1, 0, 0, 0]);
        (large.mean_score, large.scored_cases) = (Some(1.0), 1);
        large.pass_at_k.insert(3, Estimate::new(1.0, 1));
        large.pass_hat_k.insert(3, Estimate::new(0.5, 1));
        let skipped = ["c", "d", "e", "f"].map(|id| case(id, Status::Skipped, &[]));
        let mut cases = vec![case("a", Status::Passed, &[1000, 1000]), case("b", Status::Failed, &[2500])];
        cases[0].stability = Some(Stability::Flaky);
        cases[0].failed_graders = vec!["tone".to_owned()];
        (small.trials.passed, small.trials.error) = (2, 1);
        cases.extend(skipped);
        let expected = "\
shop: 1 passed, 1 failed, 0 error, 4 skipped, 1 flaky
  errors   1 of 3 trials ended in an error
  graders  1 case passed although a grader failed: shop::a (tone)
  target  passed  failed  skipped  score  95 % interval  tokens
  small        1       1        4   0.50   0.25 to 0.75   10280
  large        1       0        0   1.00              –       –
  target  cached  judge tokens     USD  judge USD   time    p50    p95
  small     9000            55  0.2500     0.0100  4.5 s  1.0 s  2.5 s
  large        –             –       –          –      –      –      –
  large: pass@3 1.00, pass^3 0.50 (over 1 of 1 cases)
  grader    target  mean  decided  undecided  errors
  contains   small  0.50        3          0       1
  slowest   time  trials
  shop::b  2.5 s       1
  shop::a  2.0 s       2
  skipped  c, d, e and 1 more: needs a judge
    help: add one
";
        assert_eq!(text(vec![small, large], cases), expected);
    }

    #[test]
    fn trials_that_ended_in_an_error_are_counted_from_two_trials_on() {
        let line = |[passed, error]: [u32; 2]| {
            let mut target = target("default", [0, 0, 1, 0]);
            (target.trials.passed, target.trials.error) = (passed, error);
            text(vec![target], Vec::new()).lines().find(|line| line.starts_with("  errors")).map(str::to_owned)
        };
        assert_eq!((line([2, 0]), line([0, 1])), (None, None));
        assert_eq!(line([1, 1]).as_deref(), Some("  errors   1 of 2 trials ended in an error"));
    }

    /// What two of 148 trials cost was shown as the cost of all.
    #[test]
    fn a_sum_of_costs_that_are_not_all_known_is_marked() {
        let mut partial = target("default", [3, 0, 0, 0]);
        (partial.cost_usd, partial.judge_cost_usd, partial.user_cost_usd) = (Some(0.25), Some(0.01), Some(0.5));
        let shown = text(vec![partial.clone()], Vec::new());
        assert!(shown.contains("0.2500") && !shown.contains('≥') && !shown.contains("  cost "), "{shown}");
        partial.unknown_costs = UnknownCosts { trials: 148, agent: 146, judges: 0, users: 1 };
        let shown = text(vec![partial], Vec::new());
        assert!(shown.contains("≥ 0.2500") && shown.contains("  0.0100") && shown.contains("≥ 0.5000"), "{shown}");
        assert!(
            shown.contains("  cost     not known of the agent in 146 of 148 trials: what is shown is a lower bound\n"),
            "{shown}"
        );
        assert!(shown.contains("  cost     not known of simulated users in 1 of 148 trials"), "{shown}");
        assert!(!shown.contains("judges in"), "{shown}");
    }

    #[test]
    fn users_that_left_their_role_are_counted_apart_from_failures() {
        let line = |[trials, graded, left_role, failed]: [u32; 4]| {
            let mut target = target("default", [1, 0, 0, 0]);
            target.users = UserCounts { trials, graded, left_role, failed };
            let text = text(vec![target], Vec::new());
            text.lines().find(|line| line.starts_with("  users")).map(str::to_owned)
        };
        let errors = "errors, not failures of the agent";
        assert_eq!(line([0; 4]), None);
        assert_eq!(line([3, 0, 0, 0]).as_deref(), Some("  users    3 simulated users, not graded"));
        assert_eq!(line([3, 3, 0, 0]).as_deref(), Some("  users    0 of 3 graded simulated users left the role"));
        let expected =
            format!("  users    2 of 40 graded simulated users left the role, 1 could not say anything: {errors}");
        assert_eq!(line([41, 40, 2, 1]), Some(expected));
    }

    #[test]
    fn a_suite_that_was_only_skipped_has_no_tables() {
        let skipped = vec![case("c", Status::Skipped, &[])];
        let expected = "shop: 0 passed, 0 failed, 0 error, 1 skipped\n  skipped  c: needs a judge\n    help: add one\n";
        assert_eq!(text(vec![target("default", [0, 0, 0, 1])], skipped), expected);
    }

    #[test]
    fn a_target_that_was_only_skipped_has_a_row_beside_others() {
        let targets = vec![target("large", [0, 0, 0, 1]), target("small", [1, 0, 0, 0])];
        let text = text(targets, vec![case("c", Status::Skipped, &[]), case("c", Status::Passed, &[])]);
        assert!(text.contains("\n  large        0       0        1\n  small        1       0        0\n"), "{text}");
    }

    #[test]
    fn the_reason_that_an_agent_gives_does_not_affect_the_terminal() {
        let mut skipped = case("c", Status::Skipped, &[]);
        skipped.reason = Some(Reason::new(Stage::Agent, ReasonCode::SkipRequested, "no\n\u{1b}]0;key\u{7}"));
        let text = text(vec![target("default", [0, 0, 0, 1])], vec![skipped]);
        assert!(text.ends_with("\n  skipped  c: no \u{241b}]0;key\u{2407}\n"), "{text}");
    }
}
