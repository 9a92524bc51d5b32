//! The `code-grader`: a command reads the evidence as JSON and prints a result, or only exits.

pub(crate) mod command_output;
pub(crate) mod result_object;

use std::time::Duration;

use evalsuite_records::record::{CommandRecord, GraderKind};
use evalsuite_schema::grader::{CodeGrader, PreparedCommand, ResultSource};
use evalsuite_schema::{Sealing, Value};

use crate::grade::code_grader::result_object::VerdictRule;
use crate::grade::grader_command::{COMMAND_LIMIT, GraderCommand, timed_out, with_input};
use crate::grade::grader_record::GraderResult;
use crate::grade::user_grader::GraderCall;
use crate::model::score::Score;

pub(crate) fn grade(config: &CodeGrader, call: &GraderCall<'_>) -> Result<GraderResult, String> {
    let limit = config.timeout_seconds.map_or(Ok(COMMAND_LIMIT), Duration::try_from_secs_f64);
    let limit = limit.map_err(|error| format!("`timeout_seconds` is out of range: {error}"))?;
    // Neither a score nor a verdict passes against the other one, inverted or not.
    let rule = if call.grader.negate { VerdictRule::Decides } else { VerdictRule::OnlyFailDecides };
    let run = |input: &Value| run(call, (&config.run, &config.sealing), input, limit, (config.result, rule));
    with_input(&config.config, call.path, call.context, run)
        .map_err(|error| format!("the transcript cannot be written to a file: {error}"))
}

/// Runs a command of a grader and reads its result.
pub(crate) fn run(
    &GraderCall { path, context, .. }: &GraderCall<'_>,
    (prepared, sealing): (&PreparedCommand, &Sealing),
    input: &Value,
    limit: Duration,
    (source, rule): (ResultSource, VerdictRule),
) -> GraderResult {
    let directory = context.grader_directory(path);
    let command = GraderCommand::new(prepared, context);
    let mut record = CommandRecord::default();
    (record.argv, record.cwd) = (command.argv.clone(), command.cwd.display().to_string());
    let sealed = command.seal(sealing, context, Some(directory.clone()));
    record.sealed = sealed.as_ref().ok().and_then(|seal| seal.record.clone());
    let finished = sealed.and_then(|seal| command.run(input, limit, context, seal.start.as_ref()));
    let score = match finished {
        Ok(finished) => {
            record.exit_code = finished.status.code();
            record.signal = finished.signal();
            record.timed_out = finished.timed_out;
            record.crashed = command_output::is_crash(&finished);
            record.stdout = context.write_output(&directory, "stdout.txt", &finished.stdout);
            record.stderr = context.write_output(&directory, "stderr.txt", &finished.stderr);
            if finished.timed_out {
                Score::error(timed_out(limit))
            } else {
                command_output::read(&finished, source, rule)
            }
        }
        Err(error) => Score::error(error),
    };
    GraderResult { command: Some(record), kind: Some(GraderKind::Command), ..score.into() }
}

/// What the graders of this file are to probes.
#[cfg(feature = "probe")]
pub(crate) mod to_probes {
    use evalsuite_schema::{Grader, GraderConfig};

    use super::*;
    use crate::grade::probed::{GraderClass, Passing, Probed};

    pub(crate) fn probed(config: &GraderConfig) -> Option<&dyn Probed> {
        if let GraderConfig::CodeGrader(config) = config { Some(config) } else { None }
    }

    impl Probed for CodeGrader {
        fn class(&self, _: fn(&Grader) -> GraderClass) -> GraderClass {
            GraderClass::Opaque
        }

        fn reads_data(&self) -> bool {
            true
        }

        fn advice(&self, _grader: &Grader, _passing: &Passing<'_>) -> Option<String> {
            Some("the command passes an agent that does nothing: let it fail without the expected result".to_owned())
        }
    }
}
