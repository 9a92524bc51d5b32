//! The package and source file of a call, and whether it is in a function or an expression: tests in a function never run, and rustc only
//! warns.
//!
//! Where the file cannot be read, or where a macro is around the call, rustc's warning is all there is.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use std::{env, fs};

use evalsuite_codegen::cargo_environment;
use evalsuite_codegen::expansion::{CacheLocation, Context};
use evalsuite_loader::Request;
use proc_macro2::{Delimiter, Group, Span, TokenStream, TokenTree};

/// What the compiler and cargo say about a call with the path `entry` in a source file.
pub(crate) fn context(entry: &str, source_file: Option<&Path>) -> Result<Context, String> {
    let of_cargo = PathBuf::from(cargo_environment::variable("CARGO_MANIFEST_DIR")?);
    let source_dir = source_file.and_then(Path::parent);
    // A path relative to the source file is one of the package that this file belongs to. It is another one than cargo's where a test tool
    // compiles the file inside a generated package.
    let mut around = source_dir.filter(|_| entry.starts_with("./")).into_iter().flat_map(Path::ancestors);
    let package_root = around.find(|parent| parent.join("Cargo.toml").is_file()).unwrap_or(&of_cargo);
    let mut request = Request::new(entry, package_root);
    request.source_dir = source_dir.map(Path::to_path_buf);
    let mut context = Context::new(request);
    context.source_file = source_file.map(Path::to_path_buf);
    context.cache = cache_location();
    context.deny_warnings = cargo_environment::warnings_are_denied()?;
    Ok(context)
}

/// Where the suite is stored for the next expansion: in a package with a build script, by a compiler that cargo has called.
fn cache_location() -> Option<CacheLocation> {
    Some(CacheLocation { out_dir: env::var_os("OUT_DIR")?.into(), program: macro_library_stamps()? })
}

/// The source file at `span`. Language servers often do not know it.
pub(crate) fn source_file(span: Span) -> Option<PathBuf> {
    let file = span.unwrap().local_file()?;
    // The compiler's paths are relative to the directory it was started in.
    Some(env::current_dir().ok()?.join(file))
}

/// Name, size and time of every library with this macro in the directories that the compiler was told to search, of which one was loaded.
/// `None` if there is none, or this is not the compiler but a language server.
fn macro_library_stamps() -> Option<String> {
    let mut stamps: Vec<String> =
        dependency_directories(env::args_os()).iter().flat_map(|path| libraries(path)).collect();
    stamps.sort();
    stamps.dedup();
    (!stamps.is_empty()).then(|| stamps.join(" "))
}

/// `-L dependency=DIRECTORY` in the arguments of rustc.
fn dependency_directories(arguments: impl Iterator<Item = impl AsRef<OsStr>>) -> Vec<PathBuf> {
    let directory = |argument: &OsStr| {
        let argument = argument.to_str()?;
        argument.strip_prefix("-L").unwrap_or(argument).strip_prefix("dependency=").map(PathBuf::from)
    };
    arguments.filter_map(|argument| directory(argument.as_ref())).collect()
}

fn libraries(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).into_iter().flatten();
    let stamp = |entry: fs::DirEntry| {
        let name = entry.file_name().into_string().ok()?;
        if !name.contains(env!("CARGO_CRATE_NAME")) || !name.ends_with(env::consts::DLL_SUFFIX) {
            return None;
        }
        let metadata = entry.metadata().ok()?;
        let modified = metadata.modified().ok()?.duration_since(SystemTime::UNIX_EPOCH).ok()?;
        Some(format!("{name}-{}-{}", metadata.len(), modified.as_nanos()))
    };
    entries.filter_map(|entry| stamp(entry.ok()?)).collect()
}

/// The name of the macro in source files.
const MACRO: &str = "include_eval_suite";

/// The calls with the arguments of one call.
#[derive(Default)]
struct Surroundings {
    /// Whether one of the calls is an item.
    is_item: bool,
    /// Whether one of the calls is in a function or an expression.
    is_misplaced: bool,
    /// Whether it is unknown where one of the calls is expanded.
    is_unknown: bool,
}

/// Whether all calls with these arguments in a source file are in functions or expressions.
pub(crate) fn is_misplaced(arguments: &TokenStream, source_file: Option<&Path>) -> bool {
    let source = source_file.and_then(|file| fs::read_to_string(file).ok());
    let tokens = source.and_then(|source| source.parse::<TokenStream>().ok()).unwrap_or_default();
    is_misplaced_in(tokens, arguments.clone())
}

fn is_misplaced_in(source: TokenStream, arguments: TokenStream) -> bool {
    let mut found = Surroundings::default();
    found.search(source, &flat(arguments));
    found.is_misplaced && !found.is_item && !found.is_unknown
}

