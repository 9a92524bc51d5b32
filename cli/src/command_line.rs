//! The arguments of the command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// The same for all commands.
const EXIT_CODES: &str = "Exit status: 0 if all is well, 1 if problems were found, 2 if the command could not do its work, 4 if a \
                          comparison cannot decide.\n`cargo evalsuite COMMAND --help` shows examples.";

/// Check, run and inspect evaluation suites.
#[derive(Debug, Parser)]
#[command(name = "cargo evalsuite", bin_name = "cargo evalsuite", version, about, after_help = EXIT_CODES)]
pub(crate) struct CommandLine {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Accept(Accept),
    Check(Check),
    Convert(Convert),
    Diff(Diff),
    Expand(Expand),
    Explain(Explain),
    Finish(Finish),
    Gate(Gate),
    Health(Health),
    Clean(Clean),
    List(List),
    Lsp(Lsp),
    Merge(Merge),
    New(New),
    Regrade(Regrade),
    Report(Report),
    Show(Show),
    Calibrate(Calibrate),
    Run(Run),
    Schema(Schema),
    Watch(Watch),
    Completions(Completions),
    Man(Man),
}

/// Convert a suite to another layout, or a promptfoo configuration or Harbor tasks to a suite
///
/// Prints what became of every entry of the source: mapped, approximated with the reason, or dropped with the reason. Comments of YAML files
/// are kept. A suite that is converted to another layout stays where it is, unless DIR is given. Programs of the source are not run.
/// Exit status: 0 on success, 1 if an entry was dropped, unless `--lossy`, or the new suite has errors, 2 if the source cannot be read or a
/// file would be overwritten.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  cargo evalsuite convert promptfooconfig.yaml suites/riddles\n  cargo evalsuite convert tasks/hello-world suites/hello --lossy\n  cargo evalsuite convert suites/shop --layout directories --force"
)]
pub(crate) struct Convert {
    /// Suite, promptfoo configuration, Harbor task or directory of Harbor tasks
    pub(crate) source: PathBuf,
    /// Directory of the new suite
    #[arg(value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
    /// What the source is [default: what it looks like]
    #[arg(long, value_enum, value_name = "KIND")]
    pub(crate) from: Option<ConvertedSource>,
    /// Where the suite has its cases [default: file, unless the source is a suite]
    #[arg(long, value_enum)]
    pub(crate) layout: Option<CaseLayout>,
    /// Overwrite and remove files
    #[arg(long)]
    pub(crate) force: bool,
    /// Exit with status 0 even if something was dropped
    #[arg(long)]
    pub(crate) lossy: bool,
    /// Format of the report
    #[arg(long, value_enum, default_value_t = ReportFormat::Text)]
    pub(crate) format: ReportFormat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ConvertedSource {
    /// A suite of evalsuite
    Suite,
    /// A promptfoo configuration
    Promptfoo,
    /// A Harbor task, or a directory of them
    Harbor,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CaseLayout {
    /// All cases in EVAL.yaml
    File,
    /// Each case in cases/ID/case.yaml
    Directories,
}

/// Print completions for a shell
///
/// They complete `cargo-evalsuite`, which takes the same arguments as `cargo evalsuite`. Exit status: 0 on success.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  cargo evalsuite completions bash > ~/.local/share/bash-completion/completions/cargo-evalsuite\n  \
    cargo evalsuite completions fish > ~/.config/fish/completions/cargo-evalsuite.fish"
)]
pub(crate) struct Completions {
    /// Shell
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
}

/// Write a man page for every command
///
/// Pages of an earlier version are replaced. Exit status: 0 on success, 2 if a page cannot be written.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  cargo evalsuite man ~/.local/share/man/man1")]
pub(crate) struct Man {
    /// Directory of the pages, which exists
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
}

/// Make the results of a run the baseline of its suites
///
/// Writes a file per suite to `.evalsuite/baselines` of its package, to be committed: how many trials of each case and target passed,
/// their score, and what they are results of. A case is raised freely. It is lowered only if two or more trials all failed, or by
/// `--force`. Prints what changed and what was kept. Exit status: 0 on success, 2 if the run does not exist or
/// cannot be accepted.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  cargo evalsuite accept\n  cargo evalsuite accept latest --force refund-large")]
pub(crate) struct Accept {
    /// Run: its id, its directory, or `latest`
    #[arg(default_value = "latest")]
    pub(crate) run: String,
    /// Case whose result is accepted even if it is worse; may be repeated
    #[arg(long = "force", value_name = "CASE")]
    pub(crate) forced: Vec<String>,
}

