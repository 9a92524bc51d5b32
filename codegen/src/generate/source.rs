use super::Binding;
use crate::expansion::{Expansion, Options};
use crate::statics::{Module, binding_head, string_literal};

/// The whole code of a suite, formatted. Problems of the binding are added to the expansion's errors; with errors the code
/// is the suite without cases, and a `compile_error!` for each.
pub fn source(options: &Options, expansion: &mut Expansion, binding: &Binding) -> String {
    for expression in binding.expressions() {
        if let Err(error) = syn::parse_str::<syn::Expr>(expression) {
            expansion.errors.push(format!("`{expression}` is no Rust expression: {error}"));
        }
    }
    if let Some(about) = &expansion.suite {
        expansion.errors.extend(about.unknown_targets(binding.targets()).into_iter().map(|(_, problem)| problem));
    }
    let calls = binding.calls(expansion.suite.as_ref()).unwrap_or_else(|error| {
        expansion.errors.push(error);
        String::new()
    });
    let good = expansion.errors.is_empty();
    if !good {
        expansion.fail();
    }
    let mut code: String =
        expansion.errors.iter().map(|error| format!("::core::compile_error!({});\n", string_literal(error))).collect();
    let name = &expansion.module;
    // An expression that does not parse would hide the errors above.
    let bound = options.bound && good;
    if bound {
        code.push_str(&format!("{} {{ evals{calls} }}\n", binding_head(name)));
    }
    let module = Module {
        name,
        body: &expansion.body,
        bound,
        checked: good,
        ignore: options.ignore.as_deref(),
        embedded: &expansion.embedded,
        diagnostics: &expansion.diagnostics,
    };
    code.push_str(&module.to_code());
    match syn::parse_file(&code) {
        Ok(file) => prettyplease::unparse(&file),
        // Unformatted: rustc then says what is wrong with it.
        Err(_) => code,
    }
}
