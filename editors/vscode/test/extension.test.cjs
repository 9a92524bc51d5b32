// The bundled extension with the real language server: EVALSUITE_PROGRAM, else the program in the target directory of this clone.
"use strict";

const assert = require("node:assert/strict");
const { cpSync, existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } = require("node:fs");
const Module = require("node:module");
const { tmpdir } = require("node:os");
const { join } = require("node:path");
const { test } = require("node:test");

const { makeVscode } = require("./fake_vscode.cjs");

const root = join(__dirname, "..");
const clone = join(root, "../..");
const suffix = process.platform === "win32" ? ".exe" : "";
const program = process.env.EVALSUITE_PROGRAM ?? join(clone, `target/debug/cargo-evalsuite${suffix}`);

/** The extension, activated in an editor with a copy of this folder. */
async function activated(files, { settings = {}, extensions = [] } = {}) {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), "evalsuite-vscode-")));
    cpSync(files, folder, { recursive: true });
    const editor = makeVscode({ folder, extensions, settings: { "evalsuite.server.path": program, ...settings } });
    const load = Module._load;
    Module._load = (name, ...rest) => (name === "vscode" ? editor.vscode : load(name, ...rest));
    const bundle = join(root, "dist/extension.js");
    delete require.cache[bundle];
    const extension = require(bundle);
    Module._load = load;
    const context = { subscriptions: [] };
    await extension.activate(context);
    const end = async () => {
        await extension.deactivate();
        rmSync(folder, { recursive: true });
    };
    return { ...editor, folder, end };
}

async function until(what, condition) {
    for (let tries = 0; tries < 400; tries += 1) {
        const value = await condition();
        if (value) return value;
        await new Promise((resolve) => setTimeout(resolve, 50));
    }
    assert.fail(`${what} did not happen within 20 seconds`);
}

const CASE = "suites/shop/cases/refund/case.yaml";

async function lensesOf(editor) {
    const path = join(editor.folder, CASE);
    const document = editor.openDocument(path, "yaml", readFileSync(path, "utf8"));
    const { provider } = await until("the registration of lenses", () => editor.registered.lenses[0]);
    const token = { isCancellationRequested: false, onCancellationRequested: () => ({ dispose() {} }) };
    return until("a lens", async () => {
        const lenses = await provider.provideCodeLenses(document, token);
        return lenses?.length && lenses;
    });
}

test("a case is run in a task", async () => {
    const editor = await activated(join(__dirname, "package"));
    try {
        const lenses = await lensesOf(editor);
        assert.deepEqual(lenses.map((lens) => lens.command.command), ["evalsuite.runCase"], "no debugger is installed");
        const { command } = lenses[0];
        await editor.vscode.commands.executeCommand(command.command, ...command.arguments);
        const [task] = editor.registered.tasks;
        assert.equal(task.name, "run refund");
        assert.equal(task.execution.process, "cargo");
        assert.equal(task.execution.options.cwd, editor.folder);
        assert.ok(task.execution.args.join(" ").includes("--test evals"), task.execution.args.join(" "));
    } finally {
        await editor.end();
    }
});

test("with CodeLLDB, a case is debugged", async () => {
    const editor = await activated(join(__dirname, "package"), { extensions: ["vadimcn.vscode-lldb"] });
    try {
        const lenses = await lensesOf(editor);
        assert.deepEqual(lenses.map((lens) => lens.command.command), ["evalsuite.runCase", "evalsuite.debugCase"]);
        const { command } = lenses[1];
        await editor.vscode.commands.executeCommand(command.command, ...command.arguments);
        assert.deepEqual(editor.registered.debugged, [
            {
                type: "lldb",
                request: "launch",
                name: "evalsuite: refund",
                cargo: { args: ["test", "--no-run", "--test", "evals"], cwd: editor.folder },
                args: ["shop::refund", "--nocapture"],
                cwd: editor.folder,
            },
        ]);
    } finally {
        await editor.end();
    }
});

test("problems of an unsaved file are shown where they are", async () => {
    const editor = await activated(join(__dirname, "package"));
    try {
        const path = join(editor.folder, CASE);
        const text = readFileSync(path, "utf8").replace("assertions:", "asserts:");
        const document = editor.openDocument(path, "yaml", text);
        const [problem] = await until("a problem", () => {
            const found = editor.registered.diagnostics.get(document.uri.toString());
            return found?.length && found;
        });
        assert.match(problem.message, /unknown key `asserts` in a case/);
        assert.deepEqual({ ...problem.range.start }, { line: 1, character: 0 });
    } finally {
        await editor.end();
    }
});

test("a program that does not exist is an error that names the setting", async () => {
    const editor = await activated(join(__dirname, "package"), { settings: { "evalsuite.server.path": "/no/such/program" } });
    try {
        const message = editor.registered.errors.at(-1);
        assert.match(message, /cannot start `\/no\/such\/program lsp`/);
        assert.match(message, /evalsuite\.server\.path/);
    } finally {
        await editor.end();
    }
});

test("the schemas are those of the command line, for the same files", () => {
    const { contributes } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
    const { execFileSync } = require("node:child_process");
    const folder = mkdtempSync(join(tmpdir(), "evalsuite-vscode-"));
    cpSync(join(__dirname, "package"), folder, { recursive: true });
    execFileSync(program, ["evalsuite", "new", "editor"], { cwd: folder });
    const settings = JSON.parse(readFileSync(join(folder, ".vscode/settings.json"), "utf8"));
    const shown = (url) => url.replace("./schemas/", "./.evalsuite/schema/");
    const yaml = Object.fromEntries(contributes.yamlValidation.map(({ fileMatch, url }) => [shown(url), fileMatch]));
    assert.deepEqual(yaml, settings["yaml.schemas"]);
    const json = contributes.jsonValidation.map(({ fileMatch, url }) => ({ fileMatch, url: shown(url) }));
    assert.deepEqual(json, settings["json.schemas"]);
    for (const { url } of [...contributes.yamlValidation, ...contributes.jsonValidation]) {
        assert.ok(existsSync(join(folder, shown(url))), `\`cargo evalsuite new editor\` writes ${url}`);
    }
    rmSync(folder, { recursive: true });
});