/// Check suites as the compiler does, without compiling
///
/// Prints every problem of every file; one that many places share is printed once with their number. Inside a package, the arguments
/// of `include_eval_suite!` and `evalsuite_build::generate` in its sources are used, and calls whose arguments are not literal are
/// named. Exit status: 0 if there are no problems, 1 if there are, 2 if there is no suite or a file cannot be written.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  cargo evalsuite check\n  cargo evalsuite check suites/shop --deny-warnings\n  cargo evalsuite check --fix\n  cargo evalsuite check --format sarif > evals.sarif"
)]
pub(crate) struct Check {
    /// Suites, or directories to search for suites [default: the package or workspace of the current directory]
    pub(crate) paths: Vec<PathBuf>,
    /// Format of the problems
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
    /// Exit with status 1 on warnings too
    #[arg(long)]
    pub(crate) deny_warnings: bool,
    /// Change the files where one answer is certain: a name that is one edit away, an old name of a key, a number that is meant as text
    #[arg(long)]
    pub(crate) fix: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Text with the lines of the files
    Text,
    /// One line per place, `FILE:LINE:COLUMN: error[E019]: MESSAGE`, for editors
    Short,
    /// One JSON object per line
    Json,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// GitHub Actions annotations, at most ten of each kind
    Github,
}

/// Compare a run with an earlier one
///
/// Pairs the cases whose input and graders are the same. Prints per suite and target the pass rates, the mean difference of the scores
/// with its 95 % interval, the p-value of a permutation test, the smallest difference that would have been seen, and the cases that
/// changed. Where several suites, targets or slices are compared, p-values are adjusted for their number (Holm). Exit status: 0 without
/// a regression, 1 on a regression, 2 if a run does not exist or the comparison is not possible, 4 if fewer than six cases can be
/// compared or more than a tenth has no result.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  cargo evalsuite diff\n  cargo evalsuite diff --baseline --by bucket\n  cargo evalsuite diff 20261121T080000Z-1f2e3d\n  cargo evalsuite diff 20261121T080000Z-1f2e3d 20261122T080000Z-9a8b7c --margin 0.02"
)]
pub(crate) struct Diff {
    /// Earlier run: its id or directory [default: the run of the merge base with the default branch, else the newest one before RUN; with a
    /// case in common]
    pub(crate) base: Option<String>,
    /// Run: its id or directory [default: the newest]
    pub(crate) run: Option<String>,
    /// Compare with the results that `accept` wrote; then the one run that may be named is RUN
    #[arg(long, conflicts_with = "run")]
    pub(crate) baseline: bool,
    #[command(flatten)]
    pub(crate) comparison: ComparisonArguments,
    /// What is printed
    #[arg(long, value_enum, default_value_t = ReportFormat::Text)]
    pub(crate) format: ReportFormat,
}

/// Hold a run against requirements
///
/// The gates are those in the files of the run's suites (`gates`), and those of `--require`.
///
/// A gate is `[KEY:VALUE …] MEASURE OP NUMBER [per KEY]`. Measures: `pass_rate`, `lower(pass_rate)` (the lower end of its 95 %
/// interval), `score`, `cost`, `time`, `p50(time)`, `p95(time)`. Keys: `suite`, `target`, `bucket`, `tag`, `metadata.KEY`. Exit
/// status: 0 if all gates are met, 1 if one is missed or the run has regressed, 2 if a run does not exist or the gates cannot be checked,
/// 4 if it cannot be decided: no cases, missing or torn results, or too few cases to compare.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  cargo evalsuite gate\n  cargo evalsuite gate --require \"pass_rate >= 90%\" --require \"suite:shop p95(time) <= 60s\"\n  cargo evalsuite gate --require \"score >= 0.8 per bucket\" --baseline --margin 0.05"
)]
pub(crate) struct Gate {
    /// Run: its id, its directory, or `latest`
    #[arg(default_value = "latest")]
    pub(crate) run: String,
    /// What the run has to reach besides; may be repeated
    #[arg(long = "require", value_name = "GATE")]
    pub(crate) gates: Vec<String>,
    /// Cases that did not run were not selected, and are not missing
    #[arg(long)]
    pub(crate) selected: bool,
    /// Compare with the results that `accept` wrote; a regression is a missed gate
    #[arg(long, conflicts_with = "base")]
    pub(crate) baseline: bool,
    /// Compare with an earlier run: its id or directory; a regression is a missed gate
    #[arg(long, value_name = "RUN")]
    pub(crate) base: Option<String>,
    #[command(flatten)]
    pub(crate) comparison: ComparisonArguments,
    /// What is printed
    #[arg(long, value_enum, default_value_t = ReportFormat::Text)]
    pub(crate) format: ReportFormat,
}

