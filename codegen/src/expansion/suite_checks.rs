//! The second phase: the binding checked against what the suite says, and an agent that is looked up by its name against the source file
//! with the call.

use std::collections::BTreeSet;
use std::fs;

use evalsuite_loader::{load_targets, registered_graders};
use evalsuite_schema::Location;
use evalsuite_schema::diagnostics::SourceRange;
use proc_macro2::{TokenStream, TokenTree};
use syn::spanned::Spanned;
use syn::{Expr, Path};

use super::taken_suite::TakenSuite;
use super::{Reports, registrations};
use crate::binding::{Agent, Binding, Judge, Problem};
use crate::embed;
use crate::suite_facts::SuiteFacts;

/// Errors of a program without a feature of evalsuite, with the macro that expands to them there.
type FeatureErrors = Vec<(&'static str, Problem)>;

/// Checks the binding against the suite that was taken, and adds what the binding says about it: its name, its targets file, and the
/// features that it needs.
pub(super) fn check(mut suite: TakenSuite, reports: &mut Reports<'_>) -> TakenSuite {
    let binding = reports.binding;
    if let Some(name) = &binding.name {
        suite.module = name.to_string();
    }
    if let Some(facts) = &suite.code.facts {
        check_names(facts, &suite.module, reports);
    }
    let (missing_of_targets, sealed_targets) = use_targets_file(&mut suite, reports);
    if let Some(facts) = &suite.code.facts {
        let seals: BTreeSet<Location> = facts.seals.union(&sealed_targets).cloned().collect();
        let missing = [
            ("__without_json_schema", registered_graders::without_json_schema(&facts.json_schemas)),
            ("__without_patterns", registered_graders::without_patterns(&facts.patterns)),
            ("__without_unicode_patterns", registered_graders::without_unicode_patterns(&facts.unicode_patterns)),
            ("__without_sealed", registered_graders::without_sealed(&seals)),
        ];
        // A program without tests grades no examples, but its judges are measured.
        let examples = if binding.has_tests() { &facts.examples } else { &BTreeSet::new() };
        let grader_tests = registered_graders::without_grader_tests(examples, facts.calibration.as_ref());
        let missing = missing.map(|(feature, problem)| (feature, problem.filter(|_| binding.has_tests())));
        let without_users = registrations::users_without_feature(binding, facts).filter(|_| binding.has_tests());
        suite.code.feature_errors.extend(without_users.map(|problem| ("__without_users", problem)));
        for (feature, problem) in missing.into_iter().chain([("__without_grader_tests", grader_tests)]) {
            let problem = problem.map(|problem| (feature, Problem::diagnostic(binding.span(), problem)));
            suite.code.feature_errors.extend(problem);
        }
    }
    suite.code.feature_errors.extend(missing_of_targets);
    suite
}

/// Checks the names in the binding. The judges and commands of an invalid binding are not known.
fn check_names(facts: &SuiteFacts, module: &str, reports: &mut Reports<'_>) {
    let (binding, context) = (reports.binding, reports.context);
    let mut problems = registrations::unknown_targets(binding, facts);
    let is_by_name = matches!(binding.agent, Agent::ByName) && !registrations::all_have_agents(binding, facts);
    match registrations::agent_function(facts) {
        Err(name) if is_by_name => {
            let message = format!(
                "the suite's `agent_name` is `{name}`, which is not a valid function name; name the agent: `agent = my_agent`"
            );
            problems.push(Problem::argument(binding.span(), message));
        }
        Ok(function) if is_by_name && reports.is_valid => {
            let source = context.source_file.as_ref().and_then(|file| fs::read_to_string(file).ok());
            problems.extend(source.and_then(|source| missing_agent(&source, &function, binding.span())));
        }
        _ => {}
    }
    problems.extend(hidden_paths(binding, module));
    if reports.is_valid {
        let missing_file = registrations::missing_targets_file(binding, context, facts);
        reports.add_all(missing_file.into_iter().chain(registrations::unknown_judges(binding, context, facts)));
        if binding.has_tests() && context.all_graders_listed {
            reports.add_all(registrations::unknown_users(binding, facts));
        }
    }
    reports.problems.extend(problems);
}

/// Checks the targets file of agents and judges that are commands, and embeds it with their directories. Returns the errors
/// of a program without a feature that it needs, unless its binding asks for the feature, and the entries that are sealed.
fn use_targets_file(suite: &mut TakenSuite, reports: &mut Reports<'_>) -> (FeatureErrors, BTreeSet<Location>) {
    let (binding, context, facts) = (reports.binding, reports.context, suite.code.facts.as_ref());
    let has_agents = registrations::has_agents_of_file(binding, facts);
    let has_judges =
        context.all_judges_listed && binding.has_tests() && registrations::judges_are_commands(binding, facts);
    let mut missing = FeatureErrors::new();
    if !has_agents && !has_judges {
        return (missing, BTreeSet::new());
    }
    let Some(Some(file)) = registrations::find_file_of_targets(&context.request) else {
        return (missing, BTreeSet::new());
    };
    let loaded = load_targets(&file, &context.request);
    if has_agents {
        let place = SourceRange::whole(loaded.files.shown(&file));
        let used: Vec<&str> =
            facts.map(|facts| registrations::targets_file_entries(facts).collect()).unwrap_or_default();
        let undefined = match (&loaded.targets, facts) {
            (Some(_), Some(facts)) => registrations::undefined_in_file(&loaded, &place, binding, facts),
            _ => Vec::new(),
        };
        if let (Some(file), Agent::Commands { acp: false }) = (&loaded.targets, &binding.agent)
            && registrations::speak_acp(file, used.iter().copied())
        {
            missing.push(("__without_acp", needs_acp(binding)));
        }
        reports.add_all(loaded.problems_of(used).grouped().into_iter().chain(undefined));
    }
    if let Some(embedded) = suite.code.embedded.as_mut().filter(|_| binding.embed) {
        match embed::command_files(&file, &loaded, &context.request) {
            Ok(contents) => embedded.files.extend(contents),
            Err(problem) => reports.add(*problem),
        }
    }
    suite.files.push(file);
    if !has_agents {
        missing.push(("__without_cli_agents", needs_cli_agents(binding, "judges")));
    }
    let sealed = match facts {
        Some(facts) if has_agents => loaded.sealed(
            registrations::agent_commands(binding, facts).chain(registrations::judge_commands(binding, Some(facts))),
        ),
        facts => loaded.sealed(registrations::judge_commands(binding, facts)),
    };
    (missing, sealed)
}

/// An error, for a build without that feature, about agents that speak the Agent Client Protocol.
pub(super) fn needs_acp(binding: &Binding) -> Problem {
    let who = "agents that speak the Agent Client Protocol";
    Problem::diagnostic(binding.span(), registered_graders::missing_feature(who, "acp"))
}

/// An error, for a build without that feature, about `agents` or `judges` of a targets file.
pub(super) fn needs_cli_agents(binding: &Binding, who: &str) -> Problem {
    let who = format!("{who} that are commands of a targets file");
    Problem::diagnostic(binding.span(), registered_graders::missing_feature(&who, "cli-agents"))
}

/// The error about a `function` that is the agent and that a source file certainly does not have, with those that it has. `None` if it may
/// come from a glob import or a macro: then rustc decides.
fn missing_agent(source: &str, function: &str, span: proc_macro2::Span) -> Option<Problem> {
    let tokens: Vec<TokenTree> = source.parse::<TokenStream>().ok()?.into_iter().collect();
    if may_have(&tokens, function) {
        return None;
    }
    let agents = functions_with_trial(&tokens);
    let help = match &agents[..] {
        [] => format!("write it: `async fn {function}(trial: &mut Trial<'_>) -> Result<String, BoxError>`"),
        [first, ..] => {
            let listed: Vec<String> = agents.iter().map(|name| format!("`{name}`")).collect();
            match &listed[..] {
                [only] => format!("here is {only}: write `agent = {first}`"),
                _ => format!("here are {}: write `agent = {first}`, or another one", listed.join(", ")),
            }
        }
    };
    Some(Problem::argument(
        span,
        format!("cannot find the agent: this file has no function `{function}`\nhelp: {help}"),
    ))
}

/// Whether a name or a glob import is anywhere in the file, or the call of another macro where items are.
fn may_have(tokens: &[TokenTree], name: &str) -> bool {
    calls_macro(tokens)
        || all(tokens).windows(2).any(|pair| match &pair[1] {
            TokenTree::Ident(ident) => *ident == name,
            TokenTree::Punct(punct) => punct.as_char() == '*' && is_punct(pair.first(), ':'),
            _ => false,
        })
}

/// Whether a macro that may make functions is called in a module.
fn calls_macro(items: &[TokenTree]) -> bool {
    items.iter().enumerate().any(|(index, token)| match token {
        TokenTree::Ident(ident) => is_punct(items.get(index + 1), '!') && *ident != "include_eval_suite",
        TokenTree::Group(group) => {
            let is_module = index > 1 && matches!(&items[index - 2], TokenTree::Ident(ident) if *ident == "mod");
            is_module && calls_macro(&group.stream().into_iter().collect::<Vec<_>>())
        }
        _ => false,
    })
}

/// The tokens with those in groups, each group after its tokens.
fn all(tokens: &[TokenTree]) -> Vec<TokenTree> {
    let with_inner = |token: &TokenTree| {
        let inner = match token {
            TokenTree::Group(group) => all(&group.stream().into_iter().collect::<Vec<_>>()),
            _ => Vec::new(),
        };
        inner.into_iter().chain([token.clone()]).collect::<Vec<_>>()
    };
    tokens.iter().flat_map(with_inner).collect()
}

/// The functions of the outermost module that take a `Trial`.
fn functions_with_trial(tokens: &[TokenTree]) -> Vec<String> {
    let function = |window: &[TokenTree]| {
        let [TokenTree::Ident(keyword), TokenTree::Ident(name), rest @ ..] = window else { return None };
        let arguments =
            rest.iter().find_map(|token| if let TokenTree::Group(group) = token { Some(group) } else { None })?;
        let takes_trial =
            arguments.stream().into_iter().any(|token| matches!(token, TokenTree::Ident(it) if it == "Trial"));
        (*keyword == "fn" && takes_trial).then(|| name.to_string())
    };
    (0..tokens.len()).filter_map(|start| function(&tokens[start..])).collect()
}

fn is_punct(token: Option<&TokenTree>, character: char) -> bool {
    matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == character)
}

