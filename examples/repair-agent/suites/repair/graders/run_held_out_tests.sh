#!/bin/sh
# Compiles the repaired program with tests that the agent has not seen, and reports every test as an assertion.
# Ignores standard input, which is the evidence as JSON.
set -eu

build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT

# The original tests, whatever the agent did to its copy.
cp "$EVALSUITE_CASE_DIR/workspace/tests.rs" "$EVALSUITE_CASE_DIR/held_out.rs" "$build"
cp "$EVALSUITE_WORKSPACE/program.rs" "$build/program.rs"
printf '\n#[cfg(test)]\nmod held_out;\n' >>"$build/program.rs"

if ! "${RUSTC:-rustc}" --edition=2024 --test --cap-lints=allow -Cdebuginfo=0 \
    -o "$build/tests" "$build/program.rs" 2>"$build/errors"; then
    # A program that does not compile is a failed repair, not an error of this grader.
    sed -n 1,20p "$build/errors" >&2
    echo '{"score": 0, "assertions": [{"text": "the program compiles", "passed": false}]}'
    exit 0
fi

"$build/tests" --test-threads=1 --color=never >"$build/output" 2>&1 || true
# Test names are Rust paths, so they need no JSON escapes.
awk '
    $1 == "test" && $3 == "..." {
        passed = $4 == "ok" ? "true" : "false"
        list = list (list == "" ? "" : ", ") "{\"text\": \"" $2 "\", \"passed\": " passed "}"
    }
    END {
        if (list == "") list = "{\"text\": \"the tests run\", \"passed\": false}"
        print "{\"assertions\": [" list "]}"
    }
' "$build/output"