/// Find cases, graders and judges that say nothing, or nothing reliable, in the last runs
///
/// Prints the window of runs, then per suite and target how many cases are mature (nearly all trials pass) and whether the suite is
/// saturated, cases that are ready for a regression suite, cases that are broken, and cases that are flaky on one commit; graders that
/// decided in no trial; and judges whose model, values for equal prompts, or agreement with people has changed. Exit status: 0, or 2 if
/// there are no such runs.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  cargo evalsuite health\n  cargo evalsuite health shop --window 20 --format json")]
pub(crate) struct Health {
    /// Suites by name [default: all]
    #[arg(value_name = "SUITE")]
    pub(crate) suites: Vec<String>,
    /// Number of runs to look at, the newest that have results of the suites
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = positive)]
    pub(crate) window: usize,
    /// Lowest share of passed trials of a mature case, 0 to 1
    #[arg(long, value_name = "SHARE", default_value_t = 0.95)]
    pub(crate) mature: f64,
    /// Number of runs in a row in which a case is mature that make it ready for a regression suite
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = positive)]
    pub(crate) graduation_runs: usize,
    /// Highest share of passed trials of a broken case, 0 to 1
    #[arg(long, value_name = "SHARE", default_value_t = 0.0)]
    pub(crate) broken: f64,
    /// Fewest trials after which a case is called broken
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) broken_trials: u32,
    /// Lowest share of mature cases of a saturated suite, 0 to 1
    #[arg(long, value_name = "SHARE", default_value_t = 0.9)]
    pub(crate) saturated: f64,
    /// What is printed
    #[arg(long, value_enum, default_value_t = ReportFormat::Text)]
    pub(crate) format: ReportFormat,
}

fn positive(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|number| *number > 0).ok_or_else(|| "write a number greater than 0".to_owned())
}

/// How runs are compared.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Comparison")]
pub(crate) struct ComparisonArguments {
    /// Key of the cases' metadata: cases with the same value are not independent of each other
    #[arg(long, value_name = "KEY")]
    pub(crate) cluster_by: Option<String>,
    /// Compare every value of this key by itself: `bucket`, `tag` or `metadata.KEY`; may be repeated
    #[arg(long, value_name = "KEY")]
    pub(crate) by: Vec<String>,
    /// How much worse the run may be, 0 to 1: without proof that it is within, the comparison is a regression
    #[arg(long, value_name = "M")]
    pub(crate) margin: Option<f64>,
}

/// Print the code that a suite expands to
///
/// Exit status: 0 on success, 1 if the suite has errors.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  cargo evalsuite expand suites/shop\n  cargo evalsuite expand suites/shop --agent none"
)]
pub(crate) struct Expand {
    /// Directory or file of the suite
    pub(crate) path: PathBuf,
    /// Agent, as in the macro: a path, or `none`
    #[arg(long)]
    pub(crate) agent: Option<String>,
    /// Grader, as in the macro: a path, or `name => path`; may be repeated
    #[arg(long = "grader", value_name = "PATH")]
    pub(crate) graders: Vec<String>,
    /// Name of the generated module
    #[arg(long)]
    pub(crate) name: Option<String>,
}

/// Explain a diagnostic: what it means, why it is reported, an example, and how to fix it
///
/// Exit status: 0 on success, 2 if there is no such diagnostic.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  cargo evalsuite explain E019\n  cargo evalsuite explain unknown-key\n  cargo evalsuite explain"
)]
pub(crate) struct Explain {
    /// Code or name, such as `E019` or `unknown-key` [default: list all]
    pub(crate) diagnostic: Option<String>,
}

/// Print the JSON Schema of a kind of file, for editors, or of what is written for other programs
///
/// `summary` is the schema of summary.json and of `report --format json`, `diff` that of `diff --format json`.
/// Exit status: 0 on success, 2 if there is no such kind.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  cargo evalsuite schema\n  cargo evalsuite schema case > case.schema.json\n  cargo evalsuite schema summary > summary.schema.json"
)]
pub(crate) struct Schema {
    /// Kind of file, such as `eval`, `case` or `summary` [default: list all]
    pub(crate) kind: Option<String>,
}

