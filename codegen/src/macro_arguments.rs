//! The arguments of `include_eval_suite!`, as a binding.

use evalsuite_schema::diagnostics::suggest;
use proc_macro2::{Ident, Span, TokenStream};
use syn::Token;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};

use crate::binding::argument_table::{problems_of, skip_token, string};
use crate::binding::{Binding, Problem};

pub use crate::binding::argument_table::{ARGUMENTS, Argument};

/// The arguments of a call, as far as they could be parsed.
pub struct Arguments {
    /// `None` without a path of a suite.
    pub binding: Option<Binding>,
    pub problems: Vec<Problem>,
}

/// Parses the arguments of a call. Each argument is parsed by itself, so that all problems are found.
pub fn parse(tokens: TokenStream) -> Arguments {
    syn::parse2(tokens).unwrap_or_else(|error| Arguments { binding: None, problems: problems_of(&error) })
}

impl Parse for Arguments {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        if input.is_empty() {
            let message = "missing the path of a suite, such as `\"suites/my_agent\"`";
            return Err(syn::Error::new(Span::call_site(), message));
        }
        let mut binding = Binding::new(string(input, "the path of a suite")?);
        let mut problems = Vec::new();
        let mut seen = Vec::new();
        while !input.is_empty() {
            if let Err(error) = next_argument(input, &mut binding, &mut seen, &mut problems) {
                problems.extend(problems_of(&error));
                skip_argument(input);
            }
        }
        Ok(Self { binding: Some(binding), problems })
    }
}

fn known(name: &str) -> Option<&'static Argument> {
    ARGUMENTS.iter().find(|argument| argument.name == name)
}

/// Parses a comma and the argument after it, if there is one.
fn next_argument(
    input: ParseStream<'_>,
    binding: &mut Binding,
    seen: &mut Vec<String>,
    problems: &mut Vec<Problem>,
) -> syn::Result<()> {
    if !input.peek(Token![,]) {
        return Err(input.error("expected `,` before the next argument"));
    }
    input.parse::<Token![,]>()?;
    if input.is_empty() {
        return Ok(());
    }
    let expected = "expected an argument such as `agent = my_agent`";
    let name = Ident::parse_any(input).map_err(|error| syn::Error::new(error.span(), expected))?;
    let text = name.to_string();
    let Some(argument) = known(&text) else {
        let names: Vec<&str> = ARGUMENTS.iter().map(|argument| argument.name).collect();
        let help = suggest::did_you_mean_or_known(&text, &names);
        return Err(syn::Error::new(name.span(), format!("unknown argument `{text}`; {help}")));
    };
    if seen.contains(&text) {
        return Err(syn::Error::new(name.span(), format!("argument `{text}` is given twice")));
    }
    seen.push(text.clone());
    let (is_flag, is_assigned) = (argument.value.is_empty(), input.parse::<Option<Token![=]>>()?.is_some());
    let has_value = !input.is_empty() && !input.peek(Token![,]);
    if is_flag && is_assigned {
        return Err(syn::Error::new(name.span(), format!("`{text}` is a flag and takes no value")));
    }
    if !is_flag && !has_value {
        return Err(syn::Error::new(name.span(), format!("argument `{text}` needs a value: `{text} = …`")));
    }
    if !is_flag && !is_assigned {
        return Err(input.error(format!("expected `=` after `{text}`")));
    }
    (argument.parse)(binding, input, problems)
}

/// Skips what is left of an argument: up to the comma before the next `name =`, since a comma may also be a part of an expression that
/// could not be parsed.
fn skip_argument(input: ParseStream<'_>) {
    while !(input.is_empty() || input.peek(Token![,]) && starts_argument(&input.fork())) {
        skip_token(input);
    }
}

fn starts_argument(input: ParseStream<'_>) -> bool {
    skip_token(input);
    let is_named = input.is_empty() || Ident::parse_any(input).is_ok_and(|name| known(&name.to_string()).is_some());
    is_named || input.peek(Token![=]) && !input.peek(Token![=>]) && !input.peek(Token![==])
}

#[cfg(test)]
mod tests {
    use quote::ToTokens;
    use syn::LitStr;

    use super::{ARGUMENTS, parse};
    use crate::binding::{Agent, Binding, Judge, NamedExpr};

