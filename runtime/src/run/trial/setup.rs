use evalsuite_schema::{
    Case, Input,
    record::{CaseOutcome, Mode, Reason, ReasonCode, Stage},
};

use crate::{
    model::{
        command::CommandEnvironment,
        interpolation::{self, Unresolved},
        messages::file_parts,
    },
    platform::environment,
    run::{
        chosen_agent::ChosenAgent,
        plan::Plan,
        preparation::Ground,
        trial::{Stop, Trial, agent::Agent},
    },
    workspace,
};

/// The case with the values of its variables.
pub(crate) fn resolve(plan: &Plan<'_>) -> Result<Case, Stop> {
    // What the agent saw is recorded; a value that is not set here stays what it stands for.
    let is_live = is_live(plan);
    let lookup = |name: &str| environment::var(name).or_else(|| (!is_live).then(|| format!("${{{{ {name} }}}}")));
    let case = interpolation::resolve(plan.case.clone(), plan.suite_data.layout, lookup).map_err(unset)?;
    let messages = match &case.input {
        Input::Messages(messages) => messages.as_slice(),
        Input::Data(_) => &[],
    };
    let turns = case.conversation.iter().flat_map(|conversation| &conversation.turns);
    for file in file_parts(messages.iter().chain(turns.map(|turn| &turn.input))) {
        let path = plan.places.resolve(file);
        if !path.is_file() {
            let message = format!("the file `{}` does not exist ({})", file.written, path.display());
            return Err(Stop::error(Stage::Setup, ReasonCode::FileMissing, message));
        }
    }
    Ok(case)
}

fn unset(unresolved: Unresolved) -> Stop {
    Stop {
        outcome: CaseOutcome::Error,
        reason: Reason::new(Stage::Setup, ReasonCode::VariableUnset, unresolved.message)
            .with_location(unresolved.location),
    }
}

/// Whether the agent is called, not what it did before replayed.
fn is_live(plan: &Plan<'_>) -> bool {
    matches!(plan.settings.mode, Mode::Live | Mode::Record)
}

/// The agent, with the values of its variables.
pub(crate) fn agent<'a>(plan: &'a Plan<'_>) -> Result<Agent<'a>, Stop> {
    match &plan.agent {
        _ if !is_live(plan) => Ok(Agent::Nobody),
        ChosenAgent::Rust(agent) => Ok(Agent::Rust(agent)),
        ChosenAgent::Command(command) => {
            command.resolve(&|name: &str| environment::var(name)).map(Agent::Command).map_err(unset)
        }
        ChosenAgent::Unusable(problem) => Err(Stop::error(Stage::Setup, ReasonCode::TargetUnusable, problem.as_str())),
    }
}

/// Whether the target is there, asked once per run, when everything is set up that it may need.
pub(crate) fn health(trial: &Trial<'_>) -> Result<(), Stop> {
    let Trial { plan, agent: Agent::Command(command), .. } = trial else { return Ok(()) };
    let environment = CommandEnvironment::new(
        vec![
            ("EVALSUITE_SUITE_DIR", plan.places.suite_dir.clone().into()),
            ("EVALSUITE_RUN_ID", plan.run.run_id.as_str().into()),
            ("EVALSUITE_TARGET", plan.target.as_str().into()),
        ],
        plan.settings.echo,
    );
    command
        .check_health(&plan.run.locks(), &plan.places, &environment, &plan.redactor)
        .map_err(|error| Stop::error(Stage::Setup, ReasonCode::HealthcheckFailed, error.to_string()))
}

/// Makes the trial's workspace.
pub(crate) fn workspace(trial: &Trial<'_>) -> Result<(), Stop> {
    let made = match trial.ground {
        Ground::Template => workspace::materialise(trial.case.workspace.as_ref(), &trial.workspace, &trial.plan.places),
        Ground::Base { directory, .. } => workspace::copy_to_trial(directory, &trial.workspace),
        Ground::Shared { .. } => Ok(()),
    };
    made.map_err(|error| Stop::error(Stage::Workspace, ReasonCode::WorkspaceError, error.to_string()))
}
