//! From the arguments of a call to its tokens.

use std::io::Write;
use std::path::{Path, PathBuf};

use evalsuite_codegen::binding::{Binding, Problem};
use evalsuite_codegen::cargo_environment::DENY_WARNINGS;
use evalsuite_codegen::expansion::{Context, Expansion, compile_error};
use evalsuite_codegen::macro_arguments::Arguments;
use evalsuite_codegen::{cargo_environment, expansion, macro_arguments, skill_bindings};
use evalsuite_loader::Request;
use proc_macro2::TokenStream;
use quote::quote;

use crate::call_site::{context, is_misplaced, source_file};

/// Expands a call. Every problem becomes a compile error or a warning; with errors the suite has no cases, so that code which uses the
/// suite still compiles.
pub(crate) fn include_eval_suite(tokens: TokenStream) -> TokenStream {
    let guard = guard();
    let Arguments { binding, mut problems } = macro_arguments::parse(tokens.clone());
    let source_file = binding.as_ref().and_then(|binding| source_file(binding.entry.span()));
    let context = binding.as_ref().and_then(|binding| {
        context(&binding.entry.value(), source_file.as_deref())
            .map_err(|error| problems.push(Problem::argument(binding.entry.span(), error)))
            .ok()
    });
    let (Some(binding), Some(context)) = (binding, context) else {
        let errors = problems.iter().map(compile_error);
        return quote!(#guard #(#errors)*);
    };
    if is_misplaced(&tokens, source_file.as_deref()) {
        return compile_error(&Problem::argument(binding.entry.span(), MISPLACED.to_owned()));
    }
    let directory = entry_directory(&context.request);
    let suites = match skill_bindings::of_each_skill(binding, &directory) {
        Ok(bindings) => bindings.into_iter().map(|binding| suite(binding, &context, problems.clone())).collect(),
        Err(problem) => vec![compile_error(&problem)],
    };
    quote!(#guard #(#suites)*)
}

/// The code of one suite. `context` is that of the call, which may name a directory of several suites.
fn suite(binding: Binding, context: &Context, problems: Vec<Problem>) -> TokenStream {
    let mut context = context.clone();
    context.request.entry = binding.entry.value();
    let expansion = expansion::expand(binding, &context, problems);
    let warnings = expansion.problems().iter().filter(|problem| !problem.is_error()).filter_map(warning);
    let trackers = trackers(&expansion);
    let code = expansion.tokens();
    quote!(#(#warnings)* #code #trackers)
}

/// The directory that the entry names, if it is one.
fn entry_directory(request: &Request) -> PathBuf {
    match (&request.source_dir, request.entry.strip_prefix("./")) {
        (Some(directory), Some(rest)) => directory.join(rest),
        _ => request.package_root.join(&request.entry),
    }
}

/// Warns in the stream in which cargo reads warnings, else returns code for which rustc warns.
fn warning(problem: &Problem) -> Option<TokenStream> {
    let span = problem.span().unwrap();
    let file = span.local_file();
    let call = file.map(|file| format!("{}:{}:{}", file.display(), span.line(), span.column()));
    let Some(line) = expansion::compiler_message(problem, call.as_deref(), &rustc_arguments()) else {
        return Some(expansion::warning(problem));
    };
    // With its end, in one call: the compiler writes lines from other threads.
    std::io::stderr().write_all(format!("{line}\n").as_bytes()).is_err().then(|| expansion::warning(problem))
}

/// The arguments of the compiler; those of a language server are others.
fn rustc_arguments() -> Vec<String> {
    std::env::args_os().filter_map(|argument| argument.into_string().ok()).collect()
}

const MISPLACED: &str = "`include_eval_suite!` makes a module of tests; write it outside of functions and expressions";

/// Where items are expected it does nothing; where an expression is expected rustc's error ends with the name, which says what to do.
fn guard() -> TokenStream {
    quote! {
        #[allow(unused_macros)]
        macro_rules! include_eval_suite_belongs_outside_of_functions_and_expressions { () => {}; }
    }
}

/// Makes rustc expand the macro again when a file changes that no build script tracks, or the variable that denies warnings.
fn trackers(expansion: &Expansion) -> TokenStream {
    let tracked = cargo_environment::tracked_directories();
    let files = expansion.trackers(|file: &Path| cargo_environment::is_tracked(file, &tracked));
    quote! {
        #files
        const _: ::core::option::Option<&str> = ::core::option_env!(#DENY_WARNINGS);
    }
}
