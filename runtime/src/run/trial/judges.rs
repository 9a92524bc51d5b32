//! What the judges of a trial used and cost.

use evalsuite_schema::record::{GraderRecord, Note, TrialRecord};

/// Adds up tokens and cost of all calls of judges, and says where a judge is the model that it judges.
pub(crate) fn add_up(graders: &[GraderRecord], record: &mut TrialRecord) {
    for grader in graders {
        add(grader, record);
    }
}

fn add(grader: &GraderRecord, record: &mut TrialRecord) {
    if let Some(judge) = &grader.judge {
        if let Some(usage) = judge.usage {
            *record.judge_usage.get_or_insert_default() += usage;
        }
        if let Some(cost) = judge.cost_usd {
            *record.judge_cost_usd.get_or_insert_default() += cost;
        }
        if judge.model.is_some() && judge.model == record.model {
            let model = judge.model.as_deref().unwrap_or_default();
            let message = format!("grader `{}` was judged by the model of the agent, `{model}`", grader.name);
            record.notes.push(Note::new("judge_is_model_of_agent", message));
        }
    }
    for member in &grader.members {
        add(member, record);
    }
}
