// The code lenses of a file: those of the server, and one that debugs a case.

import type { CodeLens } from "vscode";

import { DEBUG_CASE, RUN_CASE } from "./case_run";

/** Adds a lens that debugs after each lens that runs a case. */
export function withDebugLenses(lenses: CodeLens[]): CodeLens[] {
    return lenses.flatMap((lens) => {
        const { command } = lens;
        if (command?.command !== RUN_CASE) {
            return [lens];
        }
        const debug = { title: "debug", command: DEBUG_CASE, arguments: command.arguments ?? [] };
        return [lens, { range: lens.range, command: debug, isResolved: true }];
    });
}
