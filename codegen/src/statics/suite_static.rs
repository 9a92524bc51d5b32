//! The suite as a `static`.

use evalsuite_loader::{LoadedSuite, Test};
use evalsuite_schema::{Calibration, Location};

use crate::rust_literals::{escape_bidirectional, option_literal, push_raw, string_literal};

/// Short names of what stands in every case: rustc resolves each path anew.
const NAMES: &str = "#[allow(unused_imports)]\nuse ::core::option::Option::{None as __None, Some as __Some};\n\
                     #[allow(unused_imports)]\nuse __evalsuite::EvalCase as __Case;\n\
                     #[allow(unused_imports)]\nuse __evalsuite::__private::CompiledJson::Case as __Json;\n";

/// Adds `pub static SUITE`.
pub(crate) fn push(out: &mut String, suite: &LoadedSuite) -> serde_json::Result<()> {
    let about = &suite.suite;
    out.push_str(NAMES);
    out.push_str("/// The suite with all its cases.\npub static SUITE: __evalsuite::EvalSuite = __evalsuite::EvalSuite {\nname: ");
    let agent_name = about.agent_name.as_deref();
    let agent_name = option_literal(agent_name, ("::core::option::Option::Some", "::core::option::Option::None"));
    out.push_str(&format!("{},\nagent_name: {agent_name}", string_literal(&about.name)));
    push_origin(out);
    out.push_str(&string_literal(&about.root));
    out.push_str(",\njson: __evalsuite::__private::CompiledJson::Suite(&__texts::TEXTS),\nsources: &[");
    for (kind, path) in &suite.sources {
        out.push_str(&format!("({}, {}), ", string_literal(kind), string_literal(path)));
    }
    out.push_str("],\ndiagnostics: __DIAGNOSTICS,\nembedded: __EMBEDDED,\norigin: __ORIGIN,\ncalibration: ");
    match &suite.calibration {
        Some(calibration) => {
            out.push_str("::core::option::Option::Some(");
            push_raw(out, &escape_bidirectional(one_sample_a_line(calibration)?));
            out.push(')');
        }
        None => out.push_str("::core::option::Option::None"),
    }
    out.push_str(",\ncases: &[\n");
    for test in &suite.tests {
        push_case(out, suite, test);
    }
    out.push_str("],\n};\n");
    Ok(())
}

/// Adds `pub static SUITE` without cases, for code that uses a suite which cannot be loaded.
pub(crate) fn push_empty(out: &mut String) {
    out.push_str(
        "/// Empty: the suite cannot be used.\npub static SUITE: __evalsuite::EvalSuite = __evalsuite::EvalSuite {\n",
    );
    out.push_str("name: \"\",\nagent_name: ::core::option::Option::None");
    push_origin(out);
    out.push_str("\"\",\njson: __evalsuite::__private::CompiledJson::Text(\"{}\"),\nsources: &[],\ndiagnostics: __DIAGNOSTICS,\nembedded: __EMBEDDED,\norigin: __ORIGIN,\ncalibration: ::core::option::Option::None,\ncases: &[],\n};\n");
}

fn push_origin(out: &mut String) {
    out.push_str(",\nmodule_path: ::core::module_path!(),\npackage: ::core::env!(\"CARGO_PKG_NAME\"),\n");
    out.push_str("package_version: ::core::env!(\"CARGO_PKG_VERSION\"),\n");
    out.push_str("manifest_dir: ::core::env!(\"CARGO_MANIFEST_DIR\"),\nroot: ");
}

/// As JSON that can be read in an editor.
fn one_sample_a_line(calibration: &Calibration) -> serde_json::Result<String> {
    let samples = calibration.samples.iter().map(serde_json::to_string).collect::<Result<Vec<_>, _>>()?;
    let mut without_samples = Calibration::new(calibration.location.clone());
    (without_samples.tolerance, without_samples.threshold) = (calibration.tolerance, calibration.threshold);
    without_samples.bar = calibration.bar;
    let text = serde_json::to_string(&without_samples)?;
    Ok(text.replacen("\"samples\":[]", &format!("\"samples\":[\n{}\n]", samples.join(",\n")), 1))
}

fn push_case(out: &mut String, suite: &LoadedSuite, test: &Test) {
    let loaded = &suite.cases[test.case];
    let (id, test_name) = (string_literal(&loaded.case.id), string_literal(&test.path.join("::")));
    let Location { file, line, column, .. } = &loaded.case.location;
    let (file, source) = (string_literal(file), string_literal(&loaded.source));
    let target = option_literal(test.target.as_deref(), ("__Some", "__None"));
    let tags: String = loaded.case.tags.iter().map(|tag| string_literal(tag) + ", ").collect();
    out.push_str(&format!(
        "__Case {{ id: {id}, test_name: {test_name}, file: {file}, line: {line}, column: {column}, source: {source}, \
         target: {target}, tags: &[{tags}], json: __Json(&__texts::TEXTS, {}) }},\n",
        test.case
    ));
}
