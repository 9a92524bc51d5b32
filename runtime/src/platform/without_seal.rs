//! Takes the place of `sealed` in a build that has no seal: one without the feature, or for another system than Linux.

use std::io;
use std::path::PathBuf;
use std::process::{Child, Command};

use self::decision::SealRules;
use crate::platform::seal_terms::{SealRefusal, SealedFiles};

#[derive(Debug, Clone)]
pub(crate) enum SealedStart {}

#[allow(dead_code, reason = "nothing is sealed")]
impl SealedStart {
    pub(crate) fn new(rules: SealRules, _: SealedFiles) -> Result<Self, Box<SealRefusal>> {
        match rules {}
    }

    pub(crate) fn with(&self, _: Vec<PathBuf>, _: Vec<PathBuf>) -> Self {
        match *self {}
    }

    pub(crate) fn spawn(&self, _: &mut Command) -> io::Result<Child> {
        match *self {}
    }
}

pub(crate) mod named_files {
    use std::path::{Path, PathBuf};
    use std::process::Command;

    pub(crate) fn of_line(_: &str, _: &Path, _: &Command) -> Vec<PathBuf> {
        Vec::new()
    }

    pub(crate) fn of_arguments<'a>(_: impl IntoIterator<Item = &'a str>, _: &Path) -> Vec<PathBuf> {
        Vec::new()
    }
}

pub(crate) mod decision {
    use evalsuite_records::record::SealRecord;
    use evalsuite_schema::{SealMode, Sealing};

    use crate::platform::seal_terms::SealRefusal;

    #[allow(dead_code, reason = "nothing is sealed")]
    pub(crate) enum SealDecision {
        Off,
        Unsealed(SealRecord),
        Sealed(SealRecord, SealRules),
    }

    pub(crate) enum SealRules {}

    impl SealDecision {
        pub(crate) fn record(&self) -> SealRecord {
            match self {
                Self::Off => SealRecord::off(),
                Self::Unsealed(record) | Self::Sealed(record, _) => record.clone(),
            }
        }
    }

    /// A build without the feature is no property of the machine: where the system has a seal, a suite that asks for it gets the error at once.
    pub(crate) fn decide(mode: SealMode, _: &Sealing) -> Result<SealDecision, Box<SealRefusal>> {
        let is_missing_feature = cfg!(target_os = "linux");
        let (reason, help) = match std::env::consts::OS {
            _ if is_missing_feature => (
                "evalsuite was built without its feature `sealed`".to_owned(),
                "; `cargo add evalsuite --features sealed`",
            ),
            "macos" => ("sealing is not supported on macOS".to_owned(), ""),
            "windows" => ("sealing is not supported on Windows".to_owned(), ""),
            other => (format!("sealing is not supported on {other}"), ""),
        };
        let record = SealRecord::unsealed(&reason);
        match mode {
            SealMode::Off => Ok(SealDecision::Off),
            SealMode::Auto if !is_missing_feature => Ok(SealDecision::Unsealed(record)),
            SealMode::Auto | SealMode::Required => {
                let message = format!("`sealed: {}`, but {reason}{help}", mode.as_str());
                Err(Box::new(SealRefusal { record, message }))
            }
        }
    }
}
