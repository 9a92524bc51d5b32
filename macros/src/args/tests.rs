use proc_macro2::TokenStream;

use super::{Agent, Args, Judge, parse};

fn read(arguments: &str) -> (Option<Args>, Vec<String>) {
    let tokens: TokenStream = arguments.parse().expect("the test's arguments are tokens");
    let mut errors = Vec::new();
    let args = parse(tokens, &mut errors);
    (args, errors.into_iter().map(|error| error.message).collect())
}

fn good(arguments: &str) -> Args {
    let (args, errors) = read(arguments);
    assert_eq!(errors, Vec::<String>::new(), "for {arguments}");
    args.expect("there is an entry path")
}

fn bad(arguments: &str) -> Vec<String> {
    read(arguments).1
}

fn values(texts: &[super::Text]) -> Vec<&str> {
    texts.iter().map(|text| text.value.as_str()).collect()
}

#[test]
fn the_path_alone_is_enough() {
    let args = good("\"suites/card_agent\"");
    assert_eq!(args.entry.value, "suites/card_agent");
    assert!(args.agent.is_none() && args.graders.is_empty() && args.fixtures && !args.deny_warnings);
}

#[test]
fn all_arguments_together_with_trailing_commas() {
    let args = good(
        r#""s", agent = a::b, agents = { "x" => c, "y" => d, }, graders = [e, f::g, "h-i" => j::k,], judge = l::m,
        judges = { "strict" => n, "my-panel" => o::<P, Q>(1) }, targets = ["x", "y"], judge_confirm = 4,
        require_env = ["E"], require_commands = ["git"], name = other, ignore = "slow", fixtures = off, deny_warnings,
        allow = ["no-effect",],"#,
    );
    assert!(matches!(&args.agent, Some(Agent::Expression(path)) if path.to_string().replace(' ', "") == "a::b"));
    assert_eq!(args.agents.iter().map(|(name, _)| name.value.as_str()).collect::<Vec<_>>(), ["x", "y"]);
    assert_eq!(args.graders.iter().map(|grader| grader.name.value.as_str()).collect::<Vec<_>>(), ["e", "g", "h-i"]);
    assert!(matches!(&args.judge, Some(Judge::Expression(path)) if path.to_string().replace(' ', "") == "l::m"));
    assert_eq!(args.judge_confirm, Some(4));
    assert_eq!(args.judges.iter().map(|(name, _)| name.value.as_str()).collect::<Vec<_>>(), ["strict", "my-panel"]);
    assert_eq!(values(&args.targets), ["x", "y"]);
    assert_eq!(values(&args.require_env), ["E"]);
    assert_eq!(values(&args.require_commands), ["git"]);
    assert_eq!(args.name.map(|name| name.to_string()).as_deref(), Some("other"));
    assert_eq!(args.ignore.map(|reason| reason.value).as_deref(), Some("slow"));
    assert!(!args.fixtures && args.deny_warnings);
    assert_eq!(values(&args.allow), ["no-effect"]);
}

#[test]
fn commas_inside_of_expressions_separate_nothing() {
    let args = good(
        r#""s", agent = make::<A, Vec<B>>(1, 2), graders = [f::<C, D>, "x" => |c: C, e: &E<'_>| true, <T as U<V, W>>::g]"#,
    );
    assert!(matches!(args.agent, Some(Agent::Expression(_))));
    assert_eq!(args.graders.iter().map(|grader| grader.name.value.as_str()).collect::<Vec<_>>(), ["f", "x", "g"]);
}

