//! From arguments to tokens.

use std::path::Path;

use evalsuite_build::codegen::{self, COMMANDS, Module};
use evalsuite_build::environment::{self, DENY_WARNINGS};
use evalsuite_build::expansion::{self, Expansion, Judges, Options, limited};
use evalsuite_loader::Request;
use proc_macro2::{Span, TokenStream};

use crate::args::{self, Agent, Args, Error, Judge, Text};
use crate::emit;
use crate::place::Place;

/// Expands a call. Whatever is wrong becomes compile errors, beside a suite without cases that keeps code which uses the
/// suite from failing too.
pub(crate) fn include_eval_suite(arguments: TokenStream) -> TokenStream {
    let mut errors = Vec::new();
    let mut output = emit::guard();
    if let Some(args) = args::parse(arguments, &mut errors) {
        match Place::of(args.entry.span) {
            Ok(place) => output.extend(suite(&args, &place, &mut errors)),
            Err(message) => errors.push(Error::new(args.entry.span, message)),
        }
    }
    output.extend(errors.iter().map(|error| emit::compile_error(&error.message, error.span)));
    output
}

fn suite(args: &Args, place: &Place, errors: &mut Vec<Error>) -> TokenStream {
    let options = options(args, place, errors);
    let mut expansion = expansion::expand(&options);
    let span = args.entry.span;
    let mut output = TokenStream::new();
    for message in limited(std::mem::take(&mut expansion.errors), "error", &args.entry.value) {
        errors.push(Error::new(span, message));
    }
    for message in limited(std::mem::take(&mut expansion.warnings), "warning", &args.entry.value) {
        output.extend(emit::warning(&message, span));
    }
    let calls = calls(args, &expansion, errors);
    if !errors.is_empty() {
        expansion.fail();
    }
    if options.bound {
        if args.agent.is_none() {
            output.extend(emit::code(&emit::agent_scope(&expansion.module)));
        }
        output.extend(emit::code(&codegen::binding_head(&expansion.module)));
        output.extend(emit::block(calls));
    }
    let module = Module {
        name: &expansion.module,
        body: &expansion.body,
        bound: options.bound,
        checked: errors.is_empty(),
        ignore: options.ignore.as_deref(),
        embedded: &expansion.embedded,
        diagnostics: &expansion.diagnostics,
    };
    let mut text = module.to_code();
    text.push_str(&trackers(&expansion, place));
    output.extend(emit::code(&text));
    output
}

fn options(args: &Args, place: &Place, errors: &mut Vec<Error>) -> Options {
    let registered = texts(args.graders.iter().map(|grader| &grader.name));
    for (index, problem) in expansion::registration_problems(&registered) {
        errors.push(Error::new(args.graders[index].name.span, problem));
    }
    for name in &args.allow {
        errors.extend(expansion::allow::problem(&name.value).map(|problem| Error::new(name.span, problem)));
    }
    let mut request = Request::new(&args.entry.value, place.package_root_of(&args.entry.value));
    request.source_dir.clone_from(&place.source_dir);
    request.targets = texts(&args.targets);
    request.fixtures = args.fixtures;
    let mut options = Options::new(request);
    options.name = args.name.as_ref().map(ToString::to_string);
    options.bound = !matches!(args.agent, Some(Agent::Nobody));
    if matches!(args.agent, Some(Agent::Commands)) {
        let with_own = args.agents.iter().map(|(target, _)| target.value.clone());
        options.commands = Some(with_own.collect());
    }
    // A list with a mistake in it says nothing about the graders that are missing in it.
    options.graders = (options.bound && errors.is_empty()).then_some(registered);
    options.judges = Some(judges(args));
    options.ignore = args.ignore.as_ref().map(|reason| reason.value.clone());
    options.requires.env = texts(&args.require_env);
    options.requires.commands = texts(&args.require_commands);
    options.allow = texts(&args.allow);
    options.embed = args.embed;
    options.deny_warnings = args.deny_warnings || place.deny_warnings;
    options.out_dir.clone_from(&place.out_dir);
    options
}