/// Run the pending after_all hooks of a run, remove its base workspaces, and summarize it
///
/// The last test of a suite does this itself where it can know that it is the last. After a run of some tests with nextest,
/// or of several processes with one `EVALSUITE_RUN_ID`, it cannot: then use this command. Exit status: 0 on success, 1 if a
/// hook failed or a case has no record, 2 if tests are still running or the run does not exist, 4 if tests were not
/// started.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  cargo evalsuite finish\n  cargo evalsuite finish 20261121T080000Z-1f2e3d\n  cargo evalsuite finish --partial"
)]
pub(crate) struct Finish {
    /// Run: its id, its directory, or `latest`
    #[arg(default_value = "latest")]
    pub(crate) run: String,
    /// Tests may be missing, because others were chosen or another machine runs them
    #[arg(long)]
    pub(crate) partial: bool,
}

/// Remove old runs
///
/// Keeps runs whose tests are still running. Exit status: 0 on success, 2 if a run cannot be removed.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  cargo evalsuite clean --keep 20")]
pub(crate) struct Clean {
    /// Number of runs to keep, the newest first
    #[arg(long, value_name = "N")]
    pub(crate) keep: usize,
}

/// List suites with their cases and graders, and runs with their results
///
/// Exit status: 0 on success, 1 if a suite has errors, 2 if a run cannot be read.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  cargo evalsuite list\n  cargo evalsuite list suites/shop --format json")]
pub(crate) struct List {
    /// Suites, or directories to search for suites [default: the package or workspace of the current directory]
    pub(crate) paths: Vec<PathBuf>,
    /// Format of the list
    #[arg(long, value_enum, default_value_t = ListFormat::Human)]
    pub(crate) format: ListFormat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ListFormat {
    /// Tables
    Human,
    /// One JSON object
    Json,
}

/// Run the language server that editors talk to
///
/// Speaks the Language Server Protocol on standard input and output: diagnostics while typing, completion, documentation, definitions, fixes,
/// code lenses and renaming of cases. Exit status: 0 after `shutdown` and `exit`, 1 after `exit` alone, 2 if the input ends or is not of the
/// protocol.
#[derive(Debug, Args)]
#[command(after_help = "Example, which an editor starts:\n  cargo evalsuite lsp")]
pub(crate) struct Lsp {
    /// Ignored: some editors always pass it
    #[arg(long, hide = true)]
    pub(crate) stdio: bool,
}

/// Merge the parts of a run from several machines
///
/// The parts must have the same run id (set `EVALSUITE_RUN_ID`) and be of the same commit and suite files. Exit status: 0 on
/// success, 1 if the parts contradict each other, 2 if one is missing or the merged run exists; then nothing is written.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  cargo evalsuite merge shard-1 shard-2 --into target/evalsuite")]
pub(crate) struct Merge {
    /// Parts: run directories, or output directories, of which the newest run is merged
    #[arg(required = true)]
    pub(crate) runs: Vec<PathBuf>,
    /// Output directory for the merged run [default: that of the package]
    #[arg(long, value_name = "DIR")]
    pub(crate) into: Option<PathBuf>,
}

/// Write a suite, a case, a grader, a targets file, a calibration or settings of an editor into a package
///
/// Without a word after `new`, a suite. What the arguments leave open is asked on a terminal. Prints what was created and changed;
/// files that are there stay as they are. Exit status: 0 on success, 2 if nothing was written.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  cargo evalsuite new\n  cargo evalsuite new suite shop --layout tasks --ci\n  cargo evalsuite new case refund --input \"I want my money back.\" --contains refund\n  cargo evalsuite new grader polite"
)]
pub(crate) struct New {
    #[command(subcommand)]
    pub(crate) item: Option<NewItem>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum NewItem {
    Suite(NewSuite),
    Case(NewCase),
    Grader(NewGrader),
    AgentCli(NewAgentCli),
    Calibration(NewCalibration),
    Editor(NewEditor),
}

/// A suite with a case that passes and a case that fails, its test file, build script and dependencies
#[derive(Debug, Default, Args)]
#[command(
    after_help = "Examples:\n  cargo evalsuite new suite\n  cargo evalsuite new suite shop --layout tasks --nextest"
)]
pub(crate) struct NewSuite {
    /// Name of the suite: it is written to suites/NAME [default: basics]
    pub(crate) name: Option<String>,
    /// Layout of the files [default: cases]
    #[arg(long, value_enum)]
    pub(crate) layout: Option<LayoutName>,
    /// Add the profile `ci` to .config/nextest.toml
    #[arg(long)]
    pub(crate) nextest: bool,
    /// Add a workflow of GitHub Actions, and the profile of nextest that it uses
    #[arg(long)]
    pub(crate) ci: bool,
    /// Add JSON Schemas, and the settings of VS Code that name them
    #[arg(long)]
    pub(crate) editor: bool,
    /// Clone of evalsuite whose crates are used instead of the published ones
    #[arg(long, value_name = "DIR")]
    pub(crate) crates: Option<PathBuf>,
    /// Overwrite files
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LayoutName {
    /// EVAL.yaml, and a directory per case with case.yaml
    Cases,
    /// suite.json, and a JSON file per task
    Tasks,
}

/// A case of a suite
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  cargo evalsuite new case refund --input \"I want my money back.\" --contains refund\n  cargo evalsuite new case polite --input \"You are late!\" --criteria \"Stays polite.\" --suite suites/shop"
)]
pub(crate) struct NewCase {
    /// Id of the case
    pub(crate) id: Option<String>,
    /// Directory of the suite [default: the only suite of the package]
    #[arg(long, value_name = "DIR")]
    pub(crate) suite: Option<PathBuf>,
    /// What the agent is asked
    #[arg(long, value_name = "TEXT")]
    pub(crate) input: Option<String>,
    /// Text that the answer has to contain
    #[arg(long, value_name = "TEXT")]
    pub(crate) contains: Option<String>,
    /// What a judge checks, instead of a text
    #[arg(long, value_name = "TEXT", conflicts_with = "contains")]
    pub(crate) criteria: Option<String>,
    /// Overwrite files
    #[arg(long)]
    pub(crate) force: bool,
}

