// Writes the schemas that package.json names: the output of `cargo evalsuite schema KIND` of this clone, or of the program that
// EVALSUITE_PROGRAM names.
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";

const root = join(import.meta.dirname, "..");
const { contributes } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const program = process.env.EVALSUITE_PROGRAM;
const [command, first] = program
    ? [program, []]
    : ["cargo", ["run", "--quiet", "--locked", "--package", "cargo-evalsuite", "--"]];

mkdirSync(join(root, "schemas"), { recursive: true });
for (const { url } of [...contributes.jsonValidation, ...contributes.yamlValidation]) {
    const kind = basename(url, ".json");
    const text = execFileSync(command, [...first, "schema", kind], { cwd: root, encoding: "utf8", maxBuffer: 1 << 24 });
    writeFileSync(join(root, url), text);
}
