//! The macro of [evalsuite](https://docs.rs/evalsuite), which re-exports it and documents it by example.

mod call_site;
mod expand;

/// The module has the name of the last component of the path and holds
///
/// * `pub static SUITE: EvalSuite`: all cases,
/// * `pub fn evals() -> Evals`: the suite with the agent, graders and judges of this call, for use outside of tests,
/// * one test per case, in one module per folder, and one test `suite_check`, which fails when the directory is not what
///   was compiled.
///
/// A problem in the suite's files is a compile error that names the file, the line and the column. Call the macro where
/// items stand, not inside of a function.
///
/// # Arguments
///
/// | argument | form | default |
/// | --- | --- | --- |
/// | first | path of the suite: relative to the package's root, or with `./` in front to the source file | required |
/// | `agent` | expression, usually the path of a function; `"cli"` for commands of a targets.yaml, `"acp"` for those that speak the Agent Client Protocol; `none` for a suite without tests | the function named like the suite's `agent_name`, without one `agent` |
/// | `agents` | `{ "target" => path }`, takes precedence over `agent` | – |
/// | `graders` | `[path, "name" => path]`: every grader that the files name and that is not built in | `[]` |
/// | `judge` | the judge of graders that name none: its path, or the name of one of `judges` or of a command of targets.yaml; `["a", "b", "c"]` for the majority of several | – |
/// | `judges` | `{ "strict" => path }`: judges that graders name as `target` | – |
/// | `judge_confirm` | how many judgements follow a failing one, so that the majority decides: an even number from 0 to 10 | 2 |
/// | `runtime` | expression: the `Handle` of the multi-thread tokio runtime on which async agents, graders and judges run | a runtime of the process |
/// | `targets` | `["name"]`: the matrix, for a suite whose files have none | – |
/// | `require_env`, `require_commands` | `["NAME"]`: cases are skipped where one is missing | `[]` |
/// | `record` | `["NAME"]`: variables with base URLs whose calls `cargo evalsuite run --record` records, besides `OPENAI_BASE_URL` and `ANTHROPIC_BASE_URL` | `[]` |
/// | `record_ignore` | `["/pointer"]`: JSON pointers to parts of request bodies that a replay of these calls does not compare | `[]` |
/// | `name` | identifier: name of the module | last component of the path |
/// | `ignore` | string: the tests get `#[ignore = "…"]` | – |
/// | `fixtures` | `on` or `off`: whether `workspace/` and `fixture_*` of a task are its fixtures | `on` |
/// | `embed` | `on` or `off`: whether the files that cases need are embedded in the test program, up to 32 MiB | `on` |
/// | `crate` | path of evalsuite, in a package that has it from a crate which re-exports it | `::evalsuite` |
/// | `deny_warnings` | nothing: warnings fail the build, as with the variable `EVALSUITE_DENY_WARNINGS` | off |
/// | `allow` | `["name"]`: warnings that are not shown; also `unsupported-docker` | `[]` |
///
/// # Skills
///
/// A directory with several Agent Skills makes a module for each of them that has evals: `include_eval_suite!("skills")` is a call with
/// `"skills/pdf-forms"`, one with `"skills/csv-totals"`, and so on, with the same arguments.
///
/// # Changes
///
/// An edited file is noticed without a build script. For added, renamed and deleted files call `evalsuite_build::track("suites")` in
/// `build.rs`; without it `suite_check` fails and says so.
///
/// In a package with a build script, whatever it does, the macro stores what it has read in `OUT_DIR`. After the edit of a case the next build then
/// reads that case only.
#[proc_macro]
pub fn include_eval_suite(arguments: proc_macro::TokenStream) -> proc_macro::TokenStream {
    expand::include_eval_suite(arguments.into()).into()
}