    fn bad(arguments: &str) -> Vec<String> {
        let parsed = parse(arguments.parse().expect("the test's arguments are tokens"));
        parsed.problems.iter().map(|problem| problem.text()).collect()
    }

    fn good(arguments: &str) -> Binding {
        assert_eq!(bad(arguments), Vec::<String>::new(), "for {arguments}");
        parse(arguments.parse().expect("the test's arguments are tokens")).binding.expect("there is an entry path")
    }

    fn values(literals: &[LitStr]) -> Vec<String> {
        literals.iter().map(LitStr::value).collect()
    }

    fn names(items: &[NamedExpr]) -> Vec<String> {
        items.iter().map(|item| item.name.value()).collect()
    }

    fn code(tokens: impl ToTokens) -> String {
        tokens.to_token_stream().to_string().replace(' ', "")
    }

    fn agent(arguments: &str) -> String {
        match good(arguments).agent {
            Agent::Expression(agent) => code(agent),
            _ => panic!("the agent of {arguments} is not an expression"),
        }
    }

    #[test]
    fn the_path_alone_is_enough() {
        let binding = good("\"suites/card_agent\"");
        assert_eq!(binding.entry.value(), "suites/card_agent");
        assert!(matches!(binding.agent, Agent::ByName) && binding.graders.is_empty());
        assert!(binding.fixtures && binding.embed && !binding.deny_warnings);
    }

    #[test]
    fn all_arguments_together_with_trailing_commas() {
        let binding = good(
            r#""s", agent = a::b, agents = { "x" => c, "y" => d, }, graders = [e, f::g, "h-i" => j::k,], judge = l::m,
        judges = { "strict" => n, "my-panel" => o::<P, Q>(1) }, targets = ["x", "y"], judge_confirm = 4,
        require_env = ["E"], require_commands = ["git"], record = ["MODEL_URL"], record_ignore = ["/id"], name = other, ignore = "slow", fixtures = off, deny_warnings, runtime = R.handle().clone(),
        allow = ["no-effect",],"#,
        );
        assert!(matches!(&binding.agent, Agent::Expression(path) if code(path) == "a::b"));
        assert_eq!(names(&binding.agents), ["x", "y"]);
        assert_eq!(names(&binding.graders), ["e", "g", "h-i"]);
        assert!(matches!(&binding.judge, Some(Judge::Expression(path)) if code(path) == "l::m"));
        assert_eq!(binding.judge_confirm.map(|number| number.to_string()).as_deref(), Some("4"));
        assert_eq!(names(&binding.judges), ["strict", "my-panel"]);
        assert!(binding.runtime.is_some_and(|runtime| code(&runtime) == "R.handle().clone()"));
        assert_eq!(values(&binding.targets), ["x", "y"]);
        assert_eq!(values(&binding.require_env), ["E"]);
        assert_eq!(values(&binding.require_commands), ["git"]);
        assert_eq!(values(&binding.record), ["MODEL_URL"]);
        assert_eq!(values(&binding.record_ignore), ["/id"]);
        assert_eq!(binding.name.map(|name| name.to_string()).as_deref(), Some("other"));
        assert_eq!(binding.ignore.map(|reason| reason.value()).as_deref(), Some("slow"));
        assert!(!binding.fixtures && binding.deny_warnings);
        assert_eq!(values(&binding.allow), ["no-effect"]);
    }

    #[test]
    fn commas_inside_expressions_do_not_end_an_argument() {
        let binding = good(
            r#""s", agent = make::<A, Vec<B>>(1, 2), graders = [f::<C, D>, "x" => |c: C, e: &E<'_>| true, <T as U<V, W>>::g]"#,
        );
        assert!(matches!(binding.agent, Agent::Expression(_)));
        assert_eq!(names(&binding.graders), ["f", "x", "g"]);
    }

