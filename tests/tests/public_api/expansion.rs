//! Expands calls of a crate's own `macro_rules!` macros that declare items, so that these items are listed, too.

use std::collections::BTreeMap;

use evalsuite_tests::source::{CrateSource, Module};
use proc_macro2::{Delimiter, Group, Ident, TokenStream, TokenTree};
use syn::ext::IdentExt;
use syn::parse::discouraged::Speculative;
use syn::parse::{ParseStream, Parser};
use syn::{Item, Result};

/// Puts the items that a call declares in the place of the call.
pub(crate) fn expand_macros(krate: &mut CrateSource) {
    let mut macros = BTreeMap::new();
    for module in krate.modules() {
        for item in &module.items {
            if let Item::Macro(item) = item
                && let Some(name) = &item.ident
            {
                macros.insert(name.to_string(), rules(&item.mac.tokens));
            }
        }
    }
    expand_module(&mut krate.root, &macros);
}

fn expand_module(module: &mut Module, macros: &BTreeMap<String, Vec<Rule>>) {
    let mut items = Vec::new();
    for item in std::mem::take(&mut module.items) {
        let rules = match &item {
            Item::Macro(call) if call.ident.is_none() => {
                call.mac.path.segments.last().and_then(|name| macros.get(&name.ident.to_string()))
            }
            _ => None,
        };
        match (rules, &item) {
            (Some(rules), Item::Macro(call)) => items.extend(expand(rules, &call.mac.tokens, &module.file)),
            _ => items.push(item),
        }
    }
    module.items = items;
    for child in module.modules.values_mut() {
        expand_module(child, macros);
    }
}

fn expand(rules: &[Rule], input: &TokenStream, file: &str) -> Vec<Item> {
    let expanded = rules.iter().find_map(|rule| {
        let parser = |input: ParseStream<'_>| {
            let mut bindings = Bindings::new();
            match_patterns(&rule.patterns, input, &mut bindings)?;
            Ok(bindings)
        };
        parser.parse2(input.clone()).ok().map(|bindings| transcribe(&rule.body, &bindings))
    });
    let expanded = expanded.unwrap_or_else(|| panic!("{file}: no rule of the macro matches this call:\n{input}"));
    match syn::parse2::<syn::File>(expanded) {
        Ok(file) => file.items,
        Err(error) => panic!("{file}: a macro does not expand to items: {error}"),
    }
}

struct Rule {
    patterns: Vec<Pattern>,
    body: Vec<TokenTree>,
}

enum Pattern {
    Token(TokenTree),
    Group(Delimiter, Vec<Pattern>),
    Fragment { name: String, kind: String },
    Repetition { patterns: Vec<Pattern>, separator: Option<TokenTree>, at_most_once: bool },
}

type Bindings = BTreeMap<String, Binding>;

#[derive(Clone)]
enum Binding {
    One(TokenStream),
    Many(Vec<Binding>),
}

/// The rules `(patterns) => { body };` of a macro.
fn rules(tokens: &TokenStream) -> Vec<Rule> {
    let groups = tokens.clone().into_iter().filter_map(|token| match token {
        TokenTree::Group(group) => Some(group.stream()),
        _ => None,
    });
    let groups: Vec<TokenStream> = groups.collect();
    let rule = |pair: &[TokenStream]| Rule {
        patterns: patterns(&pair[0].clone().into_iter().collect::<Vec<_>>()),
        body: pair[1].clone().into_iter().collect(),
    };
    groups.chunks_exact(2).map(rule).collect()
}

fn patterns(tokens: &[TokenTree]) -> Vec<Pattern> {
    let mut found = Vec::new();
    let mut rest = tokens;
    while let [first, after @ ..] = rest {
        rest = after;
        found.push(match (first, rest) {
            (TokenTree::Punct(mark), [TokenTree::Group(group), after @ ..]) if mark.as_char() == '$' => {
                let (separator, operator, after) = repetition_end(after);
                rest = after;
                let patterns = patterns(&group.stream().into_iter().collect::<Vec<_>>());
                Pattern::Repetition { patterns, separator, at_most_once: operator == '?' }
            }
            (TokenTree::Punct(mark), [TokenTree::Ident(name), _, TokenTree::Ident(kind), after @ ..])
                if mark.as_char() == '$' =>
            {
                rest = after;
                Pattern::Fragment { name: name.to_string(), kind: kind.to_string() }
            }
            (TokenTree::Group(group), _) => {
                Pattern::Group(group.delimiter(), patterns(&group.stream().into_iter().collect::<Vec<_>>()))
            }
            (token, _) => Pattern::Token(token.clone()),
        });
    }
    found
}

/// The separator and the operator behind `$(…)`, and what follows.
fn repetition_end(tokens: &[TokenTree]) -> (Option<TokenTree>, char, &[TokenTree]) {
    let operator = |token: &TokenTree| match token {
        TokenTree::Punct(mark) if "*+?".contains(mark.as_char()) => Some(mark.as_char()),
        _ => None,
    };
    match tokens {
        [first, rest @ ..] if operator(first).is_some() => (None, operator(first).expect("checked"), rest),
        [separator, last, rest @ ..] => {
            (Some(separator.clone()), operator(last).expect("a repetition ends with `*`, `+` or `?`"), rest)
        }
        _ => panic!("a repetition ends with `*`, `+` or `?`"),
    }
}

