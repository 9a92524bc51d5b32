//! The arguments of `include_eval_suite!`, each stated once: the field of the binding, how its value is parsed, and what the
//! reference says about it.

use proc_macro2::Ident;
use syn::parse::ParseStream;
use syn::{Expr, LitInt, LitStr, Path};

use super::{Agent, Judge, NamedExpr, Problem, argument_values};

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
    "agent" => agent: Agent = Agent::ByName, |input, _, _| argument_values::agent(input), {
        value: "path or expression, `\"cli\"`, `\"acp\"`, or `none`", default: "the function named after the suite's agent, else `agent`",
        doc: "The agent. `\"cli\"`: the command in a targets file. `\"acp\"`: the same, which may speak the Agent Client Protocol. `none`: only `SUITE`, no tests.",
        example: "agent = card_agent"
    }
    "agents" => agents: Vec<NamedExpr> = Vec::new(), argument_values::map, {
        value: "names and paths", default: "",
        doc: "One agent per target; these take precedence over `agent`.",
        example: "agents = { \"small\" => small_agent, \"large\" => large_agent }"
    }
    "graders" => graders: Vec<NamedExpr> = Vec::new(), |input, argument, problems| argument_values::functions(input, (argument, "grader"), problems), {
        value: "list of paths, or of names and paths", default: "",
        doc: "Graders written in Rust. Every grader that the files name is built in or listed here.",
        example: "graders = [card_completion, \"tone\" => judged_tone]"
    }
    "judge" => judge: Option<Judge> = None, |input, _, problems| argument_values::judge(input, problems).map(Some), {
        value: "path or expression, name, or list of names", default: "",
        doc: "The judge of graders that name none. A name is one of `judges` or of a targets file; with several, the majority decides.",
        example: "judge = my_judge"
    }
    "judges" => judges: Vec<NamedExpr> = Vec::new(), argument_values::map, {
        value: "names and paths", default: "",
        doc: "Named judges. A grader selects one with `target`.",
        example: "judges = { \"strict\" => strict_judge }"
    }
    "users" => users: Vec<NamedExpr> = Vec::new(), |input, argument, problems| argument_values::functions(input, (argument, "user"), problems), {
        value: "list of paths, or of names and paths", default: "",
        doc: "Simulated users written in Rust. A case selects one with `conversation: {user: NAME}`. Needs the feature `users`.",
        example: "users = [angry_customer]"
    }
    "judge_confirm" => judge_confirm: Option<LitInt> = None, |input, _, _| argument_values::number(input).map(Some), {
        value: "even number from 0 to 10", default: "2",
        doc: "How many judgements follow a failing one; the majority decides.",
        example: "judge_confirm = 4"
    }
    "runtime" => runtime: Option<Expr> = None, |input: ParseStream<'_>, _, _| input.parse().map(Some), {
        value: "expression", default: "one multi-thread runtime of the process",
        doc: "The tokio runtime of async agents, graders and judges: the `Handle` of a multi-thread runtime that lives as long as the tests.",
        example: "runtime = RUNTIME.handle().clone()"
    }
    "targets" => targets: Vec<LitStr> = Vec::new(), argument_values::strings, {
        value: "list of names", default: "",
        doc: "The target matrix, where the files of the suite have none: one test per target and case.",
        example: "targets = [\"small\", \"large\"]"
    }
    "require_env" => require_env: Vec<LitStr> = Vec::new(), argument_values::strings, {
        value: "list of names", default: "",
        doc: "Environment variables without which the cases are skipped.",
        example: "require_env = [\"API_KEY\"]"
    }
    "require_commands" => require_commands: Vec<LitStr> = Vec::new(), argument_values::strings, {
        value: "list of names", default: "",
        doc: "Programs without which the cases are skipped.",
        example: "require_commands = [\"docker\"]"
    }
    "record" => record: Vec<LitStr> = Vec::new(), argument_values::strings, {
        value: "list of names", default: "",
        doc: "Environment variables with base URLs of services that the agent calls, besides `OPENAI_BASE_URL` and `ANTHROPIC_BASE_URL`. `cargo evalsuite run --record` records these calls.",
        example: "record = [\"MODEL_URL\"]"
    }
    "record_ignore" => record_ignore: Vec<LitStr> = Vec::new(), argument_values::strings, {
        value: "list of JSON pointers", default: "",
        doc: "Parts of request bodies that `cargo evalsuite run --replay` does not compare, such as ids that are new in every call. `*` is every key or index.",
        example: "record_ignore = [\"/metadata/request_id\", \"/messages/*/id\"]"
    }
    "name" => name: Option<Ident> = None, |input, _, _| argument_values::identifier(input).map(Some), {
        value: "identifier", default: "the last component of the path",
        doc: "Name of the module. It must differ from those of other suites in the same module, and from crates whose items are named there without `::`.",
        example: "name = nightly"
    }
    "ignore" => ignore: Option<LitStr> = None, |input, _, _| argument_values::string(input, "the reason why the tests are ignored").map(Some), {
        value: "text", default: "",
        doc: "Marks the tests `#[ignore]`, with this reason.",
        example: "ignore = \"needs a GPU\""
    }
    "fixtures" => fixtures: bool = true, |input, _, _| argument_values::on_or_off(input), {
        value: "`on` or `off`", default: "`on`",
        doc: "Whether a `workspace/` directory next to a task, and `fixture_dir` and `base_fixture` in its input, are its workspace.",
        example: "fixtures = off"
    }
    "embed" => embed: bool = true, |input, _, _| argument_values::on_or_off(input), {
        value: "`on` or `off`", default: "`on`",
        doc: "Whether workspaces, fixtures, scripts and the targets file of commands are embedded in the test program, up to 32 MiB.",
        example: "embed = off"
    }
    "crate" => crate_path: Option<Path> = None, |input, _, _| argument_values::crate_path(input).map(Some), {
        value: "path", default: "`::evalsuite`",
        doc: "Where generated code finds evalsuite, in a package that has it from a crate which re-exports it. The method of `generate` is `crate_path`.",
        example: "crate = my_facade::evalsuite"
    }
    "deny_warnings" => deny_warnings: bool = false, |_, _, _| syn::Result::Ok(true), {
        value: "", default: "",
        doc: "Warnings about the suite fail the build.",
        example: "deny_warnings"
    }
    "allow" => allow: Vec<LitStr> = Vec::new(), argument_values::strings, {
        value: "list of names of warnings", default: "",
        doc: "Warnings that are not shown. `unsupported-docker` lets cases with a docker workspace be skipped.",
        example: "allow = [\"no-effect\"]"
    }
}
