//! The environment variables of evalsuite: meaning, values and default.

use evalsuite_diagnostics::suggest;

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

impl Topic {
    const fn variable(
        self,
        name: &'static str,
        meaning: &'static str,
        value: &'static str,
        default: &'static str,
    ) -> Variable {
        Variable { name, topic: self, meaning, value, default }
    }

    const fn without_default(self, name: &'static str, meaning: &'static str, value: &'static str) -> Variable {
        self.variable(name, meaning, value, "")
    }

    const fn flag(self, name: &'static str, meaning: &'static str) -> Variable {
        self.variable(name, meaning, FLAG, "0")
    }
}

/// Every variable. An empty value counts as unset.
pub static VARIABLES: &[Variable] = {
    use Topic::{Build, Internal, Judge, Program, Run};
    &[
        Run.variable(
            "EVALSUITE_TRIALS",
            "number of trials of every case, in place of the files'",
            "an integer from 1 to 1000",
            "the value in the files",
        ),
        Run.variable(
            "EVALSUITE_THRESHOLD",
            "score from which a case passes, in place of the files'",
            "a number from 0 to 1",
            "the value in the files",
        ),
        Run.variable(
            "EVALSUITE_TIMEOUT_SECONDS",
            "time limit of a call of an agent, in place of the files'",
            "a number of seconds above 0",
            "the value in the files, else 300",
        ),
        Run.variable(
            "EVALSUITE_CONFIRM",
            "most trials that repeat a case that fails and passed in its baseline; 0 repeats none",
            "an integer from 0 to 100",
            "10",
        ),
        Run.flag("EVALSUITE_RUN_ALL", "run all trials, also those that cannot change the result"),
        Run.flag("EVALSUITE_REQUIRE", "turn skipped cases into errors"),
        Run.flag("EVALSUITE_KEEP", "keep workspaces, including those of passed trials"),
        Run.flag("EVALSUITE_VERBOSE", "print which programs run, their output, and how long each step takes"),
        Run.flag("EVALSUITE_RELOAD", "read cases again that changed since the build; needs the feature `reload`"),
        Run.variable(
            "EVALSUITE_OUTPUT",
            "directory of the records",
            "a path, relative to the root of the workspace",
            "`target/evalsuite`",
        ),
        Run.variable(
            "EVALSUITE_DURABLE",
            "wait until the disk has each record, so that a power cut loses none",
            FLAG,
            "0; a killed process loses none either way",
        ),
        Run.variable(
            "EVALSUITE_RUN_ID",
            "id of the run, which processes and machines may share",
            "a text",
            "nextest's run id, else the time and a digest",
        ),
        Run.variable(
            "EVALSUITE_AGENT_DIGEST",
            "the version of the agent, and of graders and judges in Rust, in records: where it differs, all cases count as changed",
            "a text",
            "with `cargo evalsuite run` a digest of the sources of the packages, else none",
        ),
        Run.flag(
            "EVALSUITE_ONLY_CHANGED",
            "run only cases that have changed; the others take their result from the newest run that has it",
        ),
        Run.variable(
            "EVALSUITE_TARGET",
            "the target, or the part of the matrix to run",
            "names of targets, separated by commas",
            "the target of the case, else `default`; of a matrix, all",
        ),
        Run.variable(
            "EVALSUITE_TARGETS",
            "the targets file",
            "path of the file, or of its directory",
            "the nearest `targets.yaml`",
        ),
        Run.variable(
            "EVALSUITE_WORKERS",
            "number of trials of a suite that run at the same time, across all processes",
            "an integer from 1 to 1000",
            "`execution.workers`, else no limit",
        ),
        Run.variable(
            "EVALSUITE_BUDGET_USD",
            "budget of the run, after which no trial starts",
            "US dollars, a number above 0",
            "no limit",
        ),
        Run.variable(
            "EVALSUITE_RETRIES",
            "further attempts at a trial after an infrastructure error",
            "an integer from 0 to 10",
            "0",
        ),
        Run.variable(
            "EVALSUITE_PROGRESS",
            "file to which each step of a run is appended as a line of JSON",
            "a path",
            "none",
        ),
        Run.variable(
            "EVALSUITE_MODE",
            "call agents and judges, record what they do, or replay it without calling them",
            "`live`, `record` or `replay`",
            "`live`",
        ),
        Run.without_default(
            "EVALSUITE_REGRADE",
            "grade the answers of an earlier run again, without calling agents",
            "`latest`, or the id of a run",
        ),
        Run.variable(
            "EVALSUITE_PROBE",
            "the tests `suite_check` probe their suites: print the findings, or fail because of them",
            "`off`, `warn` or `deny`",
            "`off`",
        ),
        Run.variable(
            "EVALSUITE_CASSETTES",
            "directory of the recordings",
            "a path",
            "`.evalsuite/cassettes` in the package",
        ),
        Run.without_default(
            "EVALSUITE_ENV_FILE",
            "file with variables, for those that the environment does not set",
            "path of a file of lines `NAME=value`",
        ),
        Judge.variable(
            "EVALSUITE_JUDGE_URL",
            "endpoint of the judge, compatible with OpenAI's chat completions",
            "an http or https URL, such as `http://localhost:8080/v1`",
            "`OPENAI_BASE_URL`, else OpenAI's if `OPENAI_API_KEY` is set",
        ),
        Judge.without_default(
            "EVALSUITE_JUDGE_MODEL",
            "model of the judge; together with an endpoint it makes the endpoint the judge",
            "a name that the endpoint knows",
        ),
        Judge.variable(
            "EVALSUITE_JUDGE_API_KEY",
            "key of the endpoint",
            "a text",
            "`OPENAI_API_KEY`, if the endpoint is the one it belongs to",
        ),
        Judge.variable(
            "EVALSUITE_JUDGE_PRICE",
            "price of the model, for costs and budgets",
            "US dollars per million tokens of input and of output, such as `0.15/0.60`",
            "costs are not known",
        ),
        Judge.variable(
            "EVALSUITE_JUDGE_TARGET",
            "judges that are commands of the targets file, or functions; the majority decides",
            "names, separated by commas",
            "the judges of the macro",
        ),
        Judge.variable(
            "EVALSUITE_JUDGE_TIMEOUT_SECONDS",
            "time limit of a call of a judge",
            "a number of seconds above 0",
            "the value in the files",
        ),
        Judge.variable(
            "EVALSUITE_JUDGE_TEMPERATURE",
            "temperature of the judge's model",
            "a number from 0 to 2",
            "the value in the files, else 0",
        ),
        Judge.variable(
            "EVALSUITE_JUDGE_CONFIRM",
            "number of judgements that follow a failing one, so that the majority decides",
            "an even number from 0 to 10",
            "2",
        ),
        Judge.without_default("OPENAI_BASE_URL", "endpoint of the judge, if `EVALSUITE_JUDGE_URL` names none", "a URL"),
        Judge.without_default("OPENAI_API_KEY", "key for that endpoint, and for no other", "a text"),
        Build.flag("EVALSUITE_DENY_WARNINGS", "warnings about suites fail the build"),
        Program.without_default("EVALSUITE_WORKSPACE", "workspace of the trial", "an absolute path"),
        Program.without_default(MARK_OF_PROGRAM, "directory of the suite", "an absolute path"),
        Program.without_default("EVALSUITE_CASE_DIR", "directory of the case", "an absolute path"),
        Program.without_default("EVALSUITE_CASE_ID", "id of the case", "a text"),
        Program.without_default("EVALSUITE_TRIAL", "index of the trial", "an integer from 0"),
        Program.without_default("EVALSUITE_TRIAL_DIR", "directory of the trial's records", "an absolute path"),
        Program.without_default(
            "EVALSUITE_TRAJECTORY_PATH",
            "file for the transcript of an agent that is a command, as ATIF",
            "an absolute path",
        ),
        Internal.without_default(
            "EVALSUITE_DESCRIBE",
            "the tests describe their suites instead of running",
            "a directory",
        ),
        Internal.without_default(
            "EVALSUITE_NEW_CASES",
            "the tests `suite_check` run these cases, which are new since the build",
            "paths of tests, one per line",
        ),
        Internal.without_default(
            "EVALSUITE_PROBE_REQUEST",
            "the tests `suite_check` probe their suites and write the results to files",
            "an object as JSON",
        ),
        Internal.without_default(
            "EVALSUITE_PROCESS",
            "marks programs that end with the process that started them",
            "a text",
        ),
        Internal.without_default(
            "EVALSUITE_CORPUS",
            "directory of the suites that the tests of evalsuite load",
            "a path",
        ),
        Internal.without_default(
            "EVALSUITE_VECTORS",
            "directory of the vectors that the tests of evalsuite read",
            "a path",
        ),
        Internal.without_default("EVALSUITE_GRADING_RECORD", "record that a test of evalsuite shows", "an id"),
    ]
};

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
    let nearest = suggest::nearest(&short(name), own.iter().map(String::as_str));
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
