//! Where the sources of packages include suites, and with which arguments.
//!
//! Read from the sources, 300 lines, and not recorded by `track`, `generate` and the macro while they run: `check` and editors need the
//! arguments before the first build, and those of a source that was edited since the last one.
//!
//! The calls in a source file that include suites.
//!
//! Not a walk over a syntax tree: calls in functions and in the bodies of other macros are found too.
//!
//! The builder methods of `evalsuite_build::generate`, as they are written in a build script.

use std::io;
use std::path::{Path, PathBuf};

use evalsuite_build::Generator;
use evalsuite_codegen::binding::{Binding, Problem};
use evalsuite_codegen::expansion::Context;
use evalsuite_codegen::macro_arguments::{self, Arguments};
use evalsuite_codegen::{cargo_environment, skill_bindings};
use evalsuite_loader::source::plain_text;
use evalsuite_loader::{Request, check_tracked_directory};
use evalsuite_schema::diagnostics::Diagnostics;
use proc_macro2::{Delimiter, Group, LexError, TokenStream, TokenTree};
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::{Expr, Lit, Token};
use walkdir::{DirEntry, WalkDir};

use crate::locate::suite_search;

/// Directories of a package with sources.
const DIRECTORIES: &[&str] = &["src", "tests", "examples", "benches"];

/// A source file that names the macro or the generator.
#[derive(Debug)]
pub(crate) struct SourceFile {
    pub(crate) path: PathBuf,
    /// The path relative to the package.
    pub(crate) shown: String,
    pub(crate) text: String,
}

/// The source files of the package at `root` with calls in them, and its build script.
pub(crate) fn source_files(root: &Path) -> Vec<SourceFile> {
    let with_calls = |path: PathBuf| {
        // A link may lead to a device.
        let text = plain_text(&path)?;
        let has_calls = text.contains("include_eval_suite") || text.contains("evalsuite_build");
        let shown = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().replace('\\', "/");
        has_calls.then_some(SourceFile { path, shown, text })
    };
    rust_files(root).into_iter().filter_map(with_calls).collect()
}

/// The Rust files of the package at `root`. Packages in its directories have sources of their own.
pub(crate) fn rust_files(root: &Path) -> Vec<PathBuf> {
    let is_own = |entry: &DirEntry| !(entry.file_type().is_dir() && entry.path().join("Cargo.toml").is_file());
    let walked = DIRECTORIES.iter().flat_map(|directory| {
        let walk = WalkDir::new(root.join(directory)).sort_by_file_name().into_iter().filter_entry(is_own);
        walk.filter_map(Result::ok).map(DirEntry::into_path)
    });
    let is_rust = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "rs");
    std::iter::once(root.join("build.rs")).chain(walked).filter(is_rust).collect()
}

/// The includes of suites in the sources of packages.
#[derive(Default)]
pub(crate) struct Includes {
    pub(crate) all: Vec<Include>,
    /// The directories that build scripts track, with their packages.
    pub(crate) tracked: Vec<Tracked>,
    /// Calls that could not be read: where they are, and why.
    pub(crate) unread: Vec<String>,
}

/// A directory that a build script tracks.
pub(crate) struct Tracked {
    pub(crate) package: PathBuf,
    /// The whole path.
    pub(crate) directory: PathBuf,
}

impl Tracked {
    /// The directories that the build script of the package at `root` tracks, where they are literals.
    pub(crate) fn in_build_script(root: &Path) -> Vec<Self> {
        let text = plain_text(&root.join("build.rs")).filter(|text| text.contains("evalsuite_build"));
        let Some(Ok(tokens)) = text.map(|text| text.parse()) else { return Vec::new() };
        let tracked = |directory: String| Self { package: root.to_owned(), directory: root.join(directory) };
        tracked_directories(tokens).into_iter().map(tracked).collect()
    }

    /// Links that cargo should not follow.
    pub(crate) fn problems(&self) -> Diagnostics {
        check_tracked_directory(&self.directory, &Request::new("", &self.package))
    }
}

/// A call of `include_eval_suite!` or `generate` whose arguments are literal.
#[derive(Clone)]
pub(crate) struct Include {
    /// The whole path of the suite.
    pub(crate) path: PathBuf,
    /// The source file with the call.
    #[cfg_attr(not(feature = "lsp"), expect(dead_code, reason = "the language server names it"))]
    pub(crate) source: PathBuf,
    pub(crate) binding: Binding,
    /// Where the compiler would expand it.
    pub(crate) context: Context,
}

impl Includes {
    /// Reads the sources of the packages at `roots`.
    pub(crate) fn of_packages(roots: &[PathBuf]) -> io::Result<Self> {
        let mut includes = Self::default();
        for root in roots {
            includes.tracked.extend(Tracked::in_build_script(root));
            for file in source_files(root) {
                includes.add_file(root, &file)?;
            }
        }
        Ok(includes)
    }

    /// The includes of the suite at `path`.
    pub(crate) fn of_suite(&self, path: &Path) -> Vec<&Include> {
        self.all.iter().filter(|include| is_same_suite(&include.path, path)).collect()
    }

