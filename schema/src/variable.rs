//! The environment variables of evalsuite: meaning, values and default.

use crate::diagnostics::suggest;

/// An environment variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Variable {
    /// Its name.
    pub name: &'static str,
    /// Who reads it.
    pub topic: Topic,
    /// Its effect, as one sentence without a full stop.
    pub meaning: &'static str,
    /// Its values.
    pub value: &'static str,
    /// Its default; empty if the meaning contains it.
    pub default: &'static str,
}

/// Who reads a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Topic {
    /// Tests and programs that run a suite.
    Run,
    /// The same, to choose and to call judges.
    Judge,
    /// The macro and the build script.
    Build,
    /// Programs that a run starts: agents, graders, hooks. The run sets it.
    Program,
    /// Parts of evalsuite, which pass it to each other.
    Internal,
}

/// How the names of evalsuite's own variables begin.
pub const PREFIX: &str = "EVALSUITE_";

/// Beginning of the names of variables that a build script numbers.
const NUMBERED: &str = "EVALSUITE_TRACKED_";

/// The variable that every program has that a run starts.
const MARK_OF_PROGRAM: &str = "EVALSUITE_SUITE_DIR";

const FLAG: &str = "`1` or `true`, `0` or `false`";

/// The table of variables. A row is its meaning, who reads it, then its name, its values and its default.
macro_rules! variables {
    ($(#[doc = $meaning:literal] $topic:ident($name:expr, $value:expr, $default:expr);)*) => {
        /// Every variable. An empty value counts as unset.
        pub static VARIABLES: &[Variable] = &[$(
            Variable {
                name: $name,
                topic: Topic::$topic,
                meaning: $meaning.trim_ascii_start(),
                value: $value,
                default: $default,
            },
        )*];
    };
}

variables! {
    /// number of trials of every case
    Run("EVALSUITE_TRIALS", "an integer from 1 to 1000", "the value in the files");
    /// lowest score of a trial that passes
    Run("EVALSUITE_THRESHOLD", "a number from 0 to 1", "the value in the files");
    /// time limit of one call of the agent
    Run("EVALSUITE_TIMEOUT_SECONDS", "a number of seconds above 0", "the value in the files, else 300");
    /// maximum number of trials that repeat a case which differs from its baseline; 0 disables repeats
    Run("EVALSUITE_CONFIRM", "an integer from 0 to 100", "30");
    /// run all trials, including those that cannot change the result
    Run("EVALSUITE_RUN_ALL", FLAG, "0");
    /// turn skipped cases into errors
    Run("EVALSUITE_REQUIRE", FLAG, "0");
    /// keep workspaces, including those of passed trials
    Run("EVALSUITE_KEEP", FLAG, "0");
    /// print which programs run, their output, and how long each step takes
    Run("EVALSUITE_VERBOSE", FLAG, "0");
    /// run the current version of cases that changed since the build; needs the feature `reload`
    Run("EVALSUITE_RELOAD", FLAG, "0");
    /// directory of the records
    Run("EVALSUITE_OUTPUT", "a path, relative to the root of the workspace", "`target/evalsuite`");
    /// flush each record to disk before its case is done, so that a power failure loses none
    Run("EVALSUITE_DURABLE", FLAG, "0");
    /// id of the run, which processes and machines may share
    Run("EVALSUITE_RUN_ID", "text", "nextest's run id, else the time and a digest");
    /// version of the agent, and of graders and judges in Rust
    Run("EVALSUITE_AGENT_DIGEST", "text", "with `cargo evalsuite run` a digest of the sources of the packages, else none");
    /// run only cases that have changed
    Run("EVALSUITE_ONLY_CHANGED", FLAG, "0");
    /// the target, or the part of the matrix to run
    Run("EVALSUITE_TARGET", "names of targets, separated by commas", "the target of the case, else `default`; with a matrix, all targets");
    /// the targets file
    Run("EVALSUITE_TARGETS", "path of the file, or of its directory", "the nearest `targets.yaml`");
    /// maximum number of trials of a suite that run in parallel, across all processes
    Run("EVALSUITE_WORKERS", "an integer from 1 to 1000", "`execution.workers`, else no limit");
    /// seal commands of trials, in place of what files say; `required` in a file stays
    Run("EVALSUITE_SEALED", "`off`, `auto` or `required`", "the value in the files, else `off`");
    /// budget of the run, after which no trial starts
    Run("EVALSUITE_BUDGET_USD", "US dollars, a number above 0", "no limit");
    /// further attempts at a trial after an infrastructure error
    Run("EVALSUITE_RETRIES", "an integer from 0 to 10", "0");
    /// file to which each step of a run is appended as a line of JSON
    Run("EVALSUITE_PROGRESS", "a path", "none");
    /// call agents and judges, record what they do, or replay it without calling them
    Run("EVALSUITE_MODE", "`live`, `record` or `replay`", "`live`");
    /// start the MCP servers of targets, record their answers, or replay them without starting a server
    Run("EVALSUITE_MCP", "`live`, `record` or `replay`", "`replay` if the target has `mcp.replay`, else `live`");
    /// grade the answers of an earlier run again, without calling agents
    Run("EVALSUITE_REGRADE", "`latest`, or the id of a run", "");
    /// whether the tests `suite_check` probe their suites, and print the findings or fail because of them
    Run("EVALSUITE_PROBE", "`off`, `warn` or `deny`", "`off`");
    /// directory of the recordings
    Run("EVALSUITE_CASSETTES", "a path", "`.evalsuite/cassettes` in the package");
    /// file with variables; the environment takes precedence
    Run("EVALSUITE_ENV_FILE", "path of a file of lines `NAME=value`", "");
    /// endpoint of the judge, compatible with OpenAI's chat completions
    Judge("EVALSUITE_JUDGE_URL", "an http or https URL, such as `http://localhost:8080/v1`", "`OPENAI_BASE_URL`, else OpenAI's if `OPENAI_API_KEY` is set");
    /// model of the judge; without it, the endpoint is not used
    Judge("EVALSUITE_JUDGE_MODEL", "a name that the endpoint knows", "");
    /// key of the endpoint
    Judge("EVALSUITE_JUDGE_API_KEY", "text", "`OPENAI_API_KEY`, if the endpoint is the one it belongs to");
    /// price of the model, for costs and budgets
    Judge("EVALSUITE_JUDGE_PRICE", "US dollars per million tokens of input and of output, such as `0.15/0.60`", "the cost is unknown");
    /// judges that are commands of the targets file, or functions; the majority decides
    Judge("EVALSUITE_JUDGE_TARGET", "names, separated by commas", "the judges of the macro");
    /// time limit of one call of a judge, for graders that set none
    Judge("EVALSUITE_JUDGE_TIMEOUT_SECONDS", "a number of seconds above 0", "120");
    /// temperature of the judge's model, for graders that set none
    Judge("EVALSUITE_JUDGE_TEMPERATURE", "a number from 0 to 2", "0");
    /// number of judgements that follow a failing one, so that the majority decides; for graders without `confirm`
    Judge("EVALSUITE_JUDGE_CONFIRM", "an even number from 0 to 10", "`judge_confirm` of the macro, else 2");
    /// endpoint of the judge, if `EVALSUITE_JUDGE_URL` names none
    Judge("OPENAI_BASE_URL", "a URL", "");
    /// key for that endpoint, and for no other
    Judge("OPENAI_API_KEY", "text", "");
    /// warnings about suites fail the build
    Build("EVALSUITE_DENY_WARNINGS", FLAG, "0");
    /// workspace of the trial
    Program("EVALSUITE_WORKSPACE", "an absolute path", "");
    /// directory of the suite
    Program(MARK_OF_PROGRAM, "an absolute path", "");
    /// directory of the case
    Program("EVALSUITE_CASE_DIR", "an absolute path", "");
    /// id of the case
    Program("EVALSUITE_CASE_ID", "text", "");
    /// index of the trial
    Program("EVALSUITE_TRIAL", "an integer from 0", "");
    /// directory of the trial's records
    Program("EVALSUITE_TRIAL_DIR", "an absolute path", "");
    /// file for the transcript of an agent that is a command, as ATIF
    Program("EVALSUITE_TRAJECTORY_PATH", "an absolute path", "");
    /// file with the MCP servers of the agent, `{"mcpServers": …}`
    Program("EVALSUITE_MCP_CONFIG", "an absolute path", "");
    /// directory for `cargo evalsuite mcp-proxy --session`
    Program("EVALSUITE_MCP_SESSION", "an absolute path", "");
    /// the tests describe their suites instead of running
    Internal("EVALSUITE_DESCRIBE", "a directory", "");
    /// the calls of models are recorded or replayed by the command that listens at this address
    Internal("EVALSUITE_MODEL_CALLS", "`record` or `replay`, and an address", "");
    /// the program that is the proxy between agents and their MCP servers
    Internal("EVALSUITE_MCP_PROXY", "a path", "");
    /// the trials that the run already has of a case are kept, and only further ones run
    Internal("EVALSUITE_ADD_TRIALS", FLAG, "0");
    /// the tests `suite_check` run these cases, which are new since the build
    Internal("EVALSUITE_NEW_CASES", "paths of tests, one per line", "");
    /// the tests `suite_check` probe their suites and write the results to files
    Internal("EVALSUITE_PROBE_REQUEST", "an object as JSON", "");
    /// marks programs that end with the process that started them
    Internal("EVALSUITE_PROCESS", "text", "");
    /// directory of the suites that the tests of evalsuite load
    Internal("EVALSUITE_CORPUS", "a path", "");
    /// directory of the vectors that the tests of evalsuite read
    Internal("EVALSUITE_VECTORS", "a path", "");
}

/// Why a variable that is set has no effect, for each variable with evalsuite's prefix that does not exist. Variables of programs
/// are known where a run started this program.
pub fn unknown(set: &[String]) -> Vec<String> {
    let is_program = set.iter().any(|name| name == MARK_OF_PROGRAM);
    let known = |variable: &&Variable| match variable.topic {
        Topic::Program => is_program,
        _ => true,
    };
    let names: Vec<&str> = VARIABLES.iter().filter(known).map(|variable| variable.name).collect();
    let is_unknown =
        |name: &&String| name.starts_with(PREFIX) && !name.starts_with(NUMBERED) && !names.contains(&name.as_str());
    set.iter()
        .filter(is_unknown)
        .map(|name| format!("{name} is not a variable of evalsuite{}", suggestion(name)))
        .collect()
}

/// `; did you mean …?`, if something is close.
fn suggestion(name: &str) -> String {
    let settings = VARIABLES.iter().filter(|variable| !matches!(variable.topic, Topic::Program | Topic::Internal));
    let short = |name: &str| name.trim_start_matches(PREFIX).to_lowercase();
    let own: Vec<String> =
        settings.filter(|variable| variable.name.starts_with(PREFIX)).map(|variable| short(variable.name)).collect();
    let mut nearest = suggest::nearest(&short(name), own.iter().map(String::as_str));
    // The only longer name: without its unit, as in EVALSUITE_BUDGET.
    let mut longer = own.iter().filter(|own| own.starts_with(&format!("{}_", short(name)))).map(String::as_str);
    if let (true, Some(only), None) = (nearest.is_empty(), longer.next(), longer.next()) {
        nearest.push(only);
    }
    let names: Vec<String> = nearest.iter().map(|name| format!("{PREFIX}{}", name.to_uppercase())).collect();
    if names.is_empty() { String::new() } else { format!("; did you mean {}?", names.join(" or ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(names: &[&str]) -> Vec<String> {
        unknown(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn an_unknown_variable_is_named_with_what_was_meant() {
        let expected = "EVALSUITE_TIMEOUT is not a variable of evalsuite; did you mean EVALSUITE_TIMEOUT_SECONDS?";
        assert_eq!(of(&["PATH", "EVALSUITE_TIMEOUT", "EVALSUITE_TRIALS"]), [expected]);
        let without_unit = "EVALSUITE_BUDGET is not a variable of evalsuite; did you mean EVALSUITE_BUDGET_USD?";
        assert_eq!(of(&["EVALSUITE_BUDGET"]), [without_unit]);
        assert_eq!(of(&["EVALSUITE_JUDGE"]), ["EVALSUITE_JUDGE is not a variable of evalsuite"]);
        assert_eq!(of(&["EVALSUITE_XYZZY_PLUGH"]), ["EVALSUITE_XYZZY_PLUGH is not a variable of evalsuite"]);
    }

    #[test]
    fn what_a_run_sets_for_its_programs_is_known_there_only() {
        let typo = "EVALSUITE_TRIAL is not a variable of evalsuite; did you mean EVALSUITE_TRIALS?";
        assert_eq!(of(&["EVALSUITE_TRIAL"]), [typo]);
        let none: [&str; 0] = [];
        assert_eq!(of(&["EVALSUITE_TRIAL", MARK_OF_PROGRAM, "EVALSUITE_TRACKED_0", "EVALSUITE_DESCRIBE"]), none);
    }

    #[test]
    fn every_variable_is_listed_once() {
        let mut names: Vec<&str> = VARIABLES.iter().map(|variable| variable.name).collect();
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
    }
}
