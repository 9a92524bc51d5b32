//! Random edits of a package: where the digest is one that was seen before, a build has the bytes that it had then. `TEST_PACKAGE_EDITS`
//! is their number, 20 by default.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use evalsuite_needs::slow;
use evalsuite_schema::digest::hexadecimal;
use hmac_sha256::Hash;

use super::*;

const MANIFEST: &str = r#"[package]
name = "shop"
version = "0.1.0"
edition = "2021"
[features]
loud = []
[dependencies]
prices = { path = "prices" }
[workspace]
[profile.dev]
incremental = false
debug = false
"#;

const LIB: &str = r#"
mod tone;
include!(concat!(env!("OUT_DIR"), "/table.rs"));
pub fn answer() -> String {
    let prompt = include_str!("../prompts/system.md");
    let hidden = include_bytes!("../.hidden/rules.txt").len();
    let linked = include_str!("../linked.txt");
    let mode = option_env!("SHOP_MODE").unwrap_or("none");
    let loud = cfg!(feature = "loud");
    format!("{prompt}{hidden}{linked}{mode}{loud}{}{}{}{}", TABLE, env!("SHOP_SUM"), tone::TONE, prices::price())
}
"#;

const BUILD_SCRIPT: &str = r#"fn main() {
    println!("cargo:rerun-if-changed=inputs");
    println!("cargo:rerun-if-changed=build.rs");
    let table = std::fs::read_to_string("inputs/table").unwrap();
    let out = std::env::var("OUT_DIR").unwrap();
    std::fs::write(format!("{out}/table.rs"), format!("const TABLE: &str = {:?};", table.trim())).unwrap();
    let sum: usize = std::fs::read("inputs/sum").unwrap().len();
    println!("cargo:rustc-env=SHOP_SUM={sum}");
}
"#;

struct Package {
    root: tempfile::TempDir,
    random: u64,
    features: Vec<String>,
}

impl Package {
    fn new(seed: u64) -> Self {
        let package = Self { root: tempfile::tempdir().unwrap(), random: seed, features: Vec::new() };
        for (path, text) in [
            ("Cargo.toml", MANIFEST),
            ("src/lib.rs", LIB),
            ("src/tone.rs", "pub const TONE: &str = \"kind\";\n"),
            ("src/bin/shop-tool.rs", "fn main() { println!(\"{}\", include_str!(\"../../notes/tool.txt\")) }\n"),
            ("tests/evals.rs", "#[test]\nfn answers() { println!(\"{}\", shop::answer()); }\n"),
            ("build.rs", BUILD_SCRIPT),
            ("inputs/table", "1\n"),
            ("inputs/sum", "12"),
            ("prompts/system.md", "Be kind.\n"),
            (".hidden/rules.txt", "rules"),
            ("linked/one.txt", "one"),
            ("linked/two.txt", "two"),
            ("notes/tool.txt", "tool"),
            ("README.md", "# Shop\n"),
            (".cargo/config.toml", "[env]\nSHOP_MODE = \"calm\"\n"),
            ("prices/Cargo.toml", "[package]\nname = \"prices\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"),
            ("prices/src/lib.rs", "pub fn price() -> &'static str { include_str!(\"../list.csv\") }\n"),
            ("prices/list.csv", "1,2\n"),
            ("prices/.more", "more"),
        ] {
            package.write(path, text);
        }
        package.link("one");
        package
    }

    fn path(&self, path: &str) -> PathBuf {
        self.root.path().join(path)
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn link(&self, to: &str) {
        let _ = fs::remove_file(self.path("linked.txt"));
        std::os::unix::fs::symlink(format!("linked/{to}.txt"), self.path("linked.txt")).unwrap();
    }

    fn below(&mut self, end: u64) -> u64 {
        self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.random >> 33) % end
    }

