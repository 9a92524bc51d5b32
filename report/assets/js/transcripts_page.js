// A page of transcripts without a run: any ATIF documents.

function startTranscripts(index) {
  const main = el('main', { id: 'main', tabindex: -1 });
  document.body.append(main, el('div', { id: 'announcements', class: 'hidden', role: 'status', 'aria-live': 'polite' }));
  const shownAt = () => Math.min(Math.max(0, (Number(location.hash.slice(2)) || 1) - 1), index.transcripts.length - 1);
  const draw = () => {
    const at = shownAt();
    replace(main, ...transcriptPage(index.transcripts, at));
    document.title = plain(index.transcripts[at].name);
  };
  addEventListener('hashchange', draw);
  addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest('pre')) return;
    const step = { ArrowLeft: -1, k: -1, ArrowRight: 1, j: 1 }[event.key];
    const next = shownAt() + step;
    if (step && next >= 0 && next < index.transcripts.length) location.hash = `#/${next + 1}`;
    if (event.key === 't') toggleTheme();
  });
  draw();
  document.documentElement.dataset.ready = String(Math.round(performance.now()));
}

function transcriptPage(transcripts, at) {
  const { name, document: trajectory } = transcripts[at];
  const { agent = {}, final_metrics: totals = {} } = trajectory;
  const fact = (label, value) => value !== undefined && value !== null && el('div', {}, el('dt', {}, label), el('dd', {}, value));
  const verdict = trajectory.extra?.evalsuite || trajectory.extra?.reward;
  return [
    el('header', { class: 'case-head' }, el('div', { class: 'title' }, el('h1', { class: 'path' }, nameText(name, 2000)), verdict && verdictPill(verdict))),
    transcripts.length > 1 && el('div', { class: 'tabs', role: 'tablist', 'aria-label': 'Transcripts' }, transcripts.map((it, number) => el('a', { role: 'tab', href: `#/${number + 1}`, 'aria-selected': String(number === at), tabindex: number === at ? 0 : -1 }, it.name.split('/').slice(-2).join('/')))),
    el('div', { class: 'columns' },
      el('div', { class: 'main' }, el('section', { class: 'part' }, el('h2', {}, 'Transcript'), transcript(trajectory)), subagents(trajectory)),
      el('aside', { class: 'facts', 'aria-label': 'Facts' }, el('dl', {},
        fact('Agent', [agent.name, agent.version].filter(Boolean).join(' ')), fact('Model', agent.model_name), fact('Format', trajectory.schema_version), fact('Session', trajectory.session_id),
        fact('Input tokens', totals.total_prompt_tokens !== undefined ? count(totals.total_prompt_tokens) : undefined), fact('Cached', totals.total_cached_tokens !== undefined ? count(totals.total_cached_tokens) : undefined),
        fact('Output tokens', totals.total_completion_tokens !== undefined ? count(totals.total_completion_tokens) : undefined), fact('Cost', typeof totals.total_cost_usd === 'number' ? dollars(totals.total_cost_usd) : undefined),
        fact('Notes', trajectory.notes)))),
  ].filter(Boolean);
}

function verdictPill(verdict) {
  const code = CODE_OF[verdict.outcome] || (verdict.pass === true ? 'p' : verdict.pass === false ? 'f' : 'u');
  return [pill(code), typeof verdict.score === 'number' && el('span', { class: 'score-fact' }, el('strong', {}, score(verdict.score)))];
}

function subagents(trajectory, depth = 0) {
  const others = Array.isArray(trajectory.subagent_trajectories) ? trajectory.subagent_trajectories : [];
  if (!others.length || depth > 8) return null;
  return el('section', { class: 'part' }, el('h2', {}, 'Sub-agents'), others.map((other, at) => fold(other.agent?.name || other.trajectory_id || `Sub-agent ${at + 1}`, () => [transcript(other), subagents(other, depth + 1)])));
}
