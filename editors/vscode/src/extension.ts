// Starts the language server, and runs and debugs cases for its code lenses.

import * as vscode from "vscode";
import { LanguageClient } from "vscode-languageclient/node";

import { DEBUG_CASE, RUN_CASE, caseRun, debugConfiguration } from "./case_run";
import { withDebugLenses } from "./lenses";

/** The extension that debugs Rust programs. */
const DEBUGGER = "vadimcn.vscode-lldb";

const LANGUAGES = ["yaml", "json", "jsonl", "markdown"];

/** What tasks of this extension are from. */
const SOURCE = "evalsuite";

let client: LanguageClient | undefined;

/** Called by the editor in a workspace with suites. */
export async function activate(context: vscode.ExtensionContext): Promise<void> {
    context.subscriptions.push(
        vscode.commands.registerCommand("evalsuite.restartServer", restart),
        vscode.commands.registerCommand(DEBUG_CASE, debugCase),
        vscode.tasks.onDidEndTaskProcess(({ execution }) => {
            if (execution.task.source === SOURCE) {
                refreshLenses();
            }
        }),
        vscode.workspace.onDidChangeConfiguration(async (change) => {
            if (change.affectsConfiguration("evalsuite.server.path")) {
                await restart();
            }
        }),
    );
    await start();
}

/** Called by the editor before it ends. */
export async function deactivate(): Promise<void> {
    const last = client;
    client = undefined;
    // A server that did not start cannot be stopped.
    if (last?.needsStop()) {
        await last.stop();
    }
}

async function restart(): Promise<void> {
    await deactivate();
    await start();
}

async function start(): Promise<void> {
    const program = vscode.workspace.getConfiguration("evalsuite").get("server.path", "cargo-evalsuite");
    const created = new LanguageClient(
        "evalsuite",
        "evalsuite",
        { command: program, args: ["lsp"] },
        {
            documentSelector: LANGUAGES.map((language) => ({ scheme: "file", language })),
            middleware: {
                async provideCodeLenses(document, token, next) {
                    const lenses = (await next(document, token)) ?? [];
                    return vscode.extensions.getExtension(DEBUGGER) ? withDebugLenses(lenses) : lenses;
                },
                async executeCommand(command, words, next) {
                    return command === RUN_CASE ? await runCase(words[0]) : await next(command, words);
                },
            },
        },
    );
    client = created;
    try {
        await created.start();
    } catch (error) {
        const help = `\`cargo install cargo-evalsuite --features lsp\` installs it; the setting evalsuite.server.path names it.`;
        await vscode.window.showErrorMessage(`evalsuite: cannot start \`${program} lsp\`: ${error}. ${help}`);
    }
}

/** Shows the verdict of a run that has ended. */
function refreshLenses(): void {
    const feature = client?.getFeature("textDocument/codeLens");
    for (const document of vscode.workspace.textDocuments) {
        feature?.getProvider(document)?.onDidChangeCodeLensEmitter.fire();
    }
}

/** Runs a case in a terminal, where its output is followed and where it can be ended. */
async function runCase(argument: unknown): Promise<void> {
    const run = caseRun(argument);
    if (!run) {
        throw new Error("not a run of a case");
    }
    const folder = vscode.workspace.getWorkspaceFolder(vscode.Uri.file(run.directory));
    const task = new vscode.Task(
        { type: "evalsuite", case: run.case },
        folder ?? vscode.TaskScope.Workspace,
        `run ${run.case}`,
        SOURCE,
        new vscode.ProcessExecution("cargo", run.arguments, { cwd: run.directory }),
    );
    task.presentationOptions = { clear: true, reveal: vscode.TaskRevealKind.Always };
    await vscode.tasks.executeTask(task);
}

async function debugCase(argument: unknown): Promise<void> {
    const run = caseRun(argument);
    if (!run) {
        throw new Error("not a run of a case");
    }
    const folder = vscode.workspace.getWorkspaceFolder(vscode.Uri.file(run.directory));
    await vscode.debug.startDebugging(folder, debugConfiguration(run));
}