    /// An edit, which may also undo an earlier one.
    fn edit(&mut self) -> &'static str {
        let value = self.below(3);
        let text = format!("text {value}\n");
        match self.below(20) {
            0 => self.write("prompts/system.md", &text),
            1 => self.write("prompts/system.md", &text.replace('\n', "\r\n")),
            2 => self.write(".hidden/rules.txt", &"x".repeat(usize::try_from(value).unwrap() + 1)),
            3 => self.write("src/tone.rs", &format!("pub const TONE: &str = \"kind {value}\";\n")),
            4 => self.write("src/tone.rs", &format!("pub const TONE: &str = \"kind\"; // {value}\n")),
            5 => self.write("inputs/table", &format!("{value}\n\n")),
            6 => self.write("inputs/sum", &"1".repeat(usize::try_from(value).unwrap())),
            7 => self.write("inputs/sum", &format!("{value}").repeat(2)),
            8 => self.write("prices/list.csv", &text),
            9 => self.write("prices/.more", &text),
            10 => self.write("linked/one.txt", &text),
            11 => self.link(if value == 0 { "one" } else { "two" }),
            12 => self.write(".cargo/config.toml", &format!("[env]\nSHOP_MODE = \"{value}\"\n")),
            13 => self.features = if value == 0 { vec!["loud".to_owned()] } else { Vec::new() },
            14 => self.write("README.md", &text),
            15 => self.write("notes/tool.txt", &text),
            16 => {
                self.write("build.rs", &BUILD_SCRIPT.replace("table.trim()", &format!("table.trim().repeat({value})")))
            }
            17 => self.write("Cargo.toml", &MANIFEST.replace("0.1.0", &format!("0.1.{value}"))),
            18 => self.write("Cargo.toml", &format!("{MANIFEST}opt-level = {value}\n")),
            _ => self.write(
                "tests/evals.rs",
                &format!("#[test]\nfn answers() {{ println!(\"{{}} {value}\", shop::answer()); }}\n"),
            ),
        }
        [
            "prompt",
            "line breaks",
            "hidden",
            "source",
            "comment",
            "table",
            "sum",
            "same sum",
            "dependency",
            "hidden of dependency",
            "target of link",
            "link",
            "variable",
            "feature",
            "readme",
            "program",
            "build script",
            "version",
            "profile",
            "test",
        ][usize::try_from((self.random >> 33) % 20).unwrap()]
    }

    /// The digest, and those of the bytes of the test program and the other program.
    fn state(&self) -> (String, BTreeSet<String>) {
        let build = Build { features: self.features.clone(), ..Build::default() };
        let digest = source_digest(self.root.path(), &build, &[], &self.path("evals")).unwrap();
        let mut cargo = Command::new("cargo");
        cargo.args(["test", "--tests", "--no-run", "--message-format=json", "--offline", "--features"]);
        let output = cargo.arg(self.features.join(",")).current_dir(self.root.path()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let mut programs = BTreeSet::new();
        for line in String::from_utf8_lossy(&output.stdout).lines() {
            let message: Value = evalsuite_schema::json::from_str(line).unwrap();
            let is_program = ["evals", "shop-tool"].iter().any(|name| message["target"]["name"] == **name);
            if let Some(program) = message["executable"].as_str().filter(|_| is_program) {
                programs.insert(hexadecimal(Hash::hash(&fs::read(program).unwrap())));
            }
        }
        assert!(programs.len() > 1, "{programs:?}");
        (digest, programs)
    }
}

fn check(edits: u64) {
    let mut package = Package::new(20_261_127);
    let (mut digest, mut bytes) = package.state();
    let mut known = BTreeMap::from([(digest.clone(), bytes.clone())]);
    let (mut reused, mut needless, mut changed) = (0, 0, 0);
    for number in 0..edits {
        let edit = package.edit();
        let (new_digest, new_bytes) = package.state();
        if let Some(earlier) = known.insert(new_digest.clone(), new_bytes.clone()) {
            reused += 1;
            assert_eq!(
                earlier, new_bytes,
                "edit {number}, {edit}: results are reused though the program's bytes differ"
            );
        }
        changed += u64::from(new_bytes != bytes);
        needless += u64::from(new_bytes == bytes && new_digest != digest);
        (digest, bytes) = (new_digest, new_bytes);
    }
    println!(
        "{edits} edits: {changed} changed a program, {reused} were of a known state, {needless} reran cases needlessly"
    );
}

#[slow(builds)]
#[test]
fn a_digest_stands_for_the_bytes_of_the_programs() {
    check(env::var("TEST_PACKAGE_EDITS").map_or(20, |edits| edits.parse().unwrap()));
}

#[slow(builds)]
#[test]
fn another_checkout_and_target_directory_have_the_same_digest() {
    let (one, other) = (Package::new(1), Package::new(1));
    other.write(".cargo/config.toml", "[env]\nSHOP_MODE = \"calm\"\n");
    assert_eq!(one.state().0, other.state().0);
}

#[slow(builds)]
#[test]
fn a_package_that_names_the_files_of_its_agent_is_not_changed_by_others() {
    let package = Package::new(1);
    package.write("Cargo.toml", &format!("{MANIFEST}[package.metadata.evalsuite]\nagent-files = [\"notes\"]\n"));
    let digest = || source_digest(package.root.path(), &Build::default(), &[], Path::new("evals"));
    let first = digest().unwrap();
    package.write("README.md", "# Another shop\n");
    assert_eq!(digest().unwrap(), first, "a file that is neither built nor named");
    package.write("notes/new.txt", "new");
    let second = digest().unwrap();
    assert_ne!(second, first, "a named file");
    package.write("prompts/system.md", "Be short.\n");
    assert_ne!(digest().unwrap(), second, "an included file");
    package.write("Cargo.toml", &format!("{MANIFEST}[package.metadata.evalsuite]\nagent-files = [\"promts\"]\n"));
    let error = digest().unwrap_err().to_string();
    assert!(error.contains("`promts` in `agent-files` does not exist"), "{error}");
}
