// Runs a JavaScript assertion that was written for promptfoo, as a code-grader of evalsuite.
//
// `config.code` is an expression, or lines with a `return`; `config.file` is a module relative to this suite, which exports a function.
// Both get the answer and a context with `vars`, `test`, `prompt` and `config`, and return a boolean, a number, or an object with `pass`,
// `score` and `reason`. Without either, it prints what `config.transform` makes of the answer.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

// What the code prints is not the result.
const print = process.stdout.write.bind(process.stdout);
process.stdout.write = process.stderr.write.bind(process.stderr);

const input = JSON.parse(readFileSync(0, 'utf8'));
const { code, file, function: name, transform, threshold, negated = false, score: kind, config } = input.config;
const suite = join(dirname(fileURLToPath(import.meta.url)), '..');
const metadata = input.metadata ?? {};
const vars = metadata.vars ?? {};
const prompt = (input.input ?? []).map((message) => (typeof message.content === 'string' ? message.content : '')).join('\n');
const context = { vars, prompt, config, test: { vars, metadata, description: metadata.description } };

/** The body of a function for code on one line: declarations before the last semicolon, then the result. */
function body(text) {
  if (text.trimEnd().includes('\n')) return text;
  const line = text.trim().replace(/;+\s*$/, '');
  if (!/^(const|let|var)\s/.test(line)) return `return ${line}`;
  // As promptfoo finds it, for which a quote in a comment or in a pattern also starts a text.
  let [quote, isEscaped, end] = ['', false, -1];
  for (const [index, character] of [...line].entries()) {
    if (!isEscaped && /["'`]/.test(character)) quote = quote === '' ? character : quote === character ? '' : quote;
    if (character === ';' && quote === '') end = index;
    isEscaped = character === '\\' && !isEscaped;
  }
  const result = [...line].slice(end + 1).join('').trim();
  return end < 0 || result === '' ? line : `${[...line].slice(0, end + 1).join('')} return ${result}`;
}

async function transformed() {
  let output = input.answer;
  for (const text of [transform ?? []].flat()) {
    const code = text.includes('\n') ? text : `return ${text}`;
    output = await new Function('output', 'context', 'process', code)(output, context, process);
    if (output === null || output === undefined) throw new Error(`the transform returned ${output}`);
  }
  return output;
}

async function result() {
  const output = await transformed();
  if (code !== undefined) return new Function('output', 'context', 'process', body(code))(output, context, process);
  const module = await import(pathToFileURL(join(suite, file)));
  const exported = module.default?.default || module.default || module;
  return (name ? exported[name] : exported)(output, context);
}

function verdict(value) {
  if (typeof value === 'boolean') return { pass: value !== negated, score: value !== negated ? 1 : 0 };
  if (typeof value === 'number') return { pass: (threshold === undefined ? value > 0 : value >= threshold) !== negated, score: value };
  if (typeof value?.pass === 'boolean' && typeof value.score === 'number' && typeof value.reason === 'string') {
    return { ...value, pass: value.pass !== negated };
  }
  throw new Error(`it returned ${JSON.stringify(value)}: a boolean, a number, or an object with pass, score and reason is needed`);
}

async function grade() {
  let graded;
  try {
    graded = verdict(await result());
  } catch (error) {
    graded = { pass: false, score: 0, reason: `the assertion failed: ${error.message}` };
  }
  const shown = kind === 'graded' ? Math.min(1, Math.max(0, graded.score || 0)) : graded.pass ? 1 : 0;
  const text = file ?? code.trim().split('\n')[0];
  print(
    JSON.stringify({
      score: shown,
      assertions: [{ text, passed: graded.pass, ...(graded.reason ? { evidence: String(graded.reason) } : {}) }],
      details: { score: graded.score, pass: graded.pass },
    }),
  );
}

if (code === undefined && file === undefined) print(JSON.stringify(await transformed()));
else await grade();