/// An error for every path of the binding that starts with the name of the module: the module hides a crate of this name.
fn hidden_paths(binding: &Binding, module: &str) -> Vec<Problem> {
    let agent = if let Agent::Expression(agent) = &binding.agent { Some(&**agent) } else { None };
    let judge = if let Some(Judge::Expression(judge)) = &binding.judge { Some(&**judge) } else { None };
    let named = [&binding.agents, &binding.graders, &binding.judges, &binding.users]
        .into_iter()
        .flatten()
        .map(|item| &item.value);
    let paths = agent.into_iter().chain(judge).chain(named).filter_map(path).chain(&binding.crate_path);
    let hidden = paths.filter_map(|path| {
        let first = path.segments.first()?;
        let is_hidden = path.leading_colon.is_none() && path.segments.len() > 1 && first.ident == module;
        is_hidden.then(|| {
            let segments = path.segments.iter().map(|segment| segment.ident.to_string()).collect::<Vec<_>>();
            let message = format!(
                "`{module}` is the name of the suite's module, which hides the crate; write `::{}`, or name the module: `name = {module}_suite`",
                segments.join("::")
            );
            Problem::argument(path.span(), message)
        })
    });
    hidden.collect()
}

fn path(expression: &Expr) -> Option<&Path> {
    match expression {
        Expr::Path(path) => Some(&path.path),
        Expr::Group(group) => path(&group.expr),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proc_macro2::Span;

    use super::missing_agent;
    use crate::binding::Agent;
    use crate::tests::{Call, Fixture, named};

    const TARGETS: &str = "targets:\n- { name: default, use_target: sealed }\n- { name: open, provider: cli, command: run }\n\
                           - { name: sealed, provider: cli, command: run, sealed: auto }\n\
                           - { name: judge, provider: cli, command: run, sealed: required }\n";

    /// The errors of a program without the feature `sealed`.
    fn without_sealed(call: &Call) -> Vec<String> {
        let errors = call.expand().code.feature_errors.into_iter();
        errors.filter(|(feature, _)| *feature == "__without_sealed").map(|(_, problem)| problem.text()).collect()
    }

    #[test]
    fn entries_of_a_targets_file_that_are_sealed_need_the_feature_as_the_suite_does() {
        let fixture = Fixture::new(&[("targets.yaml", TARGETS)]);
        let mut call = fixture.call("suites/card_agent");
        assert_eq!(without_sealed(&call), [] as [String; 0], "the agent is Rust code");
        call.binding.agent = Agent::Commands { acp: false };
        for round in ["loaded", "from the cache"] {
            let [error] = &without_sealed(&call)[..] else { panic!("one error of the suite that is {round}") };
            assert!(error.contains("commands with `sealed` need the feature `sealed`"), "{error}");
            assert!(error.contains("targets.yaml:4:3") && !error.contains("targets.yaml:5"), "{error}");
        }
        call.binding.agents = vec![named("default")];
        assert_eq!(without_sealed(&call), [] as [String; 0], "the target has an agent of its own");
        call.judges(&[], "judge");
        let [error] = &without_sealed(&call)[..] else { panic!("one error") };
        assert!(error.contains("targets.yaml:5:3"), "{error}");
        call.judges(&["judge"], "judge");
        assert_eq!(without_sealed(&call), [] as [String; 0], "the judge is Rust code");
    }

    fn message(source: &str) -> Option<String> {
        missing_agent(source, "agent", Span::call_site()).map(|problem| problem.text().to_string())
    }

    #[test]
    fn the_functions_that_take_a_trial_are_named() {
        let source = "use evalsuite::{BoxError, Trial};\nevalsuite::include_eval_suite!(\"suites/shop\");\n\
                      async fn respond(trial: &mut Trial<'_>) -> Result<String, BoxError> { ask() }\nfn helper() {}\n\
                      #[test] fn other<'a>(_: &'a mut evalsuite::Trial<'a>) {}";
        let expected = "cannot find the agent: this file has no function `agent`\nhelp: here are `respond`, `other`: write `agent = respond`, or another one";
        assert_eq!(message(source).as_deref(), Some(expected));
        let source = "include_eval_suite!(\"suites/shop\");";
        let expected = "cannot find the agent: this file has no function `agent`\n\
                        help: write it: `async fn agent(trial: &mut Trial<'_>) -> Result<String, BoxError>`";
        assert_eq!(message(source).as_deref(), Some(expected));
    }

    #[test]
    fn a_name_that_may_come_from_elsewhere_is_not_missing() {
        for source in [
            "fn agent() {}",
            "use shop::agent;",
            "use shop::{tools, agents::{run as agent}};",
            "use super::*;",
            "mod evals { fn agent() {} }",
            "use shop::{prelude::*, Tool};",
            "include!(\"agent.rs\");",
            "make_agent!();",
        ] {
            assert_eq!(message(source), None, "{source}");
        }
    }
}
