// The run of a case, as the code lens of the language server describes it.

/** The command of the server's lens. */
export const RUN_CASE = "evalsuite.runCase";

/** The command of the lens that this extension adds. */
export const DEBUG_CASE = "evalsuite.debugCase";

/** The argument of {@link RUN_CASE}. */
export interface CaseRun {
    /** Id of the case. */
    case: string;
    /** Directory of the package. */
    directory: string;
    /** Arguments of cargo that run the case. */
    arguments: string[];
    /** Arguments of cargo that build its test program. */
    build: string[];
    /** Arguments of the test program that run the case. */
    test: string[];
}

/** The first argument of a command, if it is a run. */
export function caseRun(value: unknown): CaseRun | undefined {
    const run = value as Partial<CaseRun> | null | undefined;
    const isList = (list: unknown) => Array.isArray(list) && list.every((word) => typeof word === "string");
    const isRun =
        typeof run?.case === "string" &&
        typeof run.directory === "string" &&
        [run.arguments, run.build, run.test].every(isList);
    return isRun ? (run as CaseRun) : undefined;
}

/** The configuration with which CodeLLDB builds the test program and debugs the case. */
export function debugConfiguration(run: CaseRun) {
    return {
        type: "lldb",
        request: "launch",
        name: `evalsuite: ${run.case}`,
        cargo: { args: run.build, cwd: run.directory },
        // A program under a debugger waits for its user.
        args: [...run.test, "--nocapture"],
        cwd: run.directory,
    };
}