fn match_patterns(patterns: &[Pattern], input: ParseStream<'_>, bindings: &mut Bindings) -> Result<()> {
    for pattern in patterns {
        match pattern {
            Pattern::Token(expected) => match_token(expected, input)?,
            Pattern::Group(delimiter, patterns) => match input.parse::<TokenTree>()? {
                TokenTree::Group(group) if group.delimiter() == *delimiter => {
                    let parser = |input: ParseStream<'_>| match_patterns(patterns, input, bindings);
                    parser.parse2(group.stream())?;
                }
                _ => return Err(input.error("expected a group")),
            },
            Pattern::Fragment { name, kind } => {
                bindings.insert(name.clone(), Binding::One(fragment(kind, input)?));
            }
            Pattern::Repetition { patterns, separator, at_most_once } => {
                let mut names = Vec::new();
                collect_names(patterns, &mut names);
                let mut rounds: Vec<Bindings> = Vec::new();
                while !(input.is_empty() || *at_most_once && rounds.len() == 1) {
                    let fork = input.fork();
                    let mut round = Bindings::new();
                    let separated = separator.as_ref().filter(|_| !rounds.is_empty());
                    let matched = separated.map_or(Ok(()), |separator| match_token(separator, &fork));
                    if matched.and_then(|()| match_patterns(patterns, &fork, &mut round)).is_err() {
                        break;
                    }
                    input.advance_to(&fork);
                    rounds.push(round);
                }
                for name in names {
                    let values = rounds.iter_mut().filter_map(|round| round.remove(&name)).collect();
                    bindings.insert(name, Binding::Many(values));
                }
            }
        }
    }
    Ok(())
}

fn match_token(expected: &TokenTree, input: ParseStream<'_>) -> Result<()> {
    let found = input.parse::<TokenTree>()?;
    if found.to_string() == expected.to_string() { Ok(()) } else { Err(input.error("another token")) }
}

fn collect_names(patterns: &[Pattern], names: &mut Vec<String>) {
    for pattern in patterns {
        match pattern {
            Pattern::Token(_) => {}
            Pattern::Fragment { name, .. } => names.push(name.clone()),
            Pattern::Group(_, patterns) | Pattern::Repetition { patterns, .. } => collect_names(patterns, names),
        }
    }
}

fn fragment(kind: &str, input: ParseStream<'_>) -> Result<TokenStream> {
    fn parsed<T: syn::parse::Parse + quote::ToTokens>(input: ParseStream<'_>) -> Result<TokenStream> {
        input.parse::<T>().map(|value| value.into_token_stream())
    }
    match kind {
        "ident" => input.call(Ident::parse_any).map(|name| TokenTree::from(name).into()),
        "expr" => parsed::<syn::Expr>(input),
        "literal" => parsed::<syn::Lit>(input),
        "meta" => parsed::<syn::Meta>(input),
        "path" => parsed::<syn::Path>(input),
        "tt" => parsed::<TokenTree>(input),
        "ty" => parsed::<syn::Type>(input),
        "vis" => parsed::<syn::Visibility>(input),
        _ => panic!("the listing of the public API cannot expand macros with fragments of kind `{kind}`"),
    }
}

fn transcribe(body: &[TokenTree], bindings: &Bindings) -> TokenStream {
    let mut output = TokenStream::new();
    let mut rest = body;
    while let [first, after @ ..] = rest {
        rest = after;
        let is_dollar = matches!(first, TokenTree::Punct(mark) if mark.as_char() == '$');
        match (first, rest) {
            (_, [TokenTree::Group(group), after @ ..]) if is_dollar => {
                let (separator, _, after) = repetition_end(after);
                rest = after;
                let body: Vec<TokenTree> = group.stream().into_iter().collect();
                for (index, round) in rounds(&body, bindings).iter().enumerate() {
                    output.extend(separator.clone().filter(|_| index > 0));
                    output.extend(transcribe(&body, round));
                }
            }
            (_, [TokenTree::Ident(name), after @ ..]) if is_dollar => {
                rest = after;
                match bindings.get(&name.to_string()) {
                    Some(Binding::One(tokens)) => output.extend(tokens.clone()),
                    Some(Binding::Many(_)) => panic!("`${name}` is used outside of a repetition"),
                    None if name == "crate" => output.extend([TokenTree::from(name.clone())]),
                    None => output.extend([first.clone(), TokenTree::from(name.clone())]),
                }
            }
            (TokenTree::Group(group), _) => {
                let body: Vec<TokenTree> = group.stream().into_iter().collect();
                output.extend([TokenTree::from(Group::new(group.delimiter(), transcribe(&body, bindings)))]);
            }
            (token, _) => output.extend([token.clone()]),
        }
    }
    output
}

/// The bindings of each round of a repetition: one for each value of the repeated names it uses.
fn rounds(body: &[TokenTree], bindings: &Bindings) -> Vec<Bindings> {
    let mut used = Vec::new();
    names_in(body, &mut used);
    let repeated = used.iter().filter_map(|name| match bindings.get(name) {
        Some(Binding::Many(values)) => Some((name, values)),
        _ => None,
    });
    let repeated: Vec<_> = repeated.collect();
    let length = repeated.iter().map(|(_, values)| values.len()).max().unwrap_or(0);
    let round = |index: usize| {
        let mut round = bindings.clone();
        for (name, values) in &repeated {
            round.insert((*name).clone(), values[index].clone());
        }
        round
    };
    (0..length).map(round).collect()
}

fn names_in(tokens: &[TokenTree], names: &mut Vec<String>) {
    for token in tokens {
        match token {
            TokenTree::Ident(name) => names.push(name.to_string()),
            TokenTree::Group(group) => names_in(&group.stream().into_iter().collect::<Vec<_>>(), names),
            _ => {}
        }
    }
}