/// `evals` with agents, graders and judges, in the caller's scope.
fn calls(args: &Args, expansion: &Expansion, errors: &mut Vec<Error>) -> TokenStream {
    let mut calls = emit::code("evals");
    let with_own = || args.agents.iter().map(|(target, _)| target.value.as_str());
    match (&args.agent, &expansion.suite) {
        (Some(Agent::Expression(agent)), _) => calls.extend(emit::call("with_agent", agent.clone())),
        (Some(Agent::Commands), _) => calls.extend(emit::call("with_agent", emit::code(COMMANDS))),
        (None, Some(about)) => match about.default_agent(with_own()) {
            Ok(Some(function)) => {
                // Where it does not exist, rustc points at the path of the suite that asks for it, and says in what module
                // it has looked.
                let span = args.entry.span.resolved_at(Span::call_site());
                let path = format!("{}::{function}", emit::agent_scope_name(&expansion.module));
                calls.extend(emit::call("with_agent", emit::spanned(emit::code(&path), span)));
            }
            Ok(None) => {}
            Err(problem) => errors.push(Error::new(args.entry.span, problem)),
        },
        // Without a suite nobody knows what its agent is called.
        (Some(Agent::Nobody), _) | (None, None) => {}
    }
    if let Some(about) = &expansion.suite {
        for (index, problem) in about.unknown_targets(with_own()) {
            errors.push(Error::new(args.agents[index].0.span, problem));
        }
    }
    let named = |method: &str, name: &Text, item: &TokenStream| {
        let mut arguments = emit::name_argument(&name.value);
        arguments.extend(item.clone());
        emit::call(method, arguments)
    };
    calls.extend(args.agents.iter().map(|(target, agent)| named("with_target_agent", target, agent)));
    calls.extend(args.graders.iter().map(|grader| named("with_grader", &grader.name, &grader.item)));
    calls.extend(args.judges.iter().map(|(name, judge)| named("with_named_judge", name, judge)));
    calls.extend(args.judge.iter().filter_map(|judge| match judge {
        Judge::Expression(judge) => Some(emit::call("with_judge", judge.clone())),
        // No name is left where all of them are wrong.
        Judge::Named(names) if names.is_empty() => None,
        Judge::Named(names) => Some(emit::call("with_default_judges", emit::code(&codegen::list(&texts(names))))),
    }));
    calls.extend(args.judge_confirm.map(|number| emit::call("with_judge_confirm", emit::code(&number.to_string()))));
    if expansion::may_be_commands(&judges(args), expansion.suite.as_ref()) {
        calls.extend(emit::call("with_command_judges", TokenStream::new()));
    }
    calls
}

fn judges(args: &Args) -> Judges {
    let default = match &args.judge {
        Some(Judge::Named(names)) => texts(names),
        Some(Judge::Expression(_)) | None => Vec::new(),
    };
    Judges { registered: texts(args.judges.iter().map(|(name, _)| name)), default }
}

/// Makes rustc expand the macro again when a file changes that no build script tracks, or the variable that denies warnings.
fn trackers(expansion: &Expansion, place: &Place) -> String {
    let untracked = expansion
        .files
        .iter()
        .map(|file| file.as_path())
        .filter(|file: &&Path| !environment::is_tracked(file, &place.tracked));
    let mut text = codegen::trackers(untracked);
    text.push_str("const _: ::core::option::Option<&str> = ::core::option_env!(");
    text.push_str(&codegen::string_literal(DENY_WARNINGS));
    text.push_str(");\n");
    text
}

fn texts<'t>(texts: impl IntoIterator<Item = &'t Text>) -> Vec<String> {
    texts.into_iter().map(|text| text.value.clone()).collect()
}
