//! Which tests the arguments of Rust's test harness choose.

use std::ffi::OsString;

/// Options whose value is the next argument.
const WITH_VALUE: [&str; 6] = ["--test-threads", "--logfile", "--color", "--format", "--shuffle-seed", "-Z"];

/// Which tests this process runs: the filters in the arguments of Rust's test harness. `--ignored` and `--include-ignored` select nothing among the tests of a suite: either all of
/// them are ignored, or none.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct TestFilter {
    filters: Vec<String>,
    skip: Vec<String>,
    exact: bool,
}

impl TestFilter {
    pub(crate) fn of_process() -> Self {
        Self::of(std::env::args_os().skip(1))
    }

    fn of(arguments: impl IntoIterator<Item = OsString>) -> Self {
        let mut filter = Self::default();
        let mut arguments = arguments.into_iter().map(|argument| argument.to_string_lossy().into_owned());
        let mut only_filters = false;
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                _ if only_filters => filter.filters.push(argument),
                "--" => only_filters = true,
                "--exact" => filter.exact = true,
                "--skip" => filter.skip.extend(arguments.next()),
                option if WITH_VALUE.contains(&option) => drop(arguments.next()),
                option => match option.strip_prefix("--skip=") {
                    Some(skip) => filter.skip.push(skip.to_owned()),
                    None if option.starts_with('-') && option.len() > 1 => {}
                    None => filter.filters.push(argument),
                },
            }
        }
        filter
    }

    /// Whether a test is run, by its path as it is listed.
    pub(crate) fn contains(&self, test: &str) -> bool {
        let fits = |filter: &String| if self.exact { test == filter } else { test.contains(filter.as_str()) };
        (self.filters.is_empty() || self.filters.iter().any(fits)) && !self.skip.iter().any(fits)
    }

    /// Whether a filter is the path of a test.
    pub(crate) fn names(&self, test: &str) -> bool {
        self.filters.iter().any(|filter| filter == test)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(arguments: &str) -> Vec<&'static str> {
        let filter = TestFilter::of(arguments.split_whitespace().map(OsString::from));
        ["x::a", "x::ab", "x::b"].into_iter().filter(|test| filter.contains(test)).collect()
    }

    #[test]
    fn filters_select_and_skip_excludes() {
        assert_eq!(chosen(""), ["x::a", "x::ab", "x::b"]);
        assert_eq!(chosen("a"), ["x::a", "x::ab"]);
        assert_eq!(chosen("x::a --exact"), ["x::a"]);
        assert_eq!(chosen("--exact a"), [] as [&str; 0]);
        assert_eq!(chosen("--skip ab"), ["x::a", "x::b"]);
        assert_eq!(chosen("--skip=ab x::a"), ["x::a"]);
        assert_eq!(chosen("--skip x::a --exact"), ["x::ab", "x::b"]);
        assert_eq!(chosen("x::a x::b --exact"), ["x::a", "x::b"]);
        assert_eq!(chosen("--skip a --skip b"), [] as [&str; 0]);
    }

    #[test]
    fn a_test_is_named_by_its_whole_path() {
        let names = |arguments: &str| {
            let filter = TestFilter::of(arguments.split_whitespace().map(OsString::from));
            ["x::a", "x::ab"].into_iter().filter(|test| filter.names(test)).collect::<Vec<_>>()
        };
        assert_eq!(names("--exact x::a"), ["x::a"]);
        assert_eq!(names("x::a --skip x::ab"), ["x::a"]);
        assert_eq!(names("x:: --skip x::ab"), [] as [&str; 0]);
    }

    #[test]
    fn other_options_select_nothing() {
        let all = ["x::a", "x::ab", "x::b"];
        for arguments in [
            "--nocapture",
            "--test-threads 1",
            "--test-threads=1",
            "-q --color never",
            "-Z unstable-options",
            "-Zunstable-options --format json",
            "--ignored",
            "--include-ignored --show-output",
        ] {
            assert_eq!(chosen(arguments), all, "{arguments}");
        }
        assert_eq!(chosen("-- ab"), ["x::ab"]);
    }
}