/// A grader in Rust: a function, and its name in the call that includes the suite
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  cargo evalsuite new grader polite --suite suites/shop")]
pub(crate) struct NewGrader {
    /// Name of the function
    pub(crate) name: Option<String>,
    /// Directory of the suite [default: the only suite of the package]
    #[arg(long, value_name = "DIR")]
    pub(crate) suite: Option<PathBuf>,
}

/// A targets file with a command as the agent, and a test file that uses it
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  cargo evalsuite new agent-cli --command \"my-agent --prompt-file {PROMPT_FILE} --out {OUTPUT_FILE}\""
)]
pub(crate) struct NewAgentCli {
    /// Directory of the suite [default: the only suite of the package]
    #[arg(long, value_name = "DIR")]
    pub(crate) suite: Option<PathBuf>,
    /// Command that reads {PROMPT_FILE} and writes the answer to {OUTPUT_FILE} [default: one that repeats the prompt]
    #[arg(long, value_name = "COMMAND")]
    pub(crate) command: Option<String>,
    /// Overwrite files
    #[arg(long)]
    pub(crate) force: bool,
}

/// A calibration of the suite's judge, with two samples
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  cargo evalsuite new calibration --suite suites/shop")]
pub(crate) struct NewCalibration {
    /// Directory of the suite [default: the only suite of the package]
    #[arg(long, value_name = "DIR")]
    pub(crate) suite: Option<PathBuf>,
    /// Overwrite files
    #[arg(long)]
    pub(crate) force: bool,
}

/// JSON Schemas of suites, and the settings of VS Code that name them
///
/// Writes `.evalsuite/schema` and adds to `.vscode/settings.json` of the workspace what it lacks. Comments and other settings stay.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  cargo evalsuite new editor")]
pub(crate) struct NewEditor {
    /// Overwrite schemas, and entries of the settings that name them
    #[arg(long)]
    pub(crate) force: bool,
}

/// Grade the evidence of an earlier run again, without calling agents
///
/// Runs `cargo test` with `EVALSUITE_REGRADE`, because graders in Rust are part of the tests. Exit status: 0 if all
/// tests pass, 1 if some fail, 2 if they cannot be built or the run does not exist.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  cargo evalsuite regrade\n  cargo evalsuite regrade 20261121T080000Z-1f2e3d --nextest\n  cargo evalsuite regrade latest -- refund"
)]
pub(crate) struct Regrade {
    /// Run: its id, its directory, or `latest` for the newest trials of each case
    #[arg(default_value = "latest")]
    pub(crate) run: String,
    /// Run the tests with `cargo nextest run`
    #[arg(long)]
    pub(crate) nextest: bool,
    /// Further arguments of `cargo test` or `cargo nextest run`
    #[arg(last = true, value_name = "ARGS")]
    pub(crate) arguments: Vec<String>,
}

