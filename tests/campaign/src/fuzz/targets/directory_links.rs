//! Links below a suite: what cargo would not see the end of is an error of the suite.

use std::os::unix::fs::symlink;
use std::path::{Component, Path, PathBuf};
use std::{fs, io};

use evalsuite_loader::{Request, load};

use super::{Input, Target};
use crate::fuzz::corpus::Seed;

/// Entries that cargo may see below a suite of a few files.
const MOST: usize = 600_000;

pub(crate) struct DirectoryLinks {
    seeds: Vec<Seed>,
    words: Vec<String>,
    package: PathBuf,
}

impl DirectoryLinks {
    pub(crate) fn open(scratch: &Path) -> io::Result<Self> {
        let chain: String =
            (0..14).map(|level| format!("c{level}/a ../c{0}\nc{level}/b ../c{0}\n", level + 1)).collect();
        let texts = [
            "a/link ../b\nb/link ../a\nc/link ../../shared\n",
            "a/deep/link ../..\nlink .\nother /nowhere\nfile /etc/passwd\n",
            "a/link ../../shared\n../shared/back ../suite\n../shared/more ../shared\n",
            &chain,
        ];
        let seeds = texts.map(|text| Seed::file("links", text.as_bytes().to_vec())).to_vec();
        let words = [
            "/",
            "/usr",
            "..",
            "../..",
            "../../..",
            ".",
            "a",
            "b",
            "../a",
            "../shared",
            "../target",
            "../suite",
            "\n",
            " ",
        ];
        let package = scratch.canonicalize()?.join("package");
        Ok(Self { seeds, words: words.map(str::to_owned).to_vec(), package })
    }
}

impl Target for DirectoryLinks {
    fn seeds(&self) -> &[Seed] {
        &self.seeds
    }

    fn words(&self) -> &[String] {
        &self.words
    }

    fn prepare(&mut self, input: &Input) -> io::Result<()> {
        if self.package.exists() {
            fs::remove_dir_all(&self.package)?;
        }
        for directory in ["suite/cases/a", "shared/x", "target/debug"] {
            fs::create_dir_all(self.package.join(directory))?;
        }
        fs::write(self.package.join("Cargo.toml"), "[package]\nname = \"links\"\n")?;
        fs::write(self.package.join("suite/EVAL.yaml"), "tests: ./cases/\n")?;
        fs::write(
            self.package.join("suite/cases/a/case.yaml"),
            "input: a\nassertions: [{ type: contains, value: a }]\n",
        )?;
        for line in String::from_utf8_lossy(&input.bytes).lines() {
            let Some((path, target)) = line.split_once(' ') else { continue };
            // Links are made in the suite, and in the directory beside it.
            let path = path
                .strip_prefix("../shared/")
                .map_or_else(|| format!("suite/{path}"), |path| format!("shared/{path}"));
            let is_plain = Path::new(&path).components().all(|part| matches!(part, Component::Normal(_)));
            if is_plain && !path.ends_with('/') && !path.contains('\0') {
                let path = self.package.join(path);
                // What is in the way stays.
                let _ = fs::create_dir_all(path.parent().unwrap_or(&self.package));
                let _ = symlink(target, path);
            }
        }
        Ok(())
    }

    fn run(&mut self, _: &Input) -> Result<(), String> {
        let mut request = Request::new("suite", &self.package);
        request.workspace_root.clone_from(&self.package);
        let loaded = load(&request);
        if loaded.diagnostics.has_errors() {
            return Ok(());
        }
        // As cargo looks for changes.
        let mut entries = 0;
        for entry in walkdir::WalkDir::new(self.package.join("suite")).follow_links(true).into_iter().flatten() {
            entries += 1;
            if entries > MOST {
                return Err(format!("cargo would look at more than {MOST} files"));
            }
            let real = entry.path().canonicalize().unwrap_or_default();
            if entry.file_type().is_dir() && !real.starts_with(&self.package) {
                return Err(format!("cargo would leave the package at {}", entry.path().display()));
            }
        }
        Ok(())
    }
}
