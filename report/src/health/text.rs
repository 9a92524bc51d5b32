//! Health as people read it.

use std::{fmt, iter};

use evalsuite_records::summary::TextTable;
use evalsuite_schema::diagnostics::counted;
use evalsuite_statistics::shown_p;

use super::{CaseHealth, GraderFinding, Health, JudgeHealth, ProbedSuite, SuiteHealth, UndecidedGrader};

/// Most cases of one kind that are listed.
const LISTED: usize = 20;

impl fmt::Display for Health {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let time = |index: usize| self.window[index].started_at.as_deref().unwrap_or("an unknown time");
        match self.window.as_slice() {
            [] => return writeln!(f, "no runs"),
            [only] => writeln!(f, "1 run: {} ({})", only.run, time(0))?,
            [newest, .., oldest] => {
                let last = self.window.len() - 1;
                let count = self.window.len();
                writeln!(f, "{count} runs: {} ({}) to {} ({})", oldest.run, time(last), newest.run, time(0))?;
            }
        }
        self.suites.iter().try_for_each(|suite| write!(f, "\n{suite}"))?;
        if !self.undecided_graders.is_empty() {
            writeln!(f, "\ngraders that decided no trial")?;
        }
        self.undecided_graders.iter().try_for_each(|grader| writeln!(f, "  {grader}"))?;
        self.probes.iter().try_for_each(|probe| write!(f, "{probe}"))?;
        let mut drifting = self.judges.iter().filter(|judge| judge.is_drifting).peekable();
        if drifting.peek().is_some() {
            writeln!(f, "\njudges that have drifted")?;
        }
        drifting.try_for_each(|judge| writeln!(f, "  {judge}"))
    }
}

impl fmt::Display for SuiteHealth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} @ {}: {} of {} cases mature", self.suite, self.target, self.mature, self.cases)?;
        if self.without_result > 0 {
            write!(f, ", {} more without a result", self.without_result)?;
        }
        writeln!(f, "{}", if self.is_saturated { ", saturated: add harder cases" } else { "" })?;
        let mut histogram = TextTable::new(&["pass rate of trials", "<20%", "<40%", "<60%", "<80%", "<95%", "≤100%"]);
        let counts = self.histogram.iter().map(ToString::to_string);
        histogram.add(iter::once("cases".to_owned()).chain(counts).map(Some).collect());
        histogram.write(TextTable::USUAL_WIDTH, f)?;
        cases(f, "ready for a regression suite", &self.graduates)?;
        cases(f, "broken cases or graders", &self.broken)?;
        cases(f, "flaky on one commit", &self.flaky)
    }
}

fn cases(f: &mut fmt::Formatter<'_>, kind: &str, cases: &[CaseHealth]) -> fmt::Result {
    let mut table = TextTable::new(&[kind, "passed", "runs", "commit"]);
    for CaseHealth { case, passed, trials, runs, commit } in cases.iter().take(LISTED) {
        let commit = commit.as_ref().map(|commit| commit.chars().take(10).collect());
        table.add(vec![Some(case.clone()), Some(format!("{passed}/{trials}")), Some(runs.to_string()), commit]);
    }
    table.write(TextTable::USUAL_WIDTH, f)?;
    match cases.len().checked_sub(LISTED) {
        Some(more @ 1..) => writeln!(f, "  and {more} more"),
        _ => Ok(()),
    }
}

/// What a probe says, if it says anything.
impl fmt::Display for ProbedSuite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rates = self.rates.to_string();
        if !rates.is_empty() {
            writeln!(f, "\n{}: {rates}", self.suite)?;
        }
        for (kind, findings) in
            [("graders that nothing fails", &self.vacuous), ("graders that nothing passes", &self.impossible)]
        {
            if !findings.is_empty() {
                writeln!(f, "\n{kind}")?;
            }
            for GraderFinding { location, message } in findings.iter().take(LISTED) {
                writeln!(f, "  {location}: {message}")?;
            }
            if let Some(more @ 1..) = findings.len().checked_sub(LISTED) {
                writeln!(f, "  and {more} more")?;
            }
        }
        Ok(())
    }
}

/// `shop: tone  12 undecided, 3 errors`.
impl fmt::Display for UndecidedGrader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let errors = counted(self.errors, "error");
        write!(f, "{}: {}  {} undecided, {errors}", self.suite, self.grader, self.undecided)
    }
}

impl fmt::Display for JudgeHealth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.suite, self.judge)?;
        if self.models.len() > 1 {
            let mut models: Vec<&str> = self.models.iter().map(String::as_str).collect();
            models.reverse();
            write!(f, "  model {}", models.join(" -> "))?;
        }
        if self.prompts > 0 {
            let prompts = counted(self.prompts, "equal prompt");
            write!(f, "  {:+.3} on {prompts}, p {}", self.difference, shown_p(self.p_value))?;
        }
        let kappa = self.kappa.zip(self.kappa_p_value);
        kappa.map_or(Ok(()), |((oldest, newest), p)| write!(f, "  κ {oldest:.2} -> {newest:.2}, p {}", shown_p(p)))
    }
}
