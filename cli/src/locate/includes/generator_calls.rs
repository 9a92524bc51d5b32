//! The builder methods of `evalsuite_build::generate`, as they are written in a build script.

use evalsuite_build::Generator;
use proc_macro2::{Delimiter, Group, TokenTree};
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::{Expr, Lit, Token};

/// A literal argument.
enum Argument {
    Text(String),
    Texts(Vec<String>),
    Flag(bool),
    Number(u32),
}

/// The generator of `generate(arguments)` with the methods that are called on it.
pub(super) fn generator(arguments: &Group, mut methods: &[TokenTree]) -> Result<Generator, String> {
    let arguments = literals(arguments).unwrap_or_default();
    let [Argument::Text(entry)] = arguments.as_slice() else { return Err(not_literal("generate")) };
    let mut generator = evalsuite_build::generate(entry.as_str());
    while let [TokenTree::Punct(dot), TokenTree::Ident(method), TokenTree::Group(arguments), rest @ ..] = methods
        && dot.as_char() == '.'
        && is_parenthesized(arguments)
    {
        let method = method.to_string();
        if method == "write" {
            return Ok(generator);
        }
        generator = apply(generator, &method, literals(arguments).ok_or_else(|| not_literal(&method))?)?;
        methods = rest;
    }
    Err("the methods of `generate` up to `write()` are not called in one expression".to_owned())
}

/// The argument, if it is one literal text.
pub(super) fn only_text(arguments: &Group) -> Option<String> {
    match literals(arguments)?.as_slice() {
        [Argument::Text(text)] => Some(text.clone()),
        _ => None,
    }
}

fn apply(generator: Generator, method: &str, arguments: Vec<Argument>) -> Result<Generator, String> {
    use Argument::{Flag, Number, Text, Texts};
    let mut arguments = arguments.into_iter();
    Ok(match (method, arguments.next(), arguments.next()) {
        ("crate_path", Some(Text(path)), None) => generator.crate_path(path),
        ("agent", Some(Text(agent)), None) => generator.agent(agent),
        ("cli_agents", None, None) => generator.cli_agents(),
        ("acp_agents", None, None) => generator.acp_agents(),
        ("no_agent", None, None) => generator.no_agent(),
        ("target_agent", Some(Text(target)), Some(Text(agent))) => generator.target_agent(target, agent),
        ("graders", Some(Texts(paths)), None) => generator.graders(paths),
        ("grader", Some(Text(name)), Some(Text(path))) => generator.grader(name, path),
        ("judge", Some(Text(judge)), None) => generator.judge(judge),
        ("named_judge", Some(Text(name)), Some(Text(judge))) => generator.named_judge(name, judge),
        ("users", Some(Texts(paths)), None) => generator.users(paths),
        ("user", Some(Text(name)), Some(Text(path))) => generator.user(name, path),
        ("default_judges", Some(Texts(names)), None) => generator.default_judges(names),
        ("judge_confirm", Some(Number(judgements)), None) => generator.judge_confirm(judgements),
        ("runtime", Some(Text(runtime)), None) => generator.runtime(runtime),
        ("targets", Some(Texts(names)), None) => generator.targets(names),
        ("require_env", Some(Texts(names)), None) => generator.require_env(names),
        ("require_commands", Some(Texts(names)), None) => generator.require_commands(names),
        ("record", Some(Texts(names)), None) => generator.record(names),
        ("record_ignore", Some(Texts(pointers)), None) => generator.record_ignore(pointers),
        ("name", Some(Text(name)), None) => generator.name(name),
        ("ignore", Some(Text(reason)), None) => generator.ignore(reason),
        ("fixtures", Some(Flag(on)), None) => generator.fixtures(on),
        ("embed", Some(Flag(on)), None) => generator.embed(on),
        ("deny_warnings", None, None) => generator.deny_warnings(),
        ("allow", Some(Texts(names)), None) => generator.allow(names),
        _ => return Err(not_literal(method)),
    })
}

fn not_literal(method: &str) -> String {
    format!("the arguments of `{method}` are not literals")
}

fn literals(arguments: &Group) -> Option<Vec<Argument>> {
    let expressions = Punctuated::<Expr, Token![,]>::parse_terminated.parse2(arguments.stream()).ok()?;
    expressions.iter().map(literal).collect()
}

fn literal(expression: &Expr) -> Option<Argument> {
    match expression {
        Expr::Lit(literal) => match &literal.lit {
            Lit::Str(text) => Some(Argument::Text(text.value())),
            Lit::Bool(flag) => Some(Argument::Flag(flag.value)),
            Lit::Int(number) => number.base10_parse().ok().map(Argument::Number),
            _ => None,
        },
        Expr::Array(array) => {
            let texts = array.elems.iter().map(|element| match literal(element) {
                Some(Argument::Text(text)) => Some(text),
                _ => None,
            });
            texts.collect::<Option<_>>().map(Argument::Texts)
        }
        Expr::Reference(reference) => literal(&reference.expr),
        _ => None,
    }
}

pub(super) fn is_parenthesized(group: &Group) -> bool {
    group.delimiter() == Delimiter::Parenthesis
}
