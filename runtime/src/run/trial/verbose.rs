//! The output of `EVALSUITE_VERBOSE` for each trial.

use evalsuite_records::record::{Timings, TrialRecord};

use crate::platform::process::echo::Echo;

/// Shows how a trial ended and how long its steps took.
pub(crate) fn show_trial(record: &TrialRecord, echo: Echo) {
    echo.say(|| {
        let Timings { setup_ms, agent_ms, capture_ms, grading_ms, teardown_ms, total_ms, .. } = record.timings;
        format!(
            "{} trial {}: {}; setup {setup_ms} ms, agent {agent_ms} ms, capture {capture_ms} ms, \
             grading {grading_ms} ms, teardown {teardown_ms} ms, total {total_ms} ms",
            record.test_name,
            record.trial,
            record.outcome.as_str(),
        )
    });
}
