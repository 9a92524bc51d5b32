//! How a suite was loaded, in the generated code: a program with the feature `reload` loads it in the same way.

use proc_macro2::TokenStream;
use quote::quote;

use super::Context;
use crate::binding::Binding;
use crate::{allowed_warnings, binding};

/// The constant `__ORIGIN`, which is `None` in a program that cannot load suites.
pub(super) fn constant(of_binding: &Binding, context: &Context) -> TokenStream {
    let request = &context.request;
    let entry = &request.entry;
    // Directory of the source file that names the entry, relative to the package's where it is inside.
    let source_dir = match request.source_dir.as_ref().filter(|_| entry.starts_with("./")) {
        Some(directory) => {
            let directory = directory.strip_prefix(&request.package_root).unwrap_or(directory).to_string_lossy();
            quote!(::core::option::Option::Some(#directory))
        }
        None => quote!(::core::option::Option::None),
    };
    let [targets, allow, require_env, require_commands] =
        [&of_binding.targets, &of_binding.allow, &of_binding.require_env, &of_binding.require_commands]
            .map(|literals| binding::values(literals));
    let fixtures = of_binding.fixtures;
    let allow_docker = of_binding.allows(allowed_warnings::DOCKER);
    let deny_warnings = context.deny_warnings || of_binding.deny_warnings;
    let has_tests = of_binding.has_tests();
    quote! {
        const __ORIGIN: ::core::option::Option<&__evalsuite::__private::Origin> = __evalsuite::__origin! {
            __evalsuite::__private::Origin {
            entry: #entry,
            source_dir: #source_dir,
            targets: &[#(#targets),*],
            fixtures: #fixtures,
            require_env: &[#(#require_env),*],
            require_commands: &[#(#require_commands),*],
            allow: &[#(#allow),*],
            allow_docker: #allow_docker,
            deny_warnings: #deny_warnings,
            lists_graders: #has_tests,
            files: &__texts::FILES,
            }
        };
    }
}
