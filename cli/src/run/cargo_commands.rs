//! The commands that build and run tests.

use std::env;
use std::process::Command;

use crate::arguments::Build;
use crate::platform::cargo_process;
use crate::run::Run;

/// `cargo test` with the options of the build, without arguments for test programs.
pub(crate) fn cargo_test(build: &Build) -> Command {
    let mut cargo = cargo_process::cargo();
    cargo.arg("test");
    add_build_options(&mut cargo, build, "--profile");
    if build.tests.is_empty() && !build.lib {
        // All tests except those in documentation, which contain no cases.
        cargo.arg("--tests");
    }
    cargo
}

/// Which outputs are shown on a terminal although the test runner writes them to a pipe, so that it has to be told to use
/// colors.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Colors {
    pub(super) stdout: bool,
    pub(super) stderr: bool,
}

/// `cargo test` or `cargo nextest run` with the full names of tests.
pub(super) fn run_tests(command: &Run, tests: &[String], colors: Colors) -> Command {
    let (own, of_programs) = match command.arguments.iter().position(|argument| argument == "--") {
        Some(at) => (&command.arguments[..at], &command.arguments[at + 1..]),
        None => (command.arguments.as_slice(), [].as_slice()),
    };
    // A failed case does not end the run.
    let goes_on = |argument: &String| {
        ["--no-fail-fast", "--fail-fast", "--ff"].contains(&argument.as_str()) || argument.starts_with("--max-fail")
    };
    let more = if own.iter().any(goes_on) { None } else { Some("--no-fail-fast") };
    // Trials whose calls are recorded run one at a time: a test that waits for its turn would use up the time limit of the test runner.
    let runs_alone = |arguments: &[String], others: &[&str]| {
        let sets_threads = |argument: &String| others.iter().any(|option| argument.starts_with(option));
        (command.record || command.replay) && !arguments.iter().any(sets_threads)
    };
    let mut cargo;
    if command.nextest {
        cargo = cargo_process::cargo();
        cargo.args(["nextest", "run"]);
        add_build_options(&mut cargo, &command.build, "--cargo-profile");
        cargo.args(more).args(own);
        if runs_alone(own, &["--test-threads", "--jobs", "-j", "--no-capture", "--nocapture"]) {
            cargo.args(["--test-threads", "1"]);
        }
        if command.until_decided && !own.iter().any(|argument| argument.starts_with("--retries")) {
            // A trial that runs again because it failed would count twice.
            cargo.args(["--retries", "0"]);
        }
        for test in tests {
            cargo.args(["-E", &format!("test(={test})")]);
        }
        if !of_programs.is_empty() {
            cargo.arg("--").args(of_programs);
        }
    } else {
        cargo = cargo_test(&command.build);
        cargo.args(more).args(own).args(["--", "--exact"]).args(of_programs);
        if runs_alone(of_programs, &["--test-threads"]) {
            cargo.arg("--test-threads=1");
        }
        if colors.stdout && !of_programs.iter().any(|argument| argument.starts_with("--color")) {
            cargo.arg("--color=always");
        }
        cargo.args(tests);
    }
    if colors.stderr && env::var_os("CARGO_TERM_COLOR").is_none() {
        cargo.env("CARGO_TERM_COLOR", "always");
    }
    cargo
}

fn add_build_options(cargo: &mut Command, build: &Build, profile: &str) {
    for (option, values) in [("--package", &build.packages), ("--features", &build.features), ("--test", &build.tests)]
    {
        for value in values {
            cargo.args([option, value]);
        }
    }
    let flags = [
        ("--workspace", build.workspace),
        ("--all-features", build.all_features),
        ("--no-default-features", build.no_default_features),
        ("--release", build.release),
        ("--lib", build.lib),
    ];
    cargo.args(flags.into_iter().filter(|(_, is_set)| *is_set).map(|(flag, _)| flag));
    if let Some(name) = &build.profile {
        cargo.args([profile, name]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(command: &Command) -> String {
        let words: Vec<&str> = command.get_args().filter_map(|argument| argument.to_str()).collect();
        words.join(" ")
    }

    #[test]
    fn both_runners_build_the_same_tests() {
        let build = Build {
            packages: vec!["shop".into()],
            features: vec!["a,b".into()],
            tests: vec!["evals".into()],
            profile: Some("fast".into()),
            ..Build::default()
        };
        let arguments = ["-j", "2", "--", "--nocapture"].map(str::to_owned).to_vec();
        let mut command = Run { build, arguments, ..Run::default() };
        let chosen = ["x::a".to_owned(), "x::suite_check".to_owned()];
        let built = "--package shop --features a,b --test evals";
        assert_eq!(
            line(&run_tests(&command, &chosen, Colors::default())),
            format!("test {built} --profile fast --no-fail-fast -j 2 -- --exact --nocapture x::a x::suite_check")
        );
        assert_eq!(line(&cargo_test(&command.build)), format!("test {built} --profile fast"));
        let colors = Colors { stdout: true, stderr: true };
        assert!(
            line(&run_tests(&command, &chosen, colors)).ends_with("--nocapture --color=always x::a x::suite_check")
        );
        let own = Run { arguments: ["--", "--color=never"].map(str::to_owned).to_vec(), ..command.clone() };
        assert!(line(&run_tests(&own, &chosen, colors)).ends_with("--exact --color=never x::a x::suite_check"));
        command.nextest = true;
        assert_eq!(
            line(&run_tests(&command, &chosen, Colors::default())),
            format!(
                "nextest run {built} --cargo-profile fast --no-fail-fast -j 2 -E test(=x::a) -E test(=x::suite_check) \
                 -- --nocapture"
            )
        );
        let recorded = Run { record: true, ..command.clone() };
        assert!(line(&run_tests(&recorded, &chosen, Colors::default())).contains(" -j 2 -E"), "the user's threads");
        command.arguments = vec!["--max-fail=3".into()];
        let replayed = Run { replay: true, ..command.clone() };
        let with_nextest = line(&run_tests(&replayed, &chosen, Colors::default()));
        assert!(with_nextest.contains(" --max-fail=3 --test-threads 1 -E"), "{with_nextest}");
        let with_cargo = line(&run_tests(&Run { nextest: false, ..replayed }, &chosen[..1], Colors::default()));
        assert!(with_cargo.ends_with(" -- --exact --test-threads=1 x::a"), "{with_cargo}");
        command.build = Build { workspace: true, release: true, all_features: true, ..Build::default() };
        assert_eq!(
            line(&run_tests(&command, &chosen[..1], Colors::default())),
            "nextest run --workspace --all-features --release --max-fail=3 -E test(=x::a)"
        );
        assert_eq!(line(&cargo_test(&command.build)), "test --workspace --all-features --release --tests");
    }
}
