// The results of graders: verdict, value, assertions with their place in the suite's files, votes and prompts of judges.

function verdictCode(grader) {
  if (grader.state === 'error') return 'e';
  if (grader.state !== 'decided') return 'u';
  return grader.verdict === 'pass' ? 'p' : 'f';
}

/** The graders, those first that explain why a trial did not pass. */
function gradersView(graders, texts) {
  if (!graders?.length) return el('p', { class: 'none' }, 'No grader ran.');
  const rank = (grader) => 'efup'.indexOf(verdictCode(grader));
  return el('div', { class: 'graders' }, [...graders].sort((a, b) => rank(a) - rank(b)).map((grader) => graderView(grader, texts)));
}

function graderView(grader, texts, depth = 0) {
  const code = verdictCode(grader);
  const facts = [
    grader.required && el('span', { class: 'chip strong' }, 'required'),
    grader.guard && !grader.required && el('span', { class: 'chip strong', title: 'the case fails if this grader fails' }, 'guard'),
    grader.weight !== 1 && el('span', { class: 'chip' }, `weight ${grader.weight}`),
    grader.crashed && el('span', { class: 'chip is-failed' }, 'crashed'),
    grader.negated && el('span', { class: 'chip' }, 'negated'),
    grader.advisory && el('span', { class: 'chip', title: plain(grader.advisory) }, 'does not count'),
  ];
  const head = el('div', { class: 'grader-head' }, sign(code),
    el('strong', { class: 'name' }, nameText(grader.name)), grader.type !== grader.name && el('span', { class: 'muted' }, grader.type), facts,
    el('span', { class: 'spacer' }),
    grader.value !== null && grader.value !== undefined ? el('span', { class: 'value' }, scoreBar(grader.value, grader.pass_mark)) : el('span', { class: 'muted' }, grader.state),
    locationMark(grader.location));
  return el('section', { class: `grader is-${OUTCOMES[code].name}`, 'aria-label': plain(`Grader ${grader.name}: ${OUTCOMES[code].label}`) }, head,
    grader.error && el('p', { class: 'problem' }, grader.error),
    grader.advisory && el('p', { class: 'note' }, grader.advisory),
    grader.rationale && el('p', { class: 'rationale' }, foldedLine(grader.rationale)),
    metricsOf(grader),
    assertionsOf(grader, code),
    votesOf(grader), judgeOf(grader, texts), commandOf(grader, texts),
    otherDetails(grader),
    (grader.members || []).length > 0 && depth < 8 && el('div', { class: 'members' }, grader.members.map((member) => graderView(member, texts, depth + 1))));
}

function locationMark(location) {
  if (!location?.file) return null;
  const text = place(location.file, location.line);
  return button([el('span', { class: 'directory' }, location.file.slice(0, location.file.lastIndexOf('/') + 1)), place(location.file.slice(location.file.lastIndexOf('/') + 1), location.line)],
    (event) => copy(text, event.currentTarget), { class: 'place quiet', title: plain(`Copy ${text}`) });
}

/** Named measurements beside the value. */
function metricsOf(grader) {
  const metrics = Object.entries(grader.metrics || {});
  return metrics.length > 0 && el('p', { class: 'note metrics' }, metrics.map(([name, value]) => el('span', { class: 'chip' }, `${name} ${measurement(value)}`)));
}

/** Assertions; long lists of a grader that passed are folded. */
function assertionsOf(grader, code) {
  const assertions = grader.assertions || [];
  if (!assertions.length) return null;
  const list = () => el('ul', { class: 'assertions' }, assertions.map((it) => assertionItem(it, grader)));
  return code === 'p' && assertions.length > 4 ? fold(plural(assertions.length, 'assertion'), list) : list();
}

function assertionItem(it, grader) {
  const long = (text) => text !== undefined && text !== null && (text.length > 120 || text.includes('\n'));
  const value = (label, text) => text !== undefined && text !== null && el('div', { class: `compared ${label}` }, el('span', { class: 'muted' }, label),
    long(text) ? textBlock(text, { lines: 12, label }) : el('code', {}, text));
  return el('li', { class: it.passed ? 'passed' : 'failed' }, sign(it.passed ? 'p' : 'f', { size: 14 }),
    el('div', {}, el('span', { class: 'statement' }, withCode(it.text)),
      !it.passed && grader.location?.file && el('span', { class: 'at muted' }, place(grader.location.file.split('/').pop(), grader.location.line)),
      !it.passed && [value('expected', it.expected), value('actual', it.actual)],
      it.evidence && el('p', { class: 'evidence' }, foldedLine(it.evidence))));
}

function votesOf(grader) {
  const votes = grader.details?.votes;
  if (!Array.isArray(votes) || !grader.judge) return null;
  return el('table', { class: 'votes' }, el('caption', {}, plural(votes.length, 'vote')),
    el('thead', {}, el('tr', {}, ['Judge', 'Verdict', 'Value'].map((label) => el('th', { scope: 'col' }, label)))),
    el('tbody', {}, votes.map((vote) => el('tr', {}, el('td', {}, vote.judge || grader.judge.name),
      el('td', {}, pill(verdictCode(vote), vote.error || vote.verdict || vote.state)), el('td', { class: 'number' }, score(vote.value))))));
}

function judgeOf(grader, texts) {
  const judge = grader.judge;
  if (!judge) return null;
  const folder = (judge.replies || [])[0]?.replace(/[^/]*$/, '');
  const files = folder ? texts.filter((file) => file.path.startsWith(folder)) : [];
  const named = (name) => files.filter((file) => file.path.slice(folder.length).startsWith(name));
  const facts = [judge.name, judge.model !== judge.name && judge.model, plural(judge.attempts, 'call'), judge.usage && lowerBound(`${count(judge.usage.input + judge.usage.cached)} in, ${count(judge.usage.output)} out`, judge.unknown_tokens), judge.cost_usd !== null && judge.cost_usd !== undefined && costBound(judge.cost_usd, judge.unknown_costs), judge.sealed && `seal: ${sealText(judge.sealed)}`];
  return el('div', { class: 'judge' }, el('p', { class: 'note' }, 'Judge ', facts.filter(Boolean).join(' · ')),
    [['system', 'Instructions'], ['prompt', 'Prompt'], ['reply', 'Reply']].flatMap(([name, label]) => named(name).map((file, at, all) =>
      fold(all.length > 1 ? `${label} ${at + 1}` : label, () => textBlock(prettyJson(file.text), { label, omitted: file.omitted })))));
}

function prettyJson(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

function commandOf(grader, texts) {
  const command = grader.command;
  if (!command) return null;
  const end = command.timed_out ? 'timed out' : command.signal ? `ended by signal ${command.signal}` : `exit code ${command.exit_code}`;
  return el('div', { class: 'judge' }, el('p', { class: 'note' }, el('code', {}, command.argv.join(' ')), ` · ${end}`, command.sealed && ` · seal: ${sealText(command.sealed)}`),
    ['stdout', 'stderr'].map((name) => {
      const file = texts.find((one) => one.path === command[name]);
      return file && file.text && fold(name === 'stdout' ? 'Standard output' : 'Standard error', () => textBlock(file.text, { label: name, omitted: file.omitted }));
    }));
}

function otherDetails(grader) {
  const rest = Object.entries(grader.details || {}).filter(([name]) => name !== 'votes');
  return rest.length > 0 && fold('Details', () => textBlock(json(Object.fromEntries(rest)), { label: 'Details' }));
}
