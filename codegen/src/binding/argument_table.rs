//! The arguments of `include_eval_suite!`, each stated once: the field of the binding, how its value is parsed, and what the reference says
//! about it.

use proc_macro2::{Ident, Span};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::spanned::Spanned;
use syn::{Expr, ExprLit, Lit, LitInt, LitStr, Path, Token, token};

use super::{Agent, Judge, NamedExpr, Problem};

/// An argument.
pub struct Argument {
    /// Its name.
    pub name: &'static str,
    /// What its value can be; empty for a flag.
    pub value: &'static str,
    /// What holds without it; empty if that is nothing.
    pub default: &'static str,
    /// What it means.
    pub doc: &'static str,
    /// The argument as it is written.
    pub example: &'static str,
    /// Parses the value into its field. Wrong elements of lists are reported and left out.
    pub(crate) parse: fn(&mut Binding, ParseStream<'_>, &mut Vec<Problem>) -> syn::Result<()>,
}

/// Declares the binding and the table of its arguments. `value`, `default`, `doc` and `example` are what the reference shows.
macro_rules! arguments {
    ($($name:literal => $field:ident: $type:ty = $initial:expr, $parse:expr, {
        value: $value:literal, default: $default:literal, doc: $doc:literal, example: $example:literal
    })*) => {
        /// Agents, graders, judges and options for one suite.
        #[derive(Clone)]
        pub struct Binding {
            /// Path of the suite.
            pub entry: LitStr,
            $(#[doc = $doc] pub $field: $type,)*
        }

        impl Binding {
            /// A binding with the defaults of all arguments.
            pub fn new(entry: LitStr) -> Self {
                Self { entry, $($field: $initial),* }
            }
        }

        /// Every argument.
        pub static ARGUMENTS: &[Argument] = &[$(Argument {
            name: $name,
            value: $value,
            default: $default,
            doc: $doc,
            example: $example,
            parse: |binding, input, problems| {
                binding.$field = ($parse)(input, $name, problems)?;
                Ok(())
            },
        }),*];
    };
}

arguments! {
    "agent" => agent: Agent = Agent::ByName, |input, _, _| agent(input), {
        value: "path or expression, `\"cli\"`, `\"acp\"`, or `none`", default: "the function named after the suite's agent, else `agent`",
        doc: "The agent. `\"cli\"`: the command in a targets file. `\"acp\"`: the same, which may speak the Agent Client Protocol. `none`: only `SUITE`, no tests.",
        example: "agent = card_agent"
    }
    "agents" => agents: Vec<NamedExpr> = Vec::new(), map, {
        value: "names and paths", default: "",
        doc: "One agent per target; these take precedence over `agent`.",
        example: "agents = { \"small\" => small_agent, \"large\" => large_agent }"
    }
    "graders" => graders: Vec<NamedExpr> = Vec::new(), |input, argument, problems| functions(input, (argument, "grader"), problems), {
        value: "list of paths, or of names and paths", default: "",
        doc: "Graders written in Rust. Every grader that the files name is built in or listed here.",
        example: "graders = [card_completion, \"tone\" => judged_tone]"
    }
    "judge" => judge: Option<Judge> = None, |input, _, problems| judge(input, problems).map(Some), {
        value: "path or expression, name, or list of names", default: "",
        doc: "The judge of graders that name none. A name is one of `judges` or of a targets file; with several, the majority decides.",
        example: "judge = my_judge"
    }
    "judges" => judges: Vec<NamedExpr> = Vec::new(), map, {
        value: "names and paths", default: "",
        doc: "Named judges. A grader selects one with `target`.",
        example: "judges = { \"strict\" => strict_judge }"
    }
    "users" => users: Vec<NamedExpr> = Vec::new(), |input, argument, problems| functions(input, (argument, "user"), problems), {
        value: "list of paths, or of names and paths", default: "",
        doc: "Simulated users written in Rust. A case selects one with `conversation: {user: NAME}`. Needs the feature `users`.",
        example: "users = [angry_customer]"
    }
    "judge_confirm" => judge_confirm: Option<LitInt> = None, |input, _, _| number(input).map(Some), {
        value: "even number from 0 to 10", default: "2",
        doc: "How many judgements follow a failing one; the majority decides.",
        example: "judge_confirm = 4"
    }
    "runtime" => runtime: Option<Expr> = None, |input: ParseStream<'_>, _, _| input.parse().map(Some), {
        value: "expression", default: "one multi-thread runtime of the process",
        doc: "The tokio runtime of async agents, graders and judges: the `Handle` of a multi-thread runtime that lives as long as the tests.",
        example: "runtime = RUNTIME.handle().clone()"
    }
    "targets" => targets: Vec<LitStr> = Vec::new(), strings, {
        value: "list of names", default: "",
        doc: "The target matrix, where the files of the suite have none: one test per target and case.",
        example: "targets = [\"small\", \"large\"]"
    }
    "require_env" => require_env: Vec<LitStr> = Vec::new(), strings, {
        value: "list of names", default: "",
        doc: "Environment variables without which the cases are skipped.",
        example: "require_env = [\"API_KEY\"]"
    }
    "require_commands" => require_commands: Vec<LitStr> = Vec::new(), strings, {
        value: "list of names", default: "",
        doc: "Programs without which the cases are skipped.",
        example: "require_commands = [\"docker\"]"
    }
    "record" => record: Vec<LitStr> = Vec::new(), strings, {
        value: "list of names", default: "",
        doc: "Environment variables with base URLs of services that the agent calls, besides `OPENAI_BASE_URL` and `ANTHROPIC_BASE_URL`. `cargo evalsuite run --record` records these calls.",
        example: "record = [\"MODEL_URL\"]"
    }
    "record_ignore" => record_ignore: Vec<LitStr> = Vec::new(), strings, {
        value: "list of JSON pointers", default: "",
        doc: "Parts of request bodies that `cargo evalsuite run --replay` does not compare, such as ids that are new in every call. `*` is every key or index.",
        example: "record_ignore = [\"/metadata/request_id\", \"/messages/*/id\"]"
    }
    "name" => name: Option<Ident> = None, |input, _, _| identifier(input).map(Some), {
        value: "identifier", default: "the last component of the path",
        doc: "Name of the module. It must differ from those of other suites in the same module, and from crates whose items are named there without `::`.",
        example: "name = nightly"
    }
    "ignore" => ignore: Option<LitStr> = None, |input, _, _| string(input, "the reason why the tests are ignored").map(Some), {
        value: "text", default: "",
        doc: "Marks the tests `#[ignore]`, with this reason.",
        example: "ignore = \"needs a GPU\""
    }
    "fixtures" => fixtures: bool = true, |input, _, _| on_or_off(input), {
        value: "`on` or `off`", default: "`on`",
        doc: "Whether a `workspace/` directory next to a task, and `fixture_dir` and `base_fixture` in its input, are its workspace.",
        example: "fixtures = off"
    }
    "embed" => embed: bool = true, |input, _, _| on_or_off(input), {
        value: "`on` or `off`", default: "`on`",
        doc: "Whether workspaces, fixtures, scripts and the targets file of commands are embedded in the test program, up to 32 MiB.",
        example: "embed = off"
    }
    "crate" => crate_path: Option<Path> = None, |input, _, _| crate_path(input).map(Some), {
        value: "path", default: "`::evalsuite`",
        doc: "Path of evalsuite, for a package that uses it through a crate that re-exports it. The method of `generate` is `crate_path`.",
        example: "crate = my_facade::evalsuite"
    }
    "deny_warnings" => deny_warnings: bool = false, |_, _, _| syn::Result::Ok(true), {
        value: "", default: "",
        doc: "Warnings about the suite fail the build.",
        example: "deny_warnings"
    }
    "allow" => allow: Vec<LitStr> = Vec::new(), strings, {
        value: "list of names of warnings", default: "",
        doc: "Warnings that are not shown. `unsupported-docker` lets cases with a docker workspace be skipped.",
        example: "allow = [\"no-effect\"]"
    }
}

/// A string literal; `what` says in an error what it should be.
pub(crate) fn string(input: ParseStream<'_>, what: &str) -> syn::Result<LitStr> {
    let error = expected(input, &format!("{what} as a string literal"));
    input.parse().map_err(|_| error)
}

/// `["a", "b"]`.
pub(crate) fn strings(input: ParseStream<'_>, argument: &str, problems: &mut Vec<Problem>) -> syn::Result<Vec<LitStr>> {
    let content = list(input, argument, "[\"…\"]")?;
    Ok(elements(&content, problems, |element| string(element, "an element")))
}

/// `{ "a" => path, "b" => path }`.
pub(crate) fn map(input: ParseStream<'_>, argument: &str, problems: &mut Vec<Problem>) -> syn::Result<Vec<NamedExpr>> {
    let form = format!("expected `{argument} = {{ \"name\" => path }}`");
    if !input.peek(token::Brace) {
        return Err(error_at_next(input, form));
    }
    let content;
    syn::braced!(content in input);
    Ok(elements(&content, problems, |entry| match entry.peek2(Token![=>]) {
        true => named(entry, "a name"),
        false => Err(error_at_next(entry, &form)),
    }))
}

/// `[path, "name" => path]`. `what` each of them is.
pub(crate) fn functions(
    input: ParseStream<'_>,
    (argument, what): (&str, &str),
    problems: &mut Vec<Problem>,
) -> syn::Result<Vec<NamedExpr>> {
    let content = list(input, argument, &format!("[my_{what}, \"name\" => other_{what}]"))?;
    Ok(elements(&content, problems, |element| {
        if element.peek2(Token![=>]) {
            return named(element, &format!("the name of a {what}"));
        }
        let value: Expr = element.parse()?;
        let span = value.span();
        let error = || syn::Error::new(span, format!("expected the path of a {what}, or `\"name\" => path`"));
        NamedExpr::from_path(value).ok_or_else(error)
    }))
}

/// The path of a crate or module.
pub(crate) fn crate_path(input: ParseStream<'_>) -> syn::Result<Path> {
    let expression: Expr = input.parse()?;
    match ungrouped(&expression) {
        Expr::Path(path) if path.qself.is_none() && path.path.segments.iter().all(|it| it.arguments.is_none()) => {
            Ok(path.path.clone())
        }
        _ => Err(unexpected(&expression, "the path of evalsuite, such as `my_facade::evalsuite`")),
    }
}

/// A path or another expression, `"cli"`, `"acp"` or `none`.
pub(crate) fn agent(input: ParseStream<'_>) -> syn::Result<Agent> {
    let expression: Expr = input.parse()?;
    match ungrouped(&expression) {
        Expr::Path(path) if path.path.is_ident("none") => Ok(Agent::None),
        Expr::Lit(_) if string_of(&expression).is_some_and(|text| text.value() == "cli") => {
            Ok(Agent::Commands { acp: false })
        }
        Expr::Lit(_) if string_of(&expression).is_some_and(|text| text.value() == "acp") => {
            Ok(Agent::Commands { acp: true })
        }
        Expr::Lit(_) => Err(unexpected(&expression, "a path, `\"cli\"`, `\"acp\"` or `none` as agent")),
        _ => Ok(Agent::Expression(Box::new(expression))),
    }
}

/// A path or another expression, a name, or a list of names. A wrong name is reported and left out.
pub(crate) fn judge(input: ParseStream<'_>, problems: &mut Vec<Problem>) -> syn::Result<Judge> {
    let expression: Expr = input.parse()?;
    let unexpected = || unexpected(&expression, "the path of a judge, its name, or a list of names");
    match ungrouped(&expression) {
        Expr::Lit(_) => Ok(Judge::Named(vec![string_of(&expression).ok_or_else(unexpected)?])),
        Expr::Array(array) if array.elems.is_empty() => Err(unexpected()),
        Expr::Array(array) => {
            let mut names = Vec::new();
            for element in &array.elems {
                match string_of(element) {
                    Some(name) => names.push(name),
                    None => {
                        let message = "expected the name of a judge as a string literal";
                        problems.push(Problem::argument(element.span(), message));
                    }
                }
            }
            Ok(Judge::Named(names))
        }
        _ => Ok(Judge::Expression(Box::new(expression))),
    }
}

/// A number.
pub(crate) fn number(input: ParseStream<'_>) -> syn::Result<LitInt> {
    let error = expected(input, "a number");
    input.parse().map_err(|_| error)
}

/// An identifier.
pub(crate) fn identifier(input: ParseStream<'_>) -> syn::Result<Ident> {
    input
        .parse()
        .map_err(|error: syn::Error| syn::Error::new(error.span(), "expected an identifier: `name = my_suite`"))
}

/// `on` or `off`.
fn on_or_off(input: ParseStream<'_>) -> syn::Result<bool> {
    let error = expected(input, "`on` or `off`");
    match Ident::parse_any(input).map(|word| word.to_string()).as_deref() {
        Ok("on") => Ok(true),
        Ok("off") => Ok(false),
        _ => Err(error),
    }
}

/// `"name" => expression`.
fn named(input: ParseStream<'_>, what: &str) -> syn::Result<NamedExpr> {
    let name = string(input, what)?;
    input.parse::<Token![=>]>()?;
    Ok(NamedExpr { name, value: input.parse()? })
}

/// What is in the brackets of a list.
fn list<'i>(input: ParseStream<'i>, argument: &str, form: &str) -> syn::Result<syn::parse::ParseBuffer<'i>> {
    if !input.peek(token::Bracket) {
        return Err(error_at_next(input, format!("expected a list: `{argument} = {form}`")));
    }
    let content;
    syn::bracketed!(content in input);
    Ok(content)
}

