// As much of the module `vscode` as the extension and its language client use. What they register is kept, and tests call it.
"use strict";

const { pathToFileURL, fileURLToPath } = require("node:url");

class EventEmitter {
    constructor() {
        this.listeners = new Set();
        this.event = (listener, owner) => {
            const bound = owner ? listener.bind(owner) : listener;
            this.listeners.add(bound);
            return { dispose: () => this.listeners.delete(bound) };
        };
    }
    fire(value) {
        for (const listener of this.listeners) listener(value);
    }
    dispose() {
        this.listeners.clear();
    }
}

class Uri {
    constructor(text) {
        Object.assign(this, { text, scheme: new URL(text).protocol.slice(0, -1) });
    }
    static parse(text) {
        return new Uri(text);
    }
    static file(path) {
        return new Uri(pathToFileURL(path).href);
    }
    get fsPath() {
        return fileURLToPath(this.text);
    }
    get path() {
        return new URL(this.text).pathname;
    }
    toString() {
        return this.text;
    }
}

class Position {
    constructor(line, character) {
        Object.assign(this, { line, character });
    }
}

class Range {
    constructor(startLine, startCharacter, endLine, endCharacter) {
        this.start = new Position(startLine, startCharacter);
        this.end = new Position(endLine, endCharacter);
    }
}

class Diagnostic {
    constructor(range, message, severity) {
        Object.assign(this, { range, message, severity });
    }
}

class CodeLens {
    constructor(range, command) {
        Object.assign(this, { range, command });
    }
}

class ProcessExecution {
    constructor(process, args, options) {
        Object.assign(this, { process, args, options });
    }
}

class Task {
    constructor(definition, scope, name, source, execution) {
        Object.assign(this, { definition, scope, name, source, execution });
    }
}

class CodeActionKind {
    constructor(value) {
        this.value = value;
    }
    append(part) {
        return new CodeActionKind(this.value ? `${this.value}.${part}` : part);
    }
    static Empty = new CodeActionKind("");
}

/** A class that nobody uses, but others extend. */
const unused = () =>
    class {
        constructor(...values) {
            this.values = values;
        }
    };

/** The module with one open folder, and with what was registered. */
exports.makeVscode = ({ folder, settings = {}, extensions = [] }) => {
    const registered = { commands: new Map(), lenses: [], diagnostics: new Map(), tasks: [], debugged: [], errors: [], output: [] };
    const events = { open: new EventEmitter(), tasks: new EventEmitter(), settings: new EventEmitter() };
    const disposable = () => ({ dispose() {} });
    const none = new EventEmitter().event;
    const workspaceFolder = { uri: Uri.file(folder), name: "folder", index: 0 };
    const documents = [];

    // Where something is missing that this module does not define, whoever asks for it gets a class, or a function that registers nothing.
    const open = (known, missing) =>
        new Proxy(known, { get: (target, name) => (name in target || typeof name === "symbol" ? target[name] : missing(name)) });
    const event = (name) => (String(name).startsWith("on") ? none : disposable);
    const channel = () =>
        open({ append: (text) => registered.output.push(text), appendLine: (text) => registered.output.push(text) }, () => () => {});

    const vscode = {
        version: "1.91.0",
        EventEmitter, Uri, Position, Range, Diagnostic, CodeActionKind, CodeLens, Task, ProcessExecution,
        CancellationTokenSource: class {
            token = { isCancellationRequested: false, onCancellationRequested: none };
            cancel() {}
            dispose() {}
        },
        TaskScope: { Workspace: 2 },
        TaskRevealKind: { Always: 1 },
        env: { language: "en", appName: "test" },
        commands: {
            registerCommand(name, run) {
                registered.commands.set(name, run);
                return { dispose: () => registered.commands.delete(name) };
            },
            executeCommand: (name, ...words) => registered.commands.get(name)(...words),
        },
        extensions: { getExtension: (name) => (extensions.includes(name) ? { id: name } : undefined), onDidChange: none },
        window: open(
            {
                createOutputChannel: channel,
                showErrorMessage: async (text) => void registered.errors.push(text),
                visibleTextEditors: [],
                activeTextEditor: undefined,
                tabGroups: { all: [], onDidChangeTabs: none },
            },
            event,
        ),
        workspace: open(
            {
                workspaceFolders: [workspaceFolder],
                textDocuments: documents,
                notebookDocuments: [],
                getWorkspaceFolder: () => workspaceFolder,
                getConfiguration: (section) => ({ get: (name, fallback) => settings[section ? `${section}.${name}` : name] ?? fallback }),
                onDidOpenTextDocument: events.open.event,
                onDidChangeConfiguration: events.settings.event,
                createFileSystemWatcher: () => open({}, event),
            },
            event,
        ),
        languages: open(
            {
                createDiagnosticCollection: () => ({
                    set: (uri, found) => registered.diagnostics.set(uri.toString(), found),
                    get: (uri) => registered.diagnostics.get(uri.toString()),
                    delete: (uri) => registered.diagnostics.delete(uri.toString()),
                    clear: () => registered.diagnostics.clear(),
                    dispose() {},
                }),
                registerCodeLensProvider(selector, provider) {
                    registered.lenses.push({ selector, provider });
                    return { dispose() {} };
                },
                // Everything of this test's language is selected.
                match: () => 10,
            },
            event,
        ),
        tasks: {
            executeTask: async (task) => void registered.tasks.push(task),
            onDidEndTaskProcess: events.tasks.event,
        },
        debug: { startDebugging: async (where, configuration) => void registered.debugged.push(configuration) },
    };

    /** Opens a document in the editor. */
    const openDocument = (path, languageId, text) => {
        const lines = text.split("\n");
        const document = {
            uri: Uri.file(path), fileName: path, languageId, version: 1, isClosed: false, isDirty: false, lineCount: lines.length,
            getText: () => text, lineAt: (line) => ({ text: lines[line] }),
        };
        documents.push(document);
        events.open.fire(document);
        return document;
    };
    return { vscode: open(vscode, () => unused()), registered, events, openDocument };
};
