// A provider of promptfoo that costs nothing: it answers with its prompt, or, if ANSWER is `values`, with what the assertions look for, or, if
// it is `padded`, with the same in the form in which models answer: with empty lines around it, and with fences around JSON.
const text = (value) => (typeof value === 'object' ? JSON.stringify(value) : String(value));
const filled = (value, vars) => text(value).replace(/\{\{\s*(\w+)\s*\}\}/g, (braces, name) => vars[name] ?? braces);

function wanted({ type, value }, vars) {
  if (/^i?contains-(any|all)$/.test(type)) return [value].flat().map((part) => filled(part, vars).split(',').join(' ')).join(' ');
  if (/^(i?contains|equals|starts-with|levenshtein)$/.test(type)) return filled(value, vars);
  if (type === 'regex') return filled(value, vars).replace(/[\\^$()|?*+]/g, '');
  return /json/.test(type) ? '{"a": 1}' : '';
}

module.exports = class {
  id() {
    return 'answer';
  }

  async callApi(prompt, { test = {}, vars = {} } = {}) {
    const all = (asserts = []) => asserts.flatMap((assert) => (assert.type === 'assert-set' ? all(assert.assert) : [assert]));
    const parts = process.env.ANSWER === 'echo' ? [] : all(test.assert).map((assert) => wanted(assert, vars));
    const answer = parts.filter(Boolean).join(' ') || prompt;
    const fence = answer.startsWith('{') ? '```' : '';
    return { output: process.env.ANSWER === 'padded' ? `\n${fence}\n${answer}\n${fence}\n` : answer, cost: 0.0001 };
  }
};