/// Elements between commas. Each is parsed by itself; a wrong one is reported and left out.
fn elements<T>(
    content: ParseStream<'_>,
    problems: &mut Vec<Problem>,
    parse: impl Fn(ParseStream<'_>) -> syn::Result<T>,
) -> Vec<T> {
    let mut elements = Vec::new();
    while !content.is_empty() {
        let element = parse(content).and_then(|element| match content.is_empty() || content.peek(Token![,]) {
            true => Ok(element),
            false => Err(content.error("expected `,`")),
        });
        match element {
            Ok(element) => elements.push(element),
            Err(error) => problems.extend(problems_of(&error)),
        }
        while !content.is_empty() && !content.peek(Token![,]) {
            skip_token(content);
        }
        if !content.is_empty() {
            skip_token(content);
        }
    }
    elements
}

/// An expression as it is inside of the invisible groups that `macro_rules!` puts around what a fragment matched.
fn ungrouped(expression: &Expr) -> &Expr {
    match expression {
        Expr::Group(group) => ungrouped(&group.expr),
        _ => expression,
    }
}

fn string_of(expression: &Expr) -> Option<LitStr> {
    match ungrouped(expression) {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.clone()),
        _ => None,
    }
}

fn unexpected(found: &Expr, expected: &str) -> syn::Error {
    syn::Error::new(found.span(), format!("expected {expected}, found `{}`", found.to_token_stream()))
}

/// An error at the next token, which is named.
fn expected(input: ParseStream<'_>, what: &str) -> syn::Error {
    match input.cursor().token_tree() {
        Some((token, _)) => error_at_next(input, format!("expected {what}, found `{token}`")),
        None => error_at_next(input, format!("expected {what}")),
    }
}

/// An error at the whole of the next token, which may be a group.
fn error_at_next(input: ParseStream<'_>, message: impl std::fmt::Display) -> syn::Error {
    syn::Error::new(input.cursor().token_tree().map_or_else(Span::call_site, |(token, _)| token.span()), message)
}

/// Skips a token, of which there is at least one.
pub(crate) fn skip_token(input: ParseStream<'_>) {
    let skipped = input.step(|cursor| match cursor.token_tree() {
        Some((_, rest)) => Ok(((), rest)),
        None => Err(cursor.error("the end of the arguments")),
    });
    debug_assert!(skipped.is_ok(), "only called before the end");
}

/// A problem for each part of an error.
pub(crate) fn problems_of(error: &syn::Error) -> Vec<Problem> {
    error.into_iter().map(|error| Problem::argument(error.span(), error.to_string())).collect()
}