#[test]
fn nobody_is_an_agent() {
    assert!(matches!(good(r#""s", agent = none"#).agent, Some(Agent::Nobody)));
}

#[test]
fn commands_are_agents() {
    assert!(matches!(good(r#""s", agent = "cli", agents = { "a" => b }"#).agent, Some(Agent::Commands)));
}

#[test]
fn judges_may_be_named() {
    let named = |arguments: &str| match good(arguments).judge {
        Some(Judge::Named(names)) => names.into_iter().map(|name| name.value).collect::<Vec<_>>(),
        other => panic!("{other:?}"),
    };
    assert_eq!(named(r#""s", judge = "strict""#), ["strict"]);
    assert_eq!(named(r#""s", judge = ["a", "b", "c",]"#), ["a", "b", "c"]);
}

#[test]
fn raw_identifiers_are_named_without_prefix() {
    assert_eq!(good(r#""s", graders = [r#match]"#).graders[0].name.value, "match");
}

#[test]
fn what_is_missing_or_of_the_wrong_kind_is_named() {
    let table: &[(&str, &str)] = &[
        ("", "missing the path of a suite, such as `\"suites/my_agent\"`"),
        ("agent = a", "expected the path of a suite as one string literal"),
        ("12", "expected the path of a suite as a string literal, found `12`"),
        ("\"s\", agnet = a", "unknown argument `agnet`\n  = help: did you mean `agent`?"),
        ("\"s\", agent = a, agent = b", "argument `agent` is given twice"),
        ("\"s\", agent", "argument `agent` needs a value: `agent = …`"),
        ("\"s\", agent =", "argument `agent` needs a value: `agent = …`"),
        ("\"s\", agent: a", "expected `=` after `agent`"),
        ("\"s\", agent = 5", "expected a path, `\"cli\"` or `none` as agent, found `5`"),
        ("\"s\", agent = \"cil\"", "expected a path, `\"cli\"` or `none` as agent, found `\"cil\"`"),
        ("\"s\", judge = 5", "expected the path of a judge, its name, or a list of names, found `5`"),
        ("\"s\", judge = []", "expected the path of a judge, its name, or a list of names, found no name"),
        ("\"s\", judge = [a]", "expected an element as a string literal, found `a`"),
        ("\"s\", judge = [\"a\", \"b\", \"a\"]", "judge `a` is given twice"),
        ("\"s\", judge = \" \"", "the name of a judge is blank"),
        ("\"s\", judges = { \"a\" => b, \"a\" => c }", "`a` is given twice"),
        ("\"s\", judges = { a => b }", "expected a name as a string literal, found `a`"),
        (
            "\"s\", judge_confirm = 3",
            "expected how many judgements follow a failing one, an even number from 0 to 10, found `3`",
        ),
        (
            "\"s\", judge_confirm = -2",
            "expected how many judgements follow a failing one, an even number from 0 to 10, found `- 2`",
        ),
        ("\"s\", judges = [a]", "expected `judges = { \"name\" => path }`"),
        ("\"s\", deny_warnings = true", "`deny_warnings` is a flag and takes no value"),
        ("\"s\", fixtures = yes", "expected `on` or `off`"),
        ("\"s\", name = \"x\"", "expected an identifier: `name = my_suite`"),
        ("\"s\", targets = \"x\"", "expected a list: `targets = [\"…\"]`"),
        ("\"s\", targets = [x]", "expected an element as a string literal, found `x`"),
        ("\"s\", graders = [1 + 1]", "expected the path of a grader, or `\"name\" => path`"),
        ("\"s\", agents = [a]", "expected `agents = { \"name\" => path }`"),
        ("\"s\", agents = { \"a\" => b, \"a\" => c }", "`a` is given twice"),
        ("\"s\", , agent = a", "expected an argument such as `agent = my_agent`"),
    ];
    for (arguments, message) in table {
        assert_eq!(bad(arguments), [*message], "for {arguments}");
    }
}

#[test]
fn one_wrong_argument_hides_no_other() {
    assert_eq!(bad(r#""s", agnet = a, fixtures = maybe, graders = [1, 2]"#).len(), 4);
}

#[test]
fn an_argument_far_from_all_names_gets_the_list() {
    let errors = bad(r#""s", something_else = 1"#);
    assert!(errors[0].contains("= help: known: `agent`, `agents`, `graders`"), "{}", errors[0]);
}
