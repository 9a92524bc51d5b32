//! The tokens of an expansion.

use std::path::Path;

use evalsuite_schema::digest::short_hash;
use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::{format_ident, quote};

use super::suite_checks::{needs_acp, needs_cli_agents};
use super::{Expansion, registrations};
use crate::binding::{Agent, Judge, NamedExpr, Problem};
use crate::rust_literals::string_literal;
use crate::{binding, rust_literals};

/// Lints that names taken from files, or code that is not called in this build, would trigger in the user's crate.
fn quiet() -> TokenStream {
    quote! {
        #[allow(
            clippy::all,
            clippy::pedantic,
            clippy::nursery,
            clippy::restriction,
            dead_code,
            non_snake_case,
            unreachable_pub,
            unused_qualifications
        )]
    }
}

impl Expansion {
    /// The code: a compile error per error, the function that binds the suite, and its module.
    pub fn tokens(&self) -> TokenStream {
        let errors = self.problems.iter().filter(|problem| problem.is_error()).map(compile_error);
        let (evalsuite, import) = (self.evalsuite(None), self.import());
        let feature_errors = self.code.feature_errors.iter().map(|(without_feature, problem)| {
            let (without_feature, error) = (format_ident!("{without_feature}"), compile_error(problem));
            quote!(#evalsuite::#without_feature! { #error })
        });
        let calls = self.calls();
        let bound = self.binding.has_tests().then(|| self.bound(&calls));
        let module = self.module(&calls);
        quote!(#(#errors)* #import #(#feature_errors)* #bound #module)
    }

    /// Code that makes rustc build again when one of the files changes or is deleted that `is_tracked` does not know.
    pub fn trackers(&self, is_tracked: impl Fn(&Path) -> bool) -> TokenStream {
        let untracked = self.files.iter().filter(|file| !is_tracked(file)).filter_map(|file| file.to_str());
        let include = |path| format!("const _: &[u8] = ::core::include_bytes!({});\n", string_literal(path));
        rust_literals::tokens(&untracked.map(include).collect::<String>())
    }

    /// Path of evalsuite where `scope` leads to the caller's.
    fn evalsuite(&self, scope: Option<TokenStream>) -> TokenStream {
        let import = self.import_name();
        match self.binding.crate_path {
            Some(_) => quote!(#scope #import),
            None => quote!(::evalsuite),
        }
    }

    /// The import of the path that the caller gives, which may start with a name in the caller's scope.
    fn import(&self) -> Option<TokenStream> {
        let path = self.binding.crate_path.as_ref()?;
        let name = self.import_name();
        Some(quote! {
            #[doc(hidden)]
            #[allow(unused_imports)]
            use #path as #name;
        })
    }

    fn import_name(&self) -> Ident {
        format_ident!("__evalsuite_of_{}", plain(&self.module))
    }

    fn module(&self, calls: &TokenStream) -> TokenStream {
        let (quiet, name) = (quiet(), identifier(&self.module));
        let evalsuite = self.evalsuite(Some(quote!(super::)));
        let embedded = match &self.code.embedded {
            Some(embedded) => rust_literals::tokens(&embedded.expression()),
            None => quote!(::core::option::Option::None),
        };
        let origin = &self.origin;
        let warnings = self.recorded_warnings.iter().map(|(name, text)| quote!((#name, #text)));
        let statics = rust_literals::tokens(&self.code.body.statics);
        let texts = rust_literals::tokens(&self.code.body.texts.code());
        let tests = self.binding.has_tests().then(|| self.tests(calls));
        quote! {
            /// An evaluation suite.
            #quiet
            pub mod #name {
                use #evalsuite as __evalsuite;
                const __EMBEDDED: ::core::option::Option<&[(&str, &[u8])]> = #embedded;
                const __DIAGNOSTICS: &[(&str, &str)] = &[#(#warnings),*];
                #origin
                #statics
                #texts
                #tests
            }
        }
    }

    fn tests(&self, calls: &TokenStream) -> TokenStream {
        let bind = self.bind_function(calls);
        let ignore = self.binding.ignore.as_ref().map(|reason| reason.value());
        let tests = rust_literals::tokens(&self.code.body.tests(ignore.as_deref()));
        let suite_check = (!self.has_errors()).then(|| {
            quote! {
                #[test]
                fn suite_check() {
                    __evalsuite::__private::suite_check(evals)
                }
            }
        });
        quote! {
            /// The suite with its agent and graders.
            pub fn evals() -> __evalsuite::Evals {
                super::#bind(__evalsuite::Evals::new(&SUITE))
            }
            #[cfg(test)]
            fn __run(case: usize) {
                __evalsuite::__private::run_case(evals, case)
            }
            #tests
            #suite_check
        }
    }

    /// Name of the function beside the module that names the agent and the graders. They have to be named outside of the module,
    /// where the caller's names are in scope; in a function body this name is what rustc does not find.
    fn bind_function(&self, calls: &TokenStream) -> Ident {
        let call = format!("{} {calls}", self.binding.entry.value());
        let hash = short_hash(call.as_bytes());
        format_ident!("include_eval_suite_belongs_outside_of_functions__{}_{hash:x}", plain(&self.module))
    }

    /// The calls that add agents, graders and judges to the suite.
    fn calls(&self) -> TokenStream {
        let agent = self.agent();
        let agents = named_calls("with_target_agent", &self.binding.agents);
        let graders = named_calls("with_grader", &self.binding.graders);
        let judges = named_calls("with_named_judge", &self.binding.judges);
        let judge = self.binding.judge.as_ref().and_then(|judge| match judge {
            Judge::Expression(judge) => Some(quote!(.with_judge(#judge))),
            // No name is left where all of them are wrong.
            Judge::Named(names) if names.is_empty() => None,
            Judge::Named(names) => {
                let names = binding::values(names);
                Some(quote!(.with_default_judges([#(#names),*])))
            }
        });
        let confirm = self.binding.judge_confirm.as_ref().map(|number| quote!(.with_judge_confirm(#number)));
        let runtime = self.binding.runtime.as_ref().map(|runtime| quote!(.with_runtime(#runtime)));
        let record = (!self.binding.record.is_empty()).then(|| {
            let variables = binding::values(&self.binding.record);
            quote!(.with_recorded_urls([#(#variables),*]))
        });
        let ignored = (!self.binding.record_ignore.is_empty()).then(|| {
            let pointers = binding::values(&self.binding.record_ignore);
            quote!(.with_ignored_request_parts([#(#pointers),*]))
        });
        let commands = registrations::judges_may_be_commands(&self.binding, self.code.facts.as_ref())
            .then(|| quote!(.with_command_judges()));
        quote!(#agent #agents #graders #judges #judge #confirm #runtime #record #ignored #commands)
    }

    /// The function that adds agents, graders and judges to the suite.
    fn bound(&self, calls: &TokenStream) -> TokenStream {
        let (quiet, name, scope) = (quiet(), self.bind_function(calls), self.scope());
        let evalsuite = self.evalsuite(None);
        let users = self.binding.users.iter().map(|NamedExpr { name, value }| {
            let name = name.value();
            quote!(#name => #value)
        });
        let evals = match self.binding.users.is_empty() {
            true => quote!(evals #calls),
            false => quote!(#evalsuite::__with_users! { evals #calls; #(#users),* }),
        };
        quote! {
            #[doc(hidden)]
            #quiet
            fn #name(evals: #evalsuite::Evals) -> #evalsuite::Evals {
                #scope
                #evals
            }
        }
    }

    /// Name of the function that is the agent where the caller names none, and of the module in which it is looked up.
    fn agent_by_name(&self) -> Option<(Ident, String)> {
        match (&self.binding.agent, &self.code.facts) {
            (Agent::ByName, Some(facts)) if !registrations::all_have_agents(&self.binding, facts) => {
                let module = format_ident!(
                    "include_eval_suite_needs_this_function_or_the_argument_agent__{}",
                    plain(&self.module)
                );
                Some((module, registrations::agent_function(facts).ok()?))
            }
            // The agent of a suite that cannot be used is not known.
            _ => None,
        }
    }

    /// The module in which an agent that the caller does not name is looked up: it has the caller's names, and its own name says in
    /// rustc's error what to do.
    fn scope(&self) -> Option<TokenStream> {
        let (module, _) = self.agent_by_name()?;
        Some(quote! {
            #[allow(non_snake_case, unused_imports)]
            mod #module {
                pub(super) use super::*;
            }
        })
    }

    /// The call that adds the agent of all targets.
    fn agent(&self) -> Option<TokenStream> {
        match &self.binding.agent {
            Agent::Expression(agent) => Some(quote!(.with_agent(#agent))),
            Agent::Commands { acp } => {
                let evalsuite = self.evalsuite(None);
                Some(if *acp {
                    let error = compile_error(&needs_acp(&self.binding));
                    quote!(.with_agent(#evalsuite::__acp_agents! { #error }))
                } else {
                    let error = compile_error(&needs_cli_agents(&self.binding, "agents"));
                    quote!(.with_agent(#evalsuite::__cli_agents! { #error }))
                })
            }
            Agent::ByName => {
                let (module, function) = self.agent_by_name()?;
                // Where the function does not exist, rustc points at the path of the suite that asks for it.
                let span = self.binding.span().resolved_at(Span::call_site());
                let function = identifier(&function);
                let path = spanned(quote!(#module::#function), span);
                Some(quote!(.with_agent(#path)))
            }
            Agent::None => None,
        }
    }
}

fn named_calls(method: &str, items: &[NamedExpr]) -> TokenStream {
    let method = format_ident!("{method}");
    let calls = items.iter().map(|NamedExpr { name, value }| {
        let name = name.value();
        quote!(.#method(#name, #value))
    });
    quote!(#(#calls)*)
}

/// A compile error at the span of the problem.
pub fn compile_error(problem: &Problem) -> TokenStream {
    let message = problem.text();
    spanned(quote!(::core::compile_error! { #message }), problem.span())
}

/// A compiler warning at the span of the problem: on stable Rust a macro warns by using something deprecated.
pub fn warning(problem: &Problem) -> TokenStream {
    let message = problem.text();
    let warning = quote! {
        #[allow(non_upper_case_globals)]
        const _: () = {
            #[deprecated(note = #message)]
            const eval_suite_warning: () = ();
            eval_suite_warning
        };
    };
    spanned(warning, problem.span())
}

/// The name without `r#`.
fn plain(name: &str) -> &str {
    name.strip_prefix("r#").unwrap_or(name)
}

fn identifier(name: &str) -> Ident {
    match name.strip_prefix("r#") {
        Some(plain) => Ident::new_raw(plain, Span::call_site()),
        None => Ident::new(name, Span::call_site()),
    }
}

/// The same tokens, all of them at `span`.
fn spanned(tokens: TokenStream, span: Span) -> TokenStream {
    let with_span = |mut token: TokenTree| {
        if let TokenTree::Group(group) = &token {
            token = TokenTree::Group(Group::new(group.delimiter(), spanned(group.stream(), span)));
        }
        token.set_span(span);
        token
    };
    tokens.into_iter().map(with_span).collect()
}
