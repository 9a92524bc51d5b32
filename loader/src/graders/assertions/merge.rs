//! The graders of a case: its own, then its suite's.

use std::collections::HashMap;

use evalsuite_schema::grader::Grader;

use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::graders::field_accuracy::ReferenceAnswer;
use crate::graders::{CaseFacts, ParsedGrader};

/// Puts graders of the case and the suite together, and checks what concerns all of them.
pub(crate) fn merge(
    case: Vec<ParsedGrader>,
    suite: &[ParsedGrader],
    facts: &CaseFacts<'_>,
    d: &mut Diagnostics,
) -> Vec<Grader> {
    let own = case.len();
    let mut all = case;
    all.extend_from_slice(suite);
    let reference = ReferenceAnswer::default();
    for (index, parsed) in all.iter_mut().enumerate().filter(|(_, parsed)| !parsed.is_broken) {
        let is_own = index < own;
        check_judges(parsed, is_own, facts, d);
        check_comparisons(parsed, is_own, facts, d);
        reference.check(parsed, is_own, facts, d);
    }
    check_weights(&all, own, facts, d);
    number_names(&mut all, own, facts.tasks_layout, d);
    all.into_iter().map(|parsed| parsed.grader).collect()
}

/// A judge grader without prompt and rubrics judges by criteria or reference of the case.
fn check_judges(parsed: &ParsedGrader, is_own: bool, facts: &CaseFacts<'_>, d: &mut Diagnostics) {
    if facts.has_criteria || !facts.expected_output.is_empty() {
        return;
    }
    let help = match facts.tasks_layout {
        true => "add `prompt` or `rubrics` to the grader, or `description` or an `expected_outcome` to the task",
        false => "add `prompt` or `rubrics` to the grader, or `criteria` or `expected_output` to the case",
    };
    for span in &parsed.notes.bare_judges {
        let diagnostic = if is_own {
            Diagnostic::new(Code::MissingGraderSetting, "the `llm-grader` has nothing to judge by").at(*span)
        } else {
            let message = "the suite's `llm-grader` has nothing to judge this case by";
            Diagnostic::new(Code::MissingGraderSetting, message).at(facts.span).related(*span, "the grader")
        };
        d.push(diagnostic.help(help));
    }
}

/// Without a text of its own a grader that compares takes the reference.
fn check_comparisons(parsed: &ParsedGrader, is_own: bool, facts: &CaseFacts<'_>, d: &mut Diagnostics) {
    if facts.reference_is_broken || !facts.expected_output.is_empty() {
        return;
    }
    for (kind, key, span) in &parsed.notes.bare_comparisons {
        let code = Code::MissingGraderSetting;
        let diagnostic = if is_own {
            Diagnostic::new(code, format!("the `{kind}` grader has nothing to compare with")).at(*span)
        } else {
            let message = format!("the suite's `{kind}` grader has nothing to compare this case with");
            Diagnostic::new(code, message).at(facts.span).related(*span, "the grader")
        };
        d.push(diagnostic.help(format!("add `{key}` to the grader, or `{}` to the case", facts.reference_key())));
    }
}

fn check_weights(all: &[ParsedGrader], own: usize, facts: &CaseFacts<'_>, d: &mut Diagnostics) {
    let is_zero = |parsed: &ParsedGrader| !parsed.is_broken && parsed.grader.weight == 0.0;
    if all.is_empty() || !all.iter().all(is_zero) {
        return;
    }
    let place = if own > 0 { all[0].span } else { facts.span };
    d.report(Code::ZeroTotalWeight, place, "every grader of the case has weight 0", "give one a weight");
}

/// Makes names unique: a repeated one gets `#2`, `#3` and so on.
fn number_names(all: &mut [ParsedGrader], own: usize, tasks_layout: bool, d: &mut Diagnostics) {
    let mut firsts: HashMap<String, usize> = HashMap::with_capacity(all.len());
    let mut repeats: Vec<(usize, usize)> = Vec::new();
    for (index, parsed) in all.iter().enumerate() {
        match firsts.get(&parsed.grader.name) {
            Some(first) if !parsed.is_broken => repeats.push((*first, index)),
            Some(_) => {}
            None => drop(firsts.insert(parsed.grader.name.clone(), index)),
        }
    }
    // The next number of each name that is there more than once.
    let mut numbers: HashMap<String, usize> = HashMap::new();
    for (first, index) in repeats {
        let name = all[index].grader.name.clone();
        let number = numbers.entry(name.clone()).or_insert(1);
        let numbered = loop {
            *number += 1;
            let numbered = format!("{name}#{number}");
            if !firsts.contains_key(&numbered) {
                break numbered;
            }
        };
        if let (Some(span), false) = (all[index].named, tasks_layout) {
            let mut diagnostic =
                Diagnostic::new(Code::RepeatedGraderName, format!("name `{name}` is used again")).at(span);
            // Across case and suite the first place differs from case to case; the warning should be one.
            if (first < own) == (index < own) {
                diagnostic = diagnostic.related(all[first].named.unwrap_or(all[first].span), "first here");
            }
            d.push(diagnostic.help(format!("it becomes `{numbered}`; give it another name")));
        }
        firsts.insert(numbered.clone(), index);
        all[index].grader.name = numbered;
    }
}
