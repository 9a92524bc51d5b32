//! Reads variables and collects the invalid ones.

use std::ffi::OsString;
use std::ops::RangeInclusive;
use std::str::FromStr;
use std::time::Duration;

use evalsuite_records::record::Mode;

use crate::judge::judge_options::{Endpoint, EndpointVariables, JudgeOptions};
use crate::model::judge::MOST_CONFIRM;

/// Reads variables and collects the invalid ones.
pub(super) struct VariableReader<L> {
    pub(super) lookup: L,
    pub(super) problems: Vec<String>,
}

impl<L: Fn(&str) -> Option<OsString>> VariableReader<L> {
    /// The value of a variable; an empty variable counts as unset.
    pub(super) fn value(&self, name: &str) -> Option<OsString> {
        (self.lookup)(name).filter(|value| !value.is_empty())
    }

    pub(super) fn text(&mut self, name: &str) -> Option<String> {
        match self.value(name)?.into_string() {
            Ok(text) => Some(text),
            Err(_) => {
                self.problems.push(format!("{name} is not valid Unicode"));
                None
            }
        }
    }

    pub(super) fn flag(&mut self, name: &str) -> bool {
        self.word(name, "1, true, 0 or false", &[("0", false), ("false", false), ("1", true), ("true", true)])
    }

    pub(super) fn number<T: FromStr>(&mut self, name: &str, wanted: &str, fits: impl Fn(&T) -> bool) -> Option<T> {
        let text = self.text(name)?;
        let number = text.parse().ok().filter(|number| fits(number));
        if number.is_none() {
            self.problems.push(format!("{name} is `{text}`, not {wanted}"));
        }
        number
    }

    pub(super) fn integer(&mut self, name: &str, range: RangeInclusive<u32>) -> Option<u32> {
        let wanted = format!("an integer from {} to {}", range.start(), range.end());
        self.number(name, &wanted, |number| range.contains(number))
    }

    /// A number of attempts; 1 without the variable.
    pub(super) fn count(&mut self, name: &str) -> u32 {
        self.number(name, "an integer from 1", |number| *number >= 1).unwrap_or(1)
    }

    /// The mode; `regraded` is the run whose trials are graded again.
    pub(super) fn mode(&mut self, regraded: Option<&str>) -> Mode {
        let Some(run) = regraded else {
            let modes = [("live", Mode::Live), ("record", Mode::Record), ("replay", Mode::Replay)];
            return self.word("EVALSUITE_MODE", "live, record or replay", &modes);
        };
        if let Some(mode) = self.text("EVALSUITE_MODE").filter(|mode| mode != "live") {
            self.problems.push(format!("EVALSUITE_REGRADE is `{run}` and EVALSUITE_MODE is `{mode}`; set one of them"));
        }
        Mode::Regrade
    }

    /// The value of one of the words; without the variable, that of the first.
    pub(super) fn word<T: Copy>(&mut self, name: &str, wanted: &str, words: &[(&str, T)]) -> T {
        let text = self.text(name).unwrap_or_else(|| words[0].0.to_owned());
        let found = words.iter().find(|(word, _)| *word == text);
        if found.is_none() {
            self.problems.push(format!("{name} is `{text}`, not {wanted}"));
        }
        found.unwrap_or(&words[0]).1
    }

    pub(super) fn judge(&mut self) -> JudgeOptions {
        let price = self.prices("EVALSUITE_JUDGE_PRICE");
        let variables = EndpointVariables {
            url: self.text("EVALSUITE_JUDGE_URL"),
            model: self.text("EVALSUITE_JUDGE_MODEL"),
            key: self.text("EVALSUITE_JUDGE_API_KEY"),
            openai_url: self.text("OPENAI_BASE_URL"),
            openai_key: self.text("OPENAI_API_KEY"),
            price,
        };
        let has_url = variables.url.is_some();
        let endpoint = Endpoint::from_variables(variables).unwrap_or_else(|problem| {
            self.problems.push(problem);
            None
        });
        let targets = self.names("EVALSUITE_JUDGE_TARGET");
        if has_url && targets.is_some() {
            self.problems
                .push("EVALSUITE_JUDGE_TARGET and EVALSUITE_JUDGE_URL are both set; set one of them".to_owned());
        }
        JudgeOptions {
            endpoint,
            targets,
            limit: self.seconds("EVALSUITE_JUDGE_TIMEOUT_SECONDS"),
            temperature: self
                .number("EVALSUITE_JUDGE_TEMPERATURE", "a number from 0 to 2", |n| (0.0..=2.0).contains(n)),
            confirm: self.number("EVALSUITE_JUDGE_CONFIRM", &format!("an even number from 0 to {MOST_CONFIRM}"), |n| {
                n % 2 == 0 && (0..=MOST_CONFIRM).contains(n)
            }),
        }
    }

    pub(super) fn seconds(&mut self, name: &str) -> Option<Duration> {
        let fits = |n: &f64| *n > 0.0 && Duration::try_from_secs_f64(*n).is_ok();
        let seconds = self.number(name, "a number of seconds above 0 and below 2^64", fits)?;
        Duration::try_from_secs_f64(seconds).ok()
    }

    /// Two numbers separated by `/`.
    fn prices(&mut self, name: &str) -> Option<(f64, f64)> {
        let text = self.text(name)?;
        let number = |text: &str| text.trim().parse::<f64>().ok().filter(|n| n.is_finite() && *n >= 0.0);
        let prices = text.split_once('/').and_then(|(input, output)| Some((number(input)?, number(output)?)));
        if prices.is_none() {
            let wanted = "US dollars per million tokens of input and of output, such as `0.15/0.60`";
            self.problems.push(format!("{name} is `{text}`, not {wanted}"));
        }
        prices
    }

    pub(super) fn names(&mut self, name: &str) -> Option<Vec<String>> {
        let text = self.text(name)?;
        let names: Vec<String> = text.split(',').map(|name| name.trim().to_owned()).collect();
        if names.iter().any(String::is_empty) {
            self.problems.push(format!("{name} is `{text}`, not names separated by commas"));
        }
        Some(names)
    }
}
