// The transcript of a trial as a timeline: messages, reasoning and tool calls in order.

const WHO = { user: ['person', 'User'], agent: ['agent', 'Agent'], system: ['system', 'System'], assistant: ['agent', 'Agent'], tool: ['wrench', 'Tool'] };

/** The text of a message: a text, or parts of several kinds. */
function contentText(content) {
  if (content === null || content === undefined) return '';
  if (typeof content === 'string') return content;
  if (typeof content.text === 'string') return content.text;
  if (Array.isArray(content.parts)) return contentText(content.parts);
  if (Array.isArray(content)) {
    return content.map((part) => (typeof part === 'string' ? part : part.text ?? `[${part.type || Object.keys(part)[0]}: ${part.source?.path || part.path || JSON.stringify(part)}]`)).join('\n');
  }
  return json(content);
}

function transcript(trajectory) {
  const steps = Array.isArray(trajectory?.steps) ? trajectory.steps : [];
  if (!steps.length) return el('p', { class: 'none' }, 'The agent reported no transcript.');
  const calls = steps.reduce((all, step) => all + (step.tool_calls || []).length, 0);
  const longest = Math.max(1, ...steps.flatMap((step) => step.tool_calls || []).map((call) => call.extra?.duration_ms || 0));
  return [
    el('p', { class: 'note' }, `${plural(steps.length, 'step')}, ${plural(calls, 'tool call')}`),
    el('ol', { class: 'timeline' }, steps.map((step) => stepItem(step, longest))),
  ];
}

function stepItem(step, longest) {
  const [sign, label] = WHO[step.source] || WHO.system;
  const message = contentText(step.message);
  const results = step.observation?.results || [];
  const calls = step.tool_calls || [];
  const known = new Set(calls.map((call) => call.tool_call_id));
  const other = results.filter((result) => !known.has(result.source_call_id));
  const metrics = step.metrics;
  return el('li', { class: `step from-${label.toLowerCase()}` },
    el('div', { class: 'node', 'aria-hidden': 'true' }, icon(sign)),
    el('div', { class: 'said' },
      el('div', { class: 'who' }, el('strong', {}, label), step.extra?.turn !== undefined && el('span', { class: 'muted' }, `turn ${step.extra.turn + 1}`), step.extra?.simulated === true && el('span', { class: 'chip' }, 'simulated'),
        metrics && el('span', { class: 'muted' }, `${count(metrics.prompt_tokens || 0)} in · ${count(metrics.completion_tokens || 0)} out`),
        el('span', { class: 'muted step-number' }, `#${step.step_id}`)),
      step.reasoning_content && fold('Reasoning', () => textBlock(contentText(step.reasoning_content), { label: 'Reasoning' }), { className: 'reasoning' }),
      message && textBlock(message, { lines: 30, label: 'Message', className: 'prose' }),
      calls.map((call) => callItem(call, results.filter((result) => result.source_call_id === call.tool_call_id), longest)),
      other.map((result) => textBlock(contentText(result.content), { lines: 20, label: 'Result' }))));
}

function callItem(call, results, longest) {
  const failed = call.extra?.is_error;
  const ms = call.extra?.duration_ms;
  const brief = argumentsText(call.arguments);
  const title = [icon('wrench'), el('code', { class: 'tool' }, call.function_name), el('span', { class: 'arguments' }, brief),
    failed && el('span', { class: 'chip is-failed' }, 'error'),
    ms !== undefined && el('span', { class: 'took' },
      el('span', { class: 'took-bar', 'aria-hidden': 'true' }, el('span', { style: { width: `${Math.max(2, ms / longest * 100)}%` } })), duration(ms))];
  return fold(title, () => [
    el('h3', {}, 'Arguments'), textBlock(json(call.arguments ?? {}), { lines: 30, label: 'Arguments' }),
    results.length > 0 && el('h3', {}, 'Result'),
    results.map((result) => textBlock(contentText(result.content) || '(empty)', { lines: 30, label: 'Result' })),
  ], { className: 'call' });
}

function argumentsText(value) {
  if (value === null || typeof value !== 'object') return String(value ?? '');
  const text = Object.entries(value).map(([name, one]) => `${name}: ${typeof one === 'string' ? one : JSON.stringify(one)}`).join(', ');
  return text.length > 140 ? `${text.slice(0, 140)}…` : text;
}

/** The agent's input: messages, or data. */
function inputBlock(input, turns) {
  if (!input) return el('p', { class: 'none' }, 'The input was not recorded.');
  const parts = [];
  if (Array.isArray(input.messages)) {
    for (const message of input.messages) parts.push(messageBlock(message.role, contentText(message.content)));
  } else if (input.data !== undefined) {
    const data = input.data;
    const isFlat = data && typeof data === 'object' && !Array.isArray(data);
    if (isFlat) for (const [name, value] of Object.entries(data)) parts.push(messageBlock('user', json(value), name));
    else parts.push(messageBlock('user', json(data), 'data'));
  } else parts.push(textBlock(json(input), { label: 'Input' }));
  (Array.isArray(turns) ? turns : []).forEach((turn, at) => parts.push(messageBlock('user', contentText(turn.messages ? turn.messages.map((one) => one.content) : turn), `Turn ${at + 1}`)));
  return parts;
}

function messageBlock(role, text, name) {
  const [, label] = WHO[role] || [null, role];
  return el('div', { class: `message from-${role}` }, el('div', { class: 'who' }, name || label), textBlock(text, { lines: 24, label: name || label, className: 'prose' }));
}