    /// The paths of the suites that are included.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &Path> {
        self.all.iter().map(|include| include.path.as_path())
    }

    fn add_file(&mut self, root: &Path, file: &SourceFile) -> io::Result<()> {
        let calls = match in_source(&file.text) {
            Ok(calls) => calls,
            Err(error) => {
                self.unread.push(format!("{}: the file is not valid Rust: {error}", file.shown));
                return Ok(());
            }
        };
        for Call { line, binding } in calls {
            match binding {
                Ok(binding) => {
                    let directory = entry_path(root, file, &binding.entry.value());
                    match skill_bindings::of_each_skill(*binding, &directory) {
                        Ok(bindings) => {
                            for binding in bindings {
                                self.all.push(include(root, file, binding)?);
                            }
                        }
                        Err(problem) => self.unread.push(format!("{}:{line}: {}", file.shown, problem.text())),
                    }
                }
                Err(reason) => self.unread.push(format!("{}:{line}: {reason}", file.shown)),
            }
        }
        Ok(())
    }
}

/// The path that a call names in a source file.
fn entry_path(root: &Path, file: &SourceFile, entry: &str) -> PathBuf {
    match entry.strip_prefix("./") {
        Some(rest) => file.path.parent().unwrap_or(root).join(rest),
        None => root.join(entry),
    }
}

fn include(root: &Path, file: &SourceFile, binding: Binding) -> io::Result<Include> {
    let entry = binding.entry.value();
    let path = entry_path(root, file, &entry);
    let mut request = Request::new(entry, root);
    request.source_dir = Some(file.path.parent().unwrap_or(root).to_path_buf());
    let mut context = Context::new(request);
    context.deny_warnings = cargo_environment::warnings_are_denied().map_err(io::Error::other)?;
    Ok(Include { path: suite_search::absolute(&path)?, source: file.path.clone(), binding, context })
}

/// Whether both paths name one suite: it may be named by its file or by its directory.
pub(crate) fn is_same_suite(one: &Path, other: &Path) -> bool {
    let is_file_of = |file: &Path, directory: &Path| {
        let is_suite_file =
            file.extension().is_some_and(|ending| ["yaml", "yml", "json"].iter().any(|known| ending == *known));
        is_suite_file && file.parent() == Some(directory)
    };
    one == other || is_file_of(one, other) || is_file_of(other, one)
}

/// A call of `include_eval_suite!` or `evalsuite_build::generate` in a source file.
struct Call {
    /// Its line, counted from 1.
    line: usize,
    /// What it binds to which suite, or why that is not known.
    binding: Result<Box<Binding>, String>,
}

/// The calls in a source file, also under a name that `use … as` gives the macro.
fn in_source(text: &str) -> Result<Vec<Call>, LexError> {
    let tokens: TokenStream = text.parse()?;
    let mut names = vec!["include_eval_suite".to_owned()];
    visit_tokens(tokens.clone(), &mut |tokens| {
        if let [TokenTree::Ident(name), TokenTree::Ident(word), TokenTree::Ident(alias), ..] = tokens
            && name == "include_eval_suite"
            && word == "as"
        {
            names.push(alias.to_string());
        }
    });
    let mut calls = Vec::new();
    visit_tokens(tokens, &mut |tokens| calls.extend(call(tokens, &names)));
    Ok(calls)
}

/// The directories that a build script tracks, where they are literals.
pub(crate) fn tracked_directories(tokens: TokenStream) -> Vec<String> {
    let mut directories = Vec::new();
    visit_tokens(tokens, &mut |tokens| match tokens {
        [TokenTree::Ident(name), TokenTree::Group(arguments), ..] if name == "track" && is_parenthesized(arguments) => {
            directories.extend(only_text(arguments));
        }
        _ => {}
    });
    directories
}

/// Visits every token in the order of the text, together with the tokens after it in its group.
pub(crate) fn visit_tokens(tokens: TokenStream, visit: &mut impl FnMut(&[TokenTree])) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    for (index, token) in tokens.iter().enumerate() {
        visit(&tokens[index..]);
        if let TokenTree::Group(group) = token {
            visit_tokens(group.stream(), visit);
        }
    }
}

/// The call at the start of `tokens`.
fn call(tokens: &[TokenTree], names: &[String]) -> Option<Call> {
    let Some((TokenTree::Ident(name), rest)) = tokens.split_first() else { return None };
    let line = name.span().start().line;
    let (binding, problems) = match rest {
        [TokenTree::Punct(mark), TokenTree::Group(written), ..] if mark.as_char() == '!' => {
            let Arguments { binding, problems } =
                names.iter().any(|known| name == known).then(|| macro_arguments::parse(written.stream()))?;
            (binding, problems)
        }
        [TokenTree::Group(entry), methods @ ..] if name == "generate" && is_parenthesized(entry) => {
            match generator(entry, methods).map(Generator::into_binding) {
                Ok((binding, problems)) => (Some(binding), problems),
                Err(reason) => return Some(Call { line, binding: Err(reason) }),
            }
        }
        _ => return None,
    };
    let binding = match (binding, problems.first()) {
        (Some(binding), None) => Ok(Box::new(binding)),
        (_, problem) => Err(problem.map_or_else(|| "it names no suite".to_owned(), Problem::text)),
    };
    Some(Call { line, binding })
}

/// A literal argument.
enum Argument {
    Text(String),
    Texts(Vec<String>),
    Flag(bool),
    Number(u32),
}

/// The generator of `generate(arguments)` with the methods that are called on it.
fn generator(arguments: &Group, mut methods: &[TokenTree]) -> Result<Generator, String> {
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
fn only_text(arguments: &Group) -> Option<String> {
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

fn is_parenthesized(group: &Group) -> bool {
    group.delimiter() == Delimiter::Parenthesis
}