impl Surroundings {
    fn search(&mut self, module: TokenStream, arguments: &[String]) {
        let tokens: Vec<TokenTree> = module.into_iter().collect();
        for index in 0..tokens.len() {
            let TokenTree::Group(group) = &tokens[index] else { continue };
            let before = &tokens[..index];
            if is_call(before) && flat(group.stream()) == arguments {
                if begins_item(before) { self.is_item = true } else { self.is_misplaced = true }
            } else if is_module(before, group) {
                self.search(group.stream(), arguments);
            } else if contains_call(group.stream(), arguments) {
                if is_of_macro(before) { self.is_unknown = true } else { self.is_misplaced = true }
            }
        }
    }
}

fn is_mark(token: &TokenTree, wanted: char) -> bool {
    matches!(token, TokenTree::Punct(mark) if mark.as_char() == wanted)
}

/// The tokens without groups.
fn flat(tokens: TokenStream) -> Vec<String> {
    let mut flat = Vec::new();
    for token in tokens {
        match token {
            TokenTree::Group(group) if group.delimiter() == Delimiter::None => flat.extend(self::flat(group.stream())),
            TokenTree::Group(group) => {
                flat.push(format!("{:?}", group.delimiter()));
                flat.extend(self::flat(group.stream()));
            }
            other => flat.push(other.to_string()),
        }
    }
    flat
}

/// Whether a group after these tokens has the arguments of a call.
fn is_call(before: &[TokenTree]) -> bool {
    matches!(before, [.., TokenTree::Ident(name), mark] if name == MACRO && is_mark(mark, '!'))
}

/// Whether a call whose name and `!` are the last of these tokens is an item.
fn begins_item(before: &[TokenTree]) -> bool {
    let is_of_path =
        |token: &&TokenTree| matches!(token, TokenTree::Ident(_)) || is_mark(token, ':') || is_mark(token, '!');
    match before.iter().rev().find(|token| !is_of_path(token)) {
        None => true,
        Some(TokenTree::Group(group)) => group.delimiter() != Delimiter::Parenthesis,
        Some(token) => is_mark(token, ';'),
    }
}

/// Whether a group after these tokens is the body of a module.
fn is_module(before: &[TokenTree], group: &Group) -> bool {
    group.delimiter() == Delimiter::Brace
        && matches!(before, [.., TokenTree::Ident(word), TokenTree::Ident(_)] if word == "mod")
}

/// Whether a group after these tokens belongs to a macro, which may make anything of it.
fn is_of_macro(before: &[TokenTree]) -> bool {
    match before {
        [.., mark, TokenTree::Ident(_)] | [.., mark] => is_mark(mark, '!'),
        [] => false,
    }
}

fn contains_call(tokens: TokenStream, arguments: &[String]) -> bool {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    (0..tokens.len()).any(|index| match &tokens[index] {
        TokenTree::Group(group) if is_call(&tokens[..index]) && flat(group.stream()) == arguments => true,
        TokenTree::Group(group) => contains_call(group.stream(), arguments),
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_are_taken_from_both_forms_of_the_option() {
        let arguments = ["rustc", "-L", "dependency=/t/deps", "-Ldependency=/host/deps", "-L", "native=/x", "a.rs"];
        assert_eq!(dependency_directories(arguments.iter()), [Path::new("/t/deps"), Path::new("/host/deps")]);
    }

    #[test]
    fn another_build_of_the_macro_has_another_stamp() {
        let directory = env::temp_dir().join(format!("evalsuite-macro-library-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        let library = directory.join(format!("libevalsuite_macros-0123{}", env::consts::DLL_SUFFIX));
        assert_eq!(libraries(&directory), [""; 0]);
        fs::write(&library, "one").unwrap();
        fs::write(directory.join("libevalsuite_macros-0123.d"), "").unwrap();
        let one = libraries(&directory);
        assert_eq!(one.len(), 1);
        fs::write(&library, "other").unwrap();
        assert_ne!(libraries(&directory), one);
        fs::remove_dir_all(&directory).unwrap();
    }

    #[test]
    fn calls_outside_of_items_are_misplaced() {
        for (source, expected) in [
            ("include_eval_suite!(\"a\");", false),
            ("use x; evalsuite::include_eval_suite!(\"a\"); fn f() {}", false),
            ("#[cfg(test)] mod evals { fn f() {} include_eval_suite!(\"a\"); }", false),
            ("fn f() { include_eval_suite!(\"a\"); }", true),
            ("fn f() { drop(include_eval_suite!(\"a\")); }", true),
            ("static A: u8 = include_eval_suite!(\"a\");", true),
            ("my_macro! { include_eval_suite!(\"a\"); }", false),
            ("macro_rules! m { () => { include_eval_suite!(\"a\"); } }", false),
            ("fn f() { include_eval_suite!(\"b\"); }", false),
        ] {
            assert_eq!(is_misplaced_in(source.parse().unwrap(), "\"a\"".parse().unwrap()), expected, "{source}");
        }
    }
}
