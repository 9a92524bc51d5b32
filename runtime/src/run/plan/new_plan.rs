//! How a plan is made.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use evalsuite_records::record::CaseIdentity;
use evalsuite_schema::digest::CaseDigests;
use evalsuite_schema::{Case, CliTarget, Location, SealMode, Suite, Workspace};

use crate::agents::command::cli_agent::CliAgent;
use crate::grade::scoring::{CaseStandard, case_rule};
use crate::judge::judge_choice::KEYS;
use crate::model::evals::Evals;
use crate::model::interpolation;
use crate::model::suite::EvalCase;
use crate::model::suite_location::{package_directory, program};
use crate::platform::digest::case_key;
use crate::platform::redaction::Redactor;
use crate::record::cassette::AgentInput;
use crate::record::embedded_files;
use crate::record::run_directory::RunDirectory;
use crate::run::case_report::{CaseError, decode_case, decode_suite};
use crate::run::plan::{Plan, regrade};
use crate::run::selection::{ChosenAgent, DEFAULT_TARGET, check_targets, compares_with_baseline};
use crate::run::settings::Settings;

/// Limit of an agent call where none is set.
const AGENT_LIMIT: Duration = Duration::from_secs(300);

impl<'a> Plan<'a> {
    pub(crate) fn new(
        evals: &'a Evals,
        entry: &'static EvalCase,
        settings: &'a Settings,
        run: &'a RunDirectory,
    ) -> Result<Self, CaseError> {
        let suite = evals.suite();
        let data = decode_suite(suite)?;
        let mut case = decode_case(entry)?;
        if let Some(selected) = &settings.targets {
            check_targets(selected, evals, &data)?;
        }
        let places = embedded_files::suite_location(suite, run, &case.dir).map_err(CaseError::unusable)?;

        let digests = entry.json.digests().unwrap_or_else(|| CaseDigests::of(&case));
        // A skill is put into a workspace, and the other targets work in the same one without it.
        if data.targets.iter().any(|target| !target.skill.is_empty()) {
            case.workspace.get_or_insert_default();
        }
        let target = target(entry, &case, settings)?;
        let agent = ChosenAgent::of(&target, evals, &data, settings, &places);
        let written_limit = case.timeout_seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        let limit = settings.timeout.or(written_limit).or_else(|| agent.command()?.limit()).unwrap_or(AGENT_LIMIT);
        let of_target = data.target(&target);
        let command = agent.command().map(|agent| with_default_seal(&agent.target, data.sealed));
        let seen = AgentInput::new(&case, &target, command.as_ref(), &places)
            .with_acp(agent.command().and_then(|agent| agent.acp.as_deref()))
            .with_target_hooks(of_target.map(|target| &target.hooks), &places)
            .with_target_skill(of_target.map(|target| target.skill.as_slice()).unwrap_or_default(), &places);

        let case_key = case_key(suite.name, &target, entry.id);
        // The test that runs a case: the test program and the test's path in it.
        let owner = format!("{}\0{}\0{}", program(), suite.module_path, entry.test_name);
        let case_directory = run
            .claim_case(&suite.key(), &case_key, &owner, settings.runner.stress.as_deref())
            .map_err(|error| CaseError::unwritable(&format!("case `{}`", entry.id), run.path(), error))?;
        let regraded = settings
            .regrade
            .as_deref()
            .map(|run_id| regrade::find_trials(run, run_id, suite, &case_key, &suite.test_path(entry)));
        let planned = match &regraded {
            Some(Ok(earlier)) => earlier.trials,
            _ => settings.trials.unwrap_or(case.trials.count),
        };

        let variables = variables(entry, &case, &data, &target, &agent);
        let secrets: Vec<String> =
            case.requires.env.iter().chain(&variables).cloned().chain(KEYS.map(str::to_owned)).collect();
        let mut plan = Self {
            standard: CaseStandard {
                rule: case_rule(data.kind, case.trials.strategy),
                threshold: settings.threshold.or(case.threshold).unwrap_or_else(|| data.layout.default_threshold()),
                tolerated_errors: case.trials.errors,
            },
            planned: planned.max(1),
            identity: CaseIdentity {
                run_id: run.run_id.clone(),
                suite: suite.name.to_owned(),
                suite_digest: data.digest.clone(),
                layout: data.layout,
                kind: data.kind,
                case_id: entry.id.to_owned(),
                case_key,
                case_digest: digests.case,
                input_digest: seen.digest(),
                grader_digest: digests.graders,
                test_name: suite.test_path(entry),
                target,
                agent: suite.agent_name.map_or_else(|| agent.name(), str::to_owned),
                location: Location::new(entry.file, entry.line, entry.column),
                runner_attempt: settings.runner.attempt,
                requested_by: None,
            },
            directory: case_directory.attempt(settings.runner.attempt),
            dependencies: Arc::default(),
            reuses_dependencies: true,
            redactor: Redactor::of(secrets.iter().map(String::as_str)).and_values(settings.judge.secrets()),
            evals,
            settings,
            run,
            suite,
            data,
            entry,
            case,
            places,
            agent,
            limit,
            seen,
            case_directory,
            variables,
            secrets,
            regraded,
            accepted_answer: None,
        };
        plan.accepted_answer = compares_with_baseline(&plan.case).then(|| {
            evalsuite_records::baseline::accepted_answer(&package_directory(suite), &suite.id(), &plan.identity)
        });
        Ok(plan)
    }
}

/// The target of the matrix entry, else of EVALSUITE_TARGET, else of the case, else `default`.
fn target(entry: &EvalCase, case: &Case, settings: &Settings) -> Result<String, CaseError> {
    if let Some(target) = entry.target {
        return Ok(target.to_owned());
    }
    match settings.targets.as_deref() {
        None => Ok(case.target.clone().unwrap_or_else(|| DEFAULT_TARGET.to_owned())),
        Some([target]) => Ok(target.clone()),
        Some(targets) => Err(CaseError::Unusable(format!(
            "EVALSUITE_TARGET names {} targets, but the suite has no matrix of targets to choose from",
            targets.len()
        ))),
    }
}

/// Names of the variables of a case, its target, the suite's workspace, and the hooks of the suite and of the target.
fn variables(entry: &EvalCase, case: &Case, data: &Suite, target: &str, agent: &ChosenAgent) -> BTreeSet<String> {
    let of_target = data.targets.iter().find(|known| known.name == target);
    let of_target = of_target.map(|target| Workspace { hooks: target.hooks.clone(), ..Workspace::default() });
    let workspaces = data.workspace.iter().cloned().chain(of_target);
    let mut names: BTreeSet<String> =
        workspaces.flat_map(|workspace| interpolation::workspace_variables(&workspace, &case.location)).collect();
    if entry.may_have_variables() {
        names.extend(interpolation::variables(case, data.layout));
    }
    names.extend(agent.command().into_iter().flat_map(CliAgent::variables));
    names
}

/// The command with the default of its suite, which an outcome depends on as on the command.
fn with_default_seal(target: &CliTarget, suite: Option<SealMode>) -> CliTarget {
    let mut target = target.clone();
    target.sealing.sealed = target.sealing.sealed.or(suite);
    target
}
