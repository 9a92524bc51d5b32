use std::path::PathBuf;

use evalsuite_schema::{Calibration, Suite};

use crate::{
    entry::run_options::RunOptions,
    judge::calibration::CalibrationReport,
    model::{evals::Evals, suite::EvalSuite},
    run::{calibration::begin, settings::Settings},
};

/// Samples that are in no program, to be judged by who is named in the environment.
#[derive(Debug)]
pub struct Samples {
    /// The suite they belong to.
    pub suite: Suite,
    /// The samples.
    pub calibration: Calibration,
    /// The package around them.
    pub package_root: PathBuf,
    /// The command that measures again.
    pub repeat: String,
}

impl Samples {
    /// Measures the judge of the environment.
    ///
    /// # Errors
    ///
    /// If there is none, or a setting makes no sense, or nothing can be recorded.
    pub fn measure(self, options: &RunOptions) -> Result<CalibrationReport, String> {
        let settings = options.apply(Settings::from_environment()?)?;
        let undecodable = |error| format!("the samples cannot be written as JSON: {error}");
        let json = serde_json::to_string(&self.suite).map_err(undecodable)?;
        let calibration = serde_json::to_string(&self.calibration).map_err(undecodable)?;
        // Suites are constants of their program: this is the only one of this process.
        let suite: &'static EvalSuite = Box::leak(Box::new(EvalSuite {
            name: self.suite.name.leak(),
            agent_name: None,
            module_path: "",
            package: "",
            package_version: "",
            manifest_dir: self.package_root.display().to_string().leak(),
            root: self.suite.root.leak(),
            json: json.leak(),
            sources: &[],
            embedded: None,
            diagnostics: &[],
            calibration: Some(calibration.leak()),
            cases: &[],
        }));
        let evals = Evals::new(suite);
        #[cfg(feature = "cli-agents")]
        let evals = evals.with_agent(crate::agents::command::CliAgents);
        match begin(&evals, &settings, &self.repeat)? {
            None => Err("there are no samples".to_owned()),
            Some(Err(reason)) => Err(reason.message),
            Some(Ok(report)) => Ok(report),
        }
    }
}