/// Show or write what came out of a run
///
/// Prints a summary, or the run in the format of another program. Works on finished, running and merged runs, and does not need the
/// sources of the suites. Records that are missing or torn are listed in HTML and Markdown and on standard error. Exit status: 0 on
/// success, 2 if a file cannot be written or the run does not exist.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  cargo evalsuite report\n  cargo evalsuite report --html report.html\n  cargo evalsuite report --format github --markdown \"$GITHUB_STEP_SUMMARY\"\n  cargo evalsuite report 20261121T080000Z-1f2e3d --junit evals.xml --csv evals.csv\n  cargo evalsuite report --inspect-log logs --otel otel --trace trace.json"
)]
pub(crate) struct Report {
    /// Run: its id, its directory, or `latest`
    #[arg(default_value = "latest")]
    pub(crate) run: String,
    /// What is printed [default: text, and nothing if a file is written]
    #[arg(long, value_enum)]
    pub(crate) format: Option<PrintedReport>,
    /// Write JUnit XML, with a name other than that of the test runner's file
    #[arg(long, value_name = "FILE")]
    pub(crate) junit: Option<PathBuf>,
    /// Append Markdown, for pull requests and the summary of a CI job
    #[arg(long, value_name = "FILE")]
    pub(crate) markdown: Option<PathBuf>,
    /// Write CSV with a row per trial
    #[arg(long, value_name = "FILE")]
    pub(crate) csv: Option<PathBuf>,
    /// Write logs of Inspect: FILE.json or FILE.eval for a run of one suite and target, else a directory with one log for each
    #[arg(long, value_name = "FILE|DIR")]
    pub(crate) inspect_log: Option<PathBuf>,
    /// Write OpenTelemetry data in OTLP/JSON: run.traces.jsonl with spans, run.logs.jsonl with results of graders
    #[arg(long, value_name = "DIR")]
    pub(crate) otel: Option<PathBuf>,
    /// Write Chrome trace JSON, which Perfetto shows as a timeline
    #[arg(long, value_name = "FILE")]
    pub(crate) trace: Option<PathBuf>,
    /// Write one self-contained HTML file
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Write a directory with index.html, which loads prompts, answers and transcripts when they are opened
    #[arg(long, value_name = "DIR")]
    pub(crate) html_dir: Option<PathBuf>,
    /// In HTML, leave out prompts, answers and transcripts of cases whose trials all passed
    #[arg(long, value_enum, value_name = "WHICH")]
    pub(crate) only: Option<ReportedCases>,
    /// Run to compare with: its id or its directory [default: the one before]
    #[arg(long, value_name = "RUN")]
    pub(crate) baseline: Option<String>,
    /// Number of earlier runs in the grid and the trends
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) history: usize,
}

/// Show a case of a run, or transcripts in ATIF
///
/// Prints what was asked, the transcript step by step, the graders with their assertions, what changed in the workspace, and the cost: of
/// the first trial that did not pass, unless `--trial` chooses another. Files may be from any program: evalsuite's trajectory.json is one
/// of them. On a terminal, `PAGER` shows the text; an empty one is ignored. Exit status: 0 on success, 2 if a file or run cannot be read, or there is no such case, trial or step.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  cargo evalsuite show refund-large\n  cargo evalsuite show refund-large --trial 1 --step 3\n  cargo evalsuite show trajectory.json --html transcript.html"
)]
pub(crate) struct Show {
    /// Id or test name of a case, or ATIF documents
    #[arg(required = true, value_name = "CASE|FILE")]
    pub(crate) names: Vec<String>,
    /// Run of the case: its id, its directory, or `latest`
    #[arg(long, value_name = "RUN", default_value = "latest")]
    pub(crate) run: String,
    /// Only the case of this target
    #[arg(long, value_name = "TARGET")]
    pub(crate) target: Option<String>,
    /// Number of the trial; the first is 0
    #[arg(long, value_name = "N")]
    pub(crate) trial: Option<u32>,
    /// Only this step of the transcript; the first is 1
    #[arg(long, value_name = "N")]
    pub(crate) step: Option<usize>,
    /// Write transcripts as an HTML file instead
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PrintedReport {
    /// Tables per suite
    Text,
    /// The summary as one JSON object, like summary.json
    Json,
    /// GitHub Actions annotations
    Github,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportedCases {
    /// Cases with a trial that did not pass
    Failed,
}

/// Compare a judge's scores with those of people
///
/// Asks the judge of the environment (EVALSUITE_JUDGE_URL and EVALSUITE_JUDGE_MODEL, or EVALSUITE_JUDGE_TARGET) to rate each
/// sample. Prints how well it agrees with people: agreement, Cohen's kappa, correlations, errors, and the largest differences.
/// A judge in Rust is measured by the test `judge_calibration` of its suite. Exit status: 0 on success, 1 if the judge is below
/// the required minimum or rated fewer than half of the samples, 2 if the command line, the file or the environment is
/// invalid.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  cargo evalsuite calibrate suites/shop\n  cargo evalsuite calibrate labels.jsonl --min-spearman 0.8"
)]
pub(crate) struct Calibrate {
    /// JSONL file with one sample per line, calibration.yaml, or suite that has one
    pub(crate) file: PathBuf,
    /// Minimum rank correlation, -1 to 1 [default: 0.7, unless the file sets a minimum]
    #[arg(long, value_name = "R", allow_negative_numbers = true)]
    pub(crate) min_spearman: Option<f64>,
    /// Largest difference between scores that agree, 0 to 1 [default: that of the file, or 0.15]
    #[arg(long, value_name = "D", allow_negative_numbers = true)]
    pub(crate) tolerance: Option<f64>,
    /// Format of the result
    #[arg(long, value_enum, default_value_t = ReportFormat::Text)]
    pub(crate) format: ReportFormat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// Text
    Text,
    /// The record as one JSON object
    Json,
}

