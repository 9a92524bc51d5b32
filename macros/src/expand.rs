//! From the arguments of a call to its tokens.

use std::path::Path;

use evalsuite_codegen::arguments::Arguments;
use evalsuite_codegen::binding::Problem;
use evalsuite_codegen::cargo_environment::DENY_WARNINGS;
use evalsuite_codegen::expansion::{Context, Expansion, compile_error};
use evalsuite_codegen::{arguments, cargo_environment, expansion};
use evalsuite_loader::Request;
use proc_macro2::TokenStream;
use quote::quote;

use crate::call_site::CallSite;
use crate::hidden_import;
use crate::surroundings::Surroundings;

/// Expands a call. Every problem becomes a compile error or a warning; with errors the suite has no cases, so that code which uses the
/// suite still compiles.
pub(crate) fn include_eval_suite(tokens: TokenStream) -> TokenStream {
    let guard = guard();
    let Arguments { binding, mut problems } = arguments::parse(tokens.clone());
    let call_site = binding.as_ref().and_then(|binding| {
        CallSite::of(binding.entry.span())
            .map_err(|error| problems.push(Problem::argument(binding.entry.span(), error)))
            .ok()
    });
    let (Some(binding), Some(call_site)) = (binding, call_site) else {
        let errors = problems.iter().map(compile_error);
        return quote!(#guard #(#errors)*);
    };
    let literal = binding.entry.clone();
    let entry = literal.value();
    let around = Surroundings::of(&tokens, &call_site);
    if around.is_misplaced() {
        return compile_error(&Problem::argument(literal.span(), MISPLACED.to_owned()));
    }
    let mut request = Request::new(&entry, call_site.package_root_of(&entry));
    request.source_dir = call_site.source_dir().map(Path::to_path_buf);
    let mut context = Context::new(request);
    context.cache.clone_from(&call_site.cache);
    context.deny_warnings = call_site.deny_warnings;
    let expansion = expansion::expand(binding, &context, problems);
    let warnings = expansion.problems().iter().filter(|problem| !problem.is_error()).map(expansion::warning);
    let trackers = trackers(&expansion, &call_site);
    let module = &expansion.module;
    let second = around.is_second(module, &tokens).then(|| {
        let message = format!("two suites are called `{module}`; name the module of this one: `name = other_{module}`");
        Problem::argument(literal.span(), message)
    });
    let code = match second.or_else(|| hidden_import::problem(module, &literal, &around)) {
        None => expansion.tokens(),
        // Without the module, whose name is the problem, there are no further errors about it.
        Some(problem) => {
            let errors = expansion.problems().iter().filter(|problem| problem.is_error()).chain([&problem]);
            errors.map(compile_error).collect()
        }
    };
    quote!(#guard #(#warnings)* #code #trackers)
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
fn trackers(expansion: &Expansion, call_site: &CallSite) -> TokenStream {
    let files = expansion.trackers(|file: &Path| cargo_environment::is_tracked(file, &call_site.tracked));
    quote! {
        #files
        const _: ::core::option::Option<&str> = ::core::option_env!(#DENY_WARNINGS);
    }
}
