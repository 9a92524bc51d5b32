//! The suite as a `static`.

use evalsuite_loader::{LoadedSuite, SuiteFiles, Test};
use evalsuite_schema::Calibration;

use crate::rust_literals::{push_json, push_lines, push_number, push_option, push_str};

/// Short names of what stands in every case: rustc resolves each path anew.
const NAMES: &str = "#[allow(unused_imports)]\nuse ::core::option::Option::{None as __None, Some as __Some};\n\
                     #[allow(unused_imports)]\nuse ::evalsuite::EvalCase as __Case;\n";

/// Fewer cases than this are written faster without another thread.
const CASES_PER_THREAD: usize = 128;

/// Adds `pub static SUITE`, and the files that it was read from.
pub(crate) fn push(out: &mut String, suite: &LoadedSuite) -> serde_json::Result<()> {
    let about = &suite.suite;
    out.push_str(NAMES);
    out.push_str("/// The suite with all its cases.\npub static SUITE: ::evalsuite::EvalSuite = ::evalsuite::EvalSuite {\nname: ");
    push_str(out, &about.name);
    out.push_str(",\nagent_name: ");
    push_option(out, about.agent_name.as_deref(), ("::core::option::Option::Some", "::core::option::Option::None"));
    push_origin(out);
    push_str(out, &about.root);
    out.push_str(",\njson: ");
    push_json(out, &serde_json::to_string(about)?);
    out.push_str(",\nsources: &[");
    for (kind, path) in &suite.sources {
        out.push('(');
        push_str(out, kind);
        out.push_str(", ");
        push_str(out, path);
        out.push_str("), ");
    }
    out.push_str("],\ndiagnostics: __DIAGNOSTICS,\nembedded: __EMBEDDED,\norigin: __ORIGIN,\ncalibration: ");
    match &suite.calibration {
        Some(calibration) => {
            out.push_str("::core::option::Option::Some(");
            push_json(out, &one_sample_a_line(calibration)?);
            out.push(')');
        }
        None => out.push_str("::core::option::Option::None"),
    }
    out.push_str(",\ncases: &[\n");
    let tags = tags(&about.tags);
    push_cases(out, suite, &tags)?;
    out.push_str("],\n};\n");
    push_files(out, &suite.files);
    Ok(())
}

/// Adds digest and path of each file that was read, one a line: a single literal, which costs the compiler next to nothing.
fn push_files(out: &mut String, files: &SuiteFiles) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = Vec::with_capacity(128 * files.len());
    for (path, digest) in files {
        for byte in digest {
            text.extend_from_slice(&[DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
        }
        text.push(b' ');
        text.extend_from_slice(path.as_bytes());
        text.push(b'\n');
    }
    let text = String::from_utf8_lossy(&text);
    out.push_str("const __FILES: &str = ");
    push_lines(out, &text);
    out.push_str(";\n");
}

/// Adds `pub static SUITE` without cases, for code that uses a suite which cannot be loaded.
#[cfg(feature = "expand")]
pub(crate) fn push_empty(out: &mut String) {
    out.push_str(
        "const __FILES: &str = \"\";\n/// Empty: the suite cannot be used.\npub static SUITE: ::evalsuite::EvalSuite = ::evalsuite::EvalSuite {\n",
    );
    out.push_str("name: \"\",\nagent_name: ::core::option::Option::None");
    push_origin(out);
    out.push_str("\"\",\njson: \"{}\",\nsources: &[],\ndiagnostics: __DIAGNOSTICS,\nembedded: __EMBEDDED,\norigin: __ORIGIN,\ncalibration: ::core::option::Option::None,\ncases: &[],\n};\n");
}

fn push_origin(out: &mut String) {
    out.push_str(",\nmodule_path: ::core::module_path!(),\npackage: ::core::env!(\"CARGO_PKG_NAME\"),\n");
    out.push_str("package_version: ::core::env!(\"CARGO_PKG_VERSION\"),\n");
    out.push_str("manifest_dir: ::core::env!(\"CARGO_MANIFEST_DIR\"),\nroot: ");
}

/// As JSON that can be read in an editor.
fn one_sample_a_line(calibration: &Calibration) -> serde_json::Result<String> {
    let samples = calibration.samples.iter().map(serde_json::to_string).collect::<Result<Vec<_>, _>>()?;
    let text = serde_json::to_string(&Calibration {
        location: calibration.location.clone(),
        samples: Vec::new(),
        ..*calibration
    })?;
    Ok(text.replacen("\"samples\":[]", &format!("\"samples\":[\n{}\n]", samples.join(",\n")), 1))
}

fn tags(tags: &[String]) -> String {
    let mut list = String::new();
    for tag in tags {
        push_str(&mut list, tag);
        list.push_str(", ");
    }
    list
}

/// Adds the cases, written on several threads, in the order of the tests.
fn push_cases(out: &mut String, suite: &LoadedSuite, tags: &str) -> serde_json::Result<()> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let chunk = suite.tests.len().div_ceil(threads).max(CASES_PER_THREAD);
    let write = |tests: &[Test]| {
        let mut text = String::with_capacity(1024 * tests.len());
        tests.iter().try_for_each(|test| push_case(&mut text, suite, test, tags)).map(|()| text)
    };
    std::thread::scope(|scope| {
        let mut chunks = suite.tests.chunks(chunk);
        let own = chunks.next().unwrap_or_default();
        let others: Vec<_> = chunks.map(|tests| scope.spawn(move || write(tests))).collect();
        out.push_str(&write(own)?);
        for thread in others {
            match thread.join() {
                Ok(text) => out.push_str(&text?),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        Ok(())
    })
}

fn push_case(out: &mut String, suite: &LoadedSuite, test: &Test, tags: &str) -> serde_json::Result<()> {
    let loaded = &suite.cases[test.case];
    let location = &loaded.case.location;
    out.push_str("__Case { id: ");
    push_str(out, &loaded.case.id);
    out.push_str(", test_name: ");
    push_str(out, &test.path.join("::"));
    out.push_str(", file: ");
    push_str(out, &location.file);
    out.push_str(", line: ");
    push_number(out, location.line as usize);
    out.push_str(", column: ");
    push_number(out, location.column as usize);
    out.push_str(", source: ");
    push_str(out, &loaded.source);
    out.push_str(", target: ");
    push_option(out, test.target.as_deref(), ("__Some", "__None"));
    out.push_str(", tags: &[");
    out.push_str(tags);
    out.push_str("], json: ");
    push_json(out, &serde_json::to_string(&loaded.case)?);
    out.push_str(" },\n");
    Ok(())
}
