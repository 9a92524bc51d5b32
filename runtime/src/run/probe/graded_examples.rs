//! The examples of a case in its probe: what they say about its graders.

use evalsuite_records::record::{ProbeResult, ProbedCase, ResultKind};

use crate::run::made_up::grader_examples::GradedExample;
use crate::run::probe::grader_paths::verdicts;

/// Adds examples that were graded. Those of one grader say nothing about the case.
pub(super) fn add(probed: &mut ProbedCase, examples: &[GradedExample]) {
    for example in examples {
        let graded = &example.graded;
        if let Some(path) = &example.grader {
            count(probed, path, graded.passes);
            continue;
        }
        let mut result = ProbeResult::default();
        result.probe = if example.should_pass { ResultKind::Pass } else { ResultKind::Fail };
        result.detail = Some(example.place());
        (result.passes, result.score) = (graded.passes, graded.score);
        for verdict in verdicts(&graded.graders, None) {
            count(probed, &verdict.path, Some(verdict.passes));
            if !verdict.passes {
                result.failed.push(verdict.path);
            }
        }
        probed.results.push(result);
    }
}

fn count(probed: &mut ProbedCase, path: &str, passes: Option<bool>) {
    let (Some(grader), Some(passes)) = (probed.graders.iter_mut().find(|grader| grader.path == path), passes) else {
        return;
    };
    let count = if passes { &mut grader.passed } else { &mut grader.failed };
    *count += 1;
}