    #[test]
    fn agents_graders_and_judges_are_any_expressions() {
        let closure = "|trial: &mut Trial<'_>| -> Result<String, Error> { Ok(trial.input().to_owned(), 1) }";
        let cast = "call as fn(&mut Trial<'_>, u8) -> Result<Vec<A, B>, C>";
        for expression in
            [closure, cast, "async |t: &mut Trial<'_>| -> Result<A, B> { f(t).await }", "make::<A, B>", "&A[1]"]
        {
            let expected = expression.replace(' ', "");
            assert_eq!(agent(&format!("\"s\", agent = {expression}, fixtures = off")), expected);
            let binding = good(&format!(
                "\"s\", judge = {expression}, graders = [\"x\" => {expression}, y], agents = {{ \"a\" => {expression}, \"b\" => z }}"
            ));
            assert!(
                matches!(&binding.judge, Some(Judge::Expression(judge)) if code(judge) == expected),
                "{expression}"
            );
            assert_eq!(names(&binding.graders), ["x", "y"]);
            assert_eq!(names(&binding.agents), ["a", "b"]);
            assert_eq!(code(&binding.graders[0].value), expected);
            assert_eq!(code(&binding.agents[0].value), expected);
        }
    }

    #[test]
    fn a_cast_grader_has_the_name_of_its_function() {
        let binding = good(r#""s", graders = [a::polite as fn(&E<'_>) -> Result<bool, A<B, C>>, (b::c::<D, E>)]"#);
        assert_eq!(names(&binding.graders), ["polite", "c"]);
    }

    #[test]
    fn none_means_no_agent() {
        assert!(matches!(good(r#""s", agent = none"#).agent, Agent::None));
        assert_eq!(agent(r#""s", agent = none::none"#), "none::none");
    }

    #[test]
    fn commands_are_agents() {
        assert!(matches!(good(r#""s", agent = "cli", agents = { "a" => b }"#).agent, Agent::Commands { acp: false }));
        assert!(matches!(good(r#""s", agent = "acp""#).agent, Agent::Commands { acp: true }));
    }

    #[test]
    fn judges_may_be_named() {
        let named = |arguments: &str| match good(arguments).judge {
            Some(Judge::Named(names)) => values(&names),
            _ => panic!("the judge of {arguments} has no name"),
        };
        assert_eq!(named(r#""s", judge = "strict""#), ["strict"]);
        assert_eq!(named(r#""s", judge = ["a", "b", "c",]"#), ["a", "b", "c"]);
    }

    #[test]
    fn raw_identifiers_are_named_without_prefix() {
        assert_eq!(names(&good(r#""s", graders = [r#match]"#).graders), ["match"]);
    }

    #[test]
    fn a_missing_or_wrong_value_is_an_error_that_names_it() {
        let table: &[(&str, &str)] = &[
            ("", "missing the path of a suite, such as `\"suites/my_agent\"`"),
            ("agent = a", "expected the path of a suite as a string literal, found `agent`"),
            ("\"s\" agent = a", "expected `,` before the next argument"),
            ("12", "expected the path of a suite as a string literal, found `12`"),
            ("\"s\", agnet = a", "unknown argument `agnet`; did you mean `agent`?"),
            ("\"s\", agent = a, agent = b", "argument `agent` is given twice"),
            ("\"s\", agent", "argument `agent` needs a value: `agent = …`"),
            ("\"s\", agent =", "argument `agent` needs a value: `agent = …`"),
            ("\"s\", agent: a", "expected `=` after `agent`"),
            ("\"s\", agent = 5", "expected a path, `\"cli\"`, `\"acp\"` or `none` as agent, found `5`"),
            ("\"s\", agent = \"cil\"", "expected a path, `\"cli\"`, `\"acp\"` or `none` as agent, found `\"cil\"`"),
            ("\"s\", judge = 5", "expected the path of a judge, its name, or a list of names, found `5`"),
            ("\"s\", judge = []", "expected the path of a judge, its name, or a list of names, found `[]`"),
            ("\"s\", judge = [a]", "expected the name of a judge as a string literal"),
            ("\"s\", judges = { a => b }", "expected a name as a string literal, found `a`"),
            ("\"s\", judge_confirm = many", "expected a number, found `many`"),
            ("\"s\", judges = { \"a\" }", "expected `judges = { \"name\" => path }`"),
            ("\"s\", judges = [a]", "expected `judges = { \"name\" => path }`"),
            ("\"s\", deny_warnings = true", "`deny_warnings` is a flag and takes no value"),
            ("\"s\", fixtures = yes", "expected `on` or `off`, found `yes`"),
            ("\"s\", name = \"x\"", "expected an identifier: `name = my_suite`"),
            ("\"s\", targets = \"x\"", "expected a list: `targets = [\"…\"]`"),
            ("\"s\", targets = [x]", "expected an element as a string literal, found `x`"),
            ("\"s\", graders = [1 + 1]", "expected the path of a grader, or `\"name\" => path`"),
            ("\"s\", agents = [a]", "expected `agents = { \"name\" => path }`"),
            ("\"s\", agent = |a, b| -> , fixtures = off", "expected one of: `for`, parentheses"),
            ("\"s\", , agent = a", "expected an argument such as `agent = my_agent`"),
        ];
        for (arguments, message) in table {
            let found = bad(arguments);
            assert_eq!(found.len(), 1, "for {arguments}: {found:?}");
            assert!(found[0].starts_with(message), "for {arguments}: {found:?}");
        }
    }

    #[test]
    fn all_wrong_arguments_are_reported() {
        assert_eq!(bad(r#""s", agent = |a, b| -> , graders = [a b, "c" d, e], fixtures = yes, embed = no"#).len(), 5);
        assert_eq!(bad(r#""s", agnet = a, fixtures = maybe, graders = [1, 2]"#).len(), 4);
    }

    #[test]
    fn evalsuite_is_found_at_any_path() {
        for path in ["my_facade::evalsuite", "::my_facade", "crate", "self::evals", "super::super::evalsuite"] {
            let found = good(&format!("\"s\", crate = {path}, agent = a")).crate_path.map(code);
            assert_eq!(found.as_deref(), Some(path));
        }
        for other in ["\"my_facade\"", "a::<B>", "a()", "<A as B>::c"] {
            let errors = bad(&format!("\"s\", crate = {other}, agent = a"));
            assert!(
                errors[0].starts_with("expected the path of evalsuite, such as `my_facade::evalsuite`"),
                "{errors:?}"
            );
            assert_eq!(errors.len(), 1, "{errors:?}");
        }
    }

    #[test]
    fn an_argument_unlike_all_names_gets_the_list() {
        let errors = bad(r#""s", something_else = 1"#);
        assert!(errors[0].contains("; known: `agent`, `agents`, `graders`"), "{}", errors[0]);
    }

    #[test]
    fn every_example_of_the_table_is_an_argument_of_its_name() {
        for argument in ARGUMENTS {
            good(&format!("\"suites/x\", {}", argument.example));
            let name = argument.example.split(' ').next();
            assert_eq!(name, Some(argument.name));
        }
    }

    #[test]
    fn the_page_about_the_macro_is_that_of_the_table() {
        let mut page = "# The macro\n\n```text\ninclude_eval_suite! {\n    \"suites/shop\",               relative to Cargo.toml; `./…` is \
                        relative to the source file\n    agent = shop_agent,          see below\n    graders = [max_words],\n}\n```\n\n\
                        It expands to items, so it belongs in a module, not in a function. They are a module named after the directory, \
                        with the tests, `SUITE` (all cases with their source locations) and `evals()` (the suite bound to its agent, for \
                        use outside of tests).\n\nTo review the generated code, or to do without the macro, let the build script write it \
                        with `evalsuite_build::generate(\"suites/shop\").write()`, which requires the feature `generate` of \
                        `evalsuite-build`. Every argument has a method of the same name, except for `crate`.\n\n\
                        | argument | value | meaning, example |\n| --- | --- | --- |\n"
            .to_owned();
        for argument in ARGUMENTS {
            let value = if argument.value.is_empty() { "none: a flag" } else { argument.value };
            let default =
                if argument.default.is_empty() { String::new() } else { format!("; default: {}", argument.default) };
            let (name, doc, example) = (argument.name, argument.doc, argument.example);
            page.push_str(&format!("| `{name}` | {value}{default} | {doc}<br>`{example}` |\n"));
        }
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/reference/macro.md");
        if std::env::var_os("UPDATE_REFERENCE").is_some() {
            std::fs::write(&path, &page).unwrap();
        }
        let committed = std::fs::read_to_string(&path).unwrap_or_default();
        let help = "`UPDATE_REFERENCE=1 cargo test -p evalsuite-codegen` updates docs/reference/macro.md";
        assert!(committed == page, "{help}");
    }
}
