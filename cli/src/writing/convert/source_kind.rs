//! What a source is, from its name and its contents.

use std::path::Path;

use evalsuite_discovery::{SuiteFile, skill_directory};
use evalsuite_loader::document;

use crate::command_line::SourceKind;
use crate::platform::cli_error::{CliError, Result};

impl SourceKind {
    pub(super) fn of(path: &Path) -> Result<Self> {
        if path.is_dir() {
            let has = |name: &str| path.join(name).is_file();
            if ["promptfooconfig.yaml", "promptfooconfig.yml", "promptfooconfig.json"].into_iter().any(has) {
                return Ok(Self::Promptfoo);
            }
            let has_task = |directory: &Path| directory.join("task.toml").is_file();
            let holds_tasks =
                path.read_dir().is_ok_and(|mut entries| entries.any(|it| it.is_ok_and(|it| has_task(&it.path()))));
            return Ok(if has_task(path) || holds_tasks { Self::Harbor } else { Self::Suite });
        }
        if !path.is_file() {
            return Err(CliError::new(format!("{} does not exist", path.display())));
        }
        let name = path.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
        if SuiteFile::named(&name).is_some() || skill_directory(path).is_some() {
            return Ok(Self::Suite);
        }
        if name == "task.toml" {
            return Ok(Self::Harbor);
        }
        let root = document::read(path, path.parent().unwrap_or(path)).map(|document| document.root);
        let is_configuration =
            root.is_ok_and(|root| ["prompts", "providers", "scenarios"].iter().any(|key| root.get(key).is_some()));
        match is_configuration || name.starts_with("promptfooconfig") {
            true => Ok(Self::Promptfoo),
            false => Err(CliError::with_help(
                format!("{} is not a suite, a promptfoo configuration or a Harbor task", path.display()),
                "set its kind with `--from`",
            )),
        }
    }
}