/// Run the tests of cases chosen by tag, bucket or name, and finish the run
///
/// Builds the tests, lists the cases of their suites, runs `cargo test` or nextest with the chosen ones, then does what
/// `finish` does, and prints how the results compare with the baseline, or without one with the run before. All test programs belong to
/// one run, so after_all hooks run once. Ends with the gates of the suites all of whose tests were chosen. Exit status: 0 if all tests
/// pass and the gates are met, 1 if a test fails or a gate is missed, 2 if no case is chosen or the tests cannot be built, 4 if all tests
/// pass and a gate cannot be decided.
#[derive(Debug, Clone, Default, Args)]
#[command(
    after_help = "Examples:\n  cargo evalsuite run\n  cargo evalsuite run --nextest --tag nightly\n  cargo evalsuite run refund -p shop-agent -- --nocapture\n  cargo evalsuite run --changed\n  cargo evalsuite run --failed"
)]
pub(crate) struct Run {
    /// Only cases whose id or test name contains one of these texts
    #[arg(value_name = "FILTER")]
    pub(crate) filters: Vec<String>,
    /// Run the tests with `cargo nextest run`
    #[arg(long)]
    pub(crate) nextest: bool,
    /// Only cases of suites with this tag, or with any of these if repeated
    #[arg(long = "tag", value_name = "TAG")]
    pub(crate) tags: Vec<String>,
    /// Not the cases of suites with this tag; may be repeated
    #[arg(long = "exclude-tag", value_name = "TAG")]
    pub(crate) excluded_tags: Vec<String>,
    /// Only cases with this `failure_bucket` in their metadata; may be repeated
    #[arg(long = "bucket", value_name = "BUCKET")]
    pub(crate) buckets: Vec<String>,
    /// Run only cases that have changed (files, input, graders, agent, judge, settings); the others take their result from the newest run
    /// that has it. EVALSUITE_AGENT_DIGEST is the version of the agent; without it, a digest of the packages' sources
    #[arg(long)]
    pub(crate) changed: bool,
    /// Only cases that failed or ended in an error when they last ran
    #[arg(long, conflicts_with = "changed")]
    pub(crate) failed: bool,
    /// Only cases of which some trials passed and some failed on one commit, in the last N runs with results of the suites
    #[arg(long, value_name = "N", value_parser = positive, conflicts_with_all = ["changed", "failed"])]
    pub(crate) flaky: Option<usize>,
    #[command(flatten)]
    pub(crate) build: Build,
    /// Further arguments of `cargo test` or `cargo nextest run`, and after another `--`, of test programs
    #[arg(last = true, value_name = "ARGS")]
    pub(crate) arguments: Vec<String>,
}

