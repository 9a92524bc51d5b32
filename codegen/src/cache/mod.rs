//! What the build script has loaded, left in OUT_DIR so that no expansion of the macro has to load it again.
//!
//! Four files per suite: two with generated code, one with the files that cases need, one with everything that decides whether they still hold. It is
//! better to load once too often than to use a stale suite, so whatever looks different, or too new to tell, is loaded anew.

mod meta;
mod stamp;

use std::path::{Path, PathBuf};
use std::time::SystemTime;
use std::{fs, io};

use evalsuite_loader::{Loaded, Request};
use evalsuite_schema::diagnostic::Code;

use crate::embed::{Contents, Embedded};
use crate::expansion::{self, About, Expansion, Message, Options};
use crate::statics::Body;

use meta::Meta;
use stamp::Stamps;

/// A loaded suite.
#[derive(Debug)]
pub(crate) struct Cached {
    meta: Meta,
    body: Body,
}

/// Where the files of one suite lie.
struct Place {
    meta: PathBuf,
    statics: PathBuf,
    tests: PathBuf,
    /// Relative to OUT_DIR.
    embedded: String,
}

impl Place {
    fn new(out_dir: &Path, entry: &Path) -> Self {
        let name = name(entry);
        let folder = out_dir.join("evalsuite").join("loaded");
        Self {
            meta: folder.join(format!("{name}.json")),
            statics: folder.join(format!("{name}.suite.rs")),
            tests: folder.join(format!("{name}.tests.rs")),
            embedded: format!("evalsuite/loaded/{name}.embedded"),
        }
    }
}

impl Cached {
    /// Leaves a suite without errors for [`Cached::find`]. A file that was changed while it was read, or that is too new
    /// for its time to tell, is no error: then nothing is left.
    pub(crate) fn store(
        out_dir: &Path,
        entry: &Path,
        request: &Request,
        loaded: &Loaded,
        warnings: Vec<Message>,
        (body, embedded): (Body, Option<Contents>),
        started: SystemTime,
    ) -> io::Result<()> {
        let Some(suite) = &loaded.suite else { return Ok(()) };
        let place = Place::new(out_dir, entry);
        if let Some(folder) = place.meta.parent() {
            fs::create_dir_all(folder)?;
        }
        // First of all: half a suite must not be found.
        match fs::remove_file(&place.meta) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let root = if entry.is_dir() { entry } else { entry.parent().unwrap_or(entry) };
        let Some(stamps) = Stamps::take(&loaded.files, embedded.as_ref(), root, started)? else { return Ok(()) };
        let embedded = match embedded {
            Some(contents) => Embedded::Files(contents).into_archive(out_dir, &place.embedded)?,
            None => Embedded::Off,
        };
        fs::write(&place.statics, &body.statics)?;
        fs::write(&place.tests, &body.tests)?;
        let meta = Meta::new(request, suite, &loaded.user_graders, warnings, (&body, &embedded), stamps);
        fs::write(&place.meta, serde_json::to_string(&meta)?)
    }

    /// The suite as the build script left it, if it is still what loading it would give.
    pub(crate) fn find(options: &Options) -> Option<Self> {
        let out_dir = options.out_dir.as_deref()?;
        if !options.loads_as_tracked() {
            return None;
        }
        let place = Place::new(out_dir, &entry(&options.request)?);
        let meta: Meta = serde_json::from_str(&fs::read_to_string(&place.meta).ok()?).ok()?;
        let agrees =
            options.graders.as_ref().is_none_or(|registered| expansion::graders_agree(registered, &meta.graders));
        if !agrees || !meta.holds_for(&options.request) {
            return None;
        }
        let statics = fs::read_to_string(&place.statics).ok()?;
        let tests = fs::read_to_string(&place.tests).ok()?;
        let body = Body { statics, tests };
        (meta.is_of(&body) && meta.archive_is_there(&out_dir.join(place.embedded))).then_some(Self { meta, body })
    }

    /// The suite for a caller with these options.
    pub(crate) fn expand(self, options: &Options) -> Expansion {
        let Meta { module, agent_name, targets, case_targets, judging, mut warnings, stamps, embedded, .. } = self.meta;
        if !options.embed {
            warnings.retain(|warning| !warning.is_about(Code::NotEmbedded));
        }
        let messages = warnings.into_iter().map(Into::into).collect();
        let mut expansion = Expansion::new(options, module, messages, stamps.read());
        // The build script has shown the warnings, and graders agree: what is left are warnings that fail the build.
        expansion.warnings.clear();
        if expansion.errors.is_empty() {
            expansion.suite = Some(About { agent_name, targets, case_targets, judging });
            expansion.body = self.body;
            if options.embed {
                expansion.embedded = embedded.into();
            }
        }
        expansion
    }
}

/// The whole path of the entry.
fn entry(request: &Request) -> Option<PathBuf> {
    let base = match request.entry.strip_prefix("./") {
        Some(rest) => request.source_dir.as_ref()?.join(rest),
        None => request.package_root.join(&request.entry),
    };
    // `suites/x` and `suites/x/` are one; anything with `..` has many spellings and is loaded.
    Some(base.components().collect())
}

/// A name for the files of the suite at `entry`, readable and different for different paths.
fn name(entry: &Path) -> String {
    let path = entry.to_string_lossy();
    let stem: String = entry
        .file_name()
        .map(|name| {
            name.to_string_lossy().chars().filter(|c| c.is_ascii_alphanumeric() || "-_".contains(*c)).take(40).collect()
        })
        .unwrap_or_default();
    format!("{stem}-{:016x}", hash(path.as_bytes()))
}

/// FNV-1a: short, and the same in every process, unlike the hashes of the standard library. A collision is harmless
/// because the path is compared too.
fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests;