/// Check what is saved, and run the cases it concerns without a build
///
/// Builds the tests once, with the feature `reload` of evalsuite. Then, on every save, the suites are checked and the cases that the changed
/// files concern run in the programs that are there. What needs a build is built: Rust sources, new cases. Nothing runs before something is
/// saved. Keys on a terminal: `a` runs all, `f` runs failures again, arrows choose a case, `o` opens it in $VISUAL or $EDITOR, `/` filters, `q` quits. Exit status:
/// 0 when it is ended, 2 if it cannot start.
#[derive(Debug, Clone, Default, Args)]
#[command(
    after_help = "Examples:\n  cargo evalsuite watch\n  cargo evalsuite watch refund --test evals\n  cargo evalsuite watch --format short"
)]
pub(crate) struct Watch {
    /// Only cases whose id or test name contains one of these texts
    #[arg(value_name = "FILTER")]
    pub(crate) filters: Vec<String>,
    /// What is shown [default: screen on a terminal, else short]
    #[arg(long, value_enum)]
    pub(crate) format: Option<WatchFormat>,
    #[command(flatten)]
    pub(crate) build: Build,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum WatchFormat {
    /// A live screen with keys
    Screen,
    /// One line per problem and failed case between the lines `evalsuite: begin` and `evalsuite: end`, for editors
    Short,
}

/// The options of cargo that choose what is built.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Build")]
pub(crate) struct Build {
    /// Package to test; may be repeated
    #[arg(short, long = "package", value_name = "SPEC")]
    pub(crate) packages: Vec<String>,
    /// Test all packages of the workspace
    #[arg(long)]
    pub(crate) workspace: bool,
    /// Test only the library
    #[arg(long)]
    pub(crate) lib: bool,
    /// Test only this test program; may be repeated
    #[arg(long = "test", value_name = "NAME")]
    pub(crate) tests: Vec<String>,
    /// Features to activate; may be repeated
    #[arg(short = 'F', long = "features", value_name = "FEATURES")]
    pub(crate) features: Vec<String>,
    /// Activate all features
    #[arg(long)]
    pub(crate) all_features: bool,
    /// Do not activate the default features
    #[arg(long)]
    pub(crate) no_default_features: bool,
    /// Build with optimizations
    #[arg(short, long)]
    pub(crate) release: bool,
    /// Build with this profile
    #[arg(long, value_name = "NAME", conflicts_with = "release")]
    pub(crate) profile: Option<String>,
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use clap::error::ErrorKind;
    use clap::{CommandFactory, Parser};

    use super::CommandLine;

    /// The words of a line of a shell, without what follows a redirection.
    fn words(line: &str) -> Vec<String> {
        let command = line.split(" > ").next().unwrap_or_default().replace('\'', "\"");
        let quoted = command.split('"').enumerate();
        let words = quoted.flat_map(|(index, part)| match index % 2 {
            0 => part.split_whitespace().map(str::to_owned).collect(),
            _ => vec![part.to_owned()],
        });
        words.collect()
    }

    #[test]
    fn every_command_has_its_exit_codes_and_examples_that_are_valid() {
        let mut commands: Vec<clap::Command> = CommandLine::command().get_subcommands().cloned().collect();
        let kinds: Vec<clap::Command> = commands.iter().flat_map(clap::Command::get_subcommands).cloned().collect();
        assert!(commands.len() > 15 && kinds.len() == 6, "expected all commands");
        for command in &commands {
            let about = command.get_long_about().map(ToString::to_string).unwrap_or_default();
            let about = about.to_lowercase();
            assert!(about.contains("exit status: 0"), "{} does not say how it exits", command.get_name());
        }
        commands.extend(kinds);
        for command in commands {
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            let (title, examples) = help.split_once('\n').unwrap_or_default();
            assert!(title.starts_with("Example"), "{} has no example", command.get_name());
            for line in examples.lines() {
                let line = line.trim_start().strip_prefix("cargo evalsuite ").expect("a call of cargo evalsuite");
                assert!(line.contains(command.get_name()), "{line}");
                let words = ["cargo evalsuite".to_owned()].into_iter().chain(words(line));
                if let Err(error) = CommandLine::try_parse_from(words) {
                    panic!("{line}\n{error}");
                }
            }
        }
    }

    #[test]
    fn every_command_line_in_the_documents_is_valid() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace");
        let listings =
            [root.to_owned(), root.join("docs"), root.join("docs/reference")].map(|path| fs::read_dir(path).unwrap());
        let documents = listings.into_iter().flatten().map(|entry| entry.unwrap().path());
        let mut checked = 0;
        for document in documents.filter(|path| path.extension().is_some_and(|extension| extension == "md")) {
            let text = fs::read_to_string(&document).unwrap();
            let shown = text.lines().flat_map(|line| line.split("cargo evalsuite ").skip(1));
            let commands = shown.map(|rest| rest.split(['`', '#']).next().unwrap_or_default().trim());
            for command in commands.filter(|command| !command.contains('…')) {
                let words = words(command).into_iter().map(|word| if word == "N" { "1".to_owned() } else { word });
                let words = ["cargo evalsuite".to_owned()].into_iter().chain(words);
                let error = CommandLine::try_parse_from(words).err();
                // A sentence may name a command without its arguments, or an option without its value.
                let has_value = !command.split_whitespace().last().is_some_and(|word| word.starts_with("--"));
                let error = error.filter(|error| match error.kind() {
                    ErrorKind::MissingRequiredArgument => false,
                    ErrorKind::InvalidValue => has_value,
                    _ => true,
                });
                assert!(error.is_none(), "{}: cargo evalsuite {command}\n{error:?}", document.display());
                checked += 1;
            }
        }
        assert!(checked > 10, "expected the documents to show more than {checked} command lines");
    }
}
