/** The task of the run, its files, its environment, and how to use the patch. */

import type { ReportData } from '../../src/domain/report/report-data.ts';
import type { PlanSource } from '../../src/domain/run/plan.ts';
import type { RunResult } from '../../src/domain/run/result.ts';
import { formatNumber, formatSize } from '../../src/domain/text/words.ts';
import { block, type Child, facts, folded, h, section } from '../dom.ts';
import { moment, sizeText } from '../format.ts';
import type { Run } from '../run.ts';

/** The section about the run directory and the machine. */
export function aboutSection(run: Run): HTMLElement {
  const { result, files } = run.data;
  const next = result.patch !== null && nextSteps(result);
  return section('files', 'Files and environment', tableOf(files), environmentOf(run), next);
}

function tableOf(files: ReportData['files']): HTMLElement {
  const head = (name: string) => h('th', { scope: 'col' }, name);
  return h(
    'table.list',
    h(
      'thead',
      h('tr', head('In the run directory'), head('What it is'), h('th.num', { scope: 'col' }, 'Size')),
    ),
    h(
      'tbody',
      files.map(({ name, what, size }) =>
        h('tr', h('td', h('code', name)), h('td', what), h('td.num', sizeText(size))),
      ),
    ),
  );
}

/** What the run worked on, and in. */
function environmentOf({ data, started }: Run): HTMLElement {
  const { result, madeAt, madeBy, events } = data;
  const { baseSha, baseBranch, baseDirty, network, commandLimits, sandbox } = result;
  const code = (text: string | null | undefined): Child => text && h('code', text);
  const hash = (text: string | null | undefined): Child => text && h('code.hash', text);
  const base = `${baseBranch ?? 'detached'} @ ${baseSha ?? 'no commit'}`;
  const later = result.models
    .slice(1)
    .map(({ provider, model, role }) => `${provider}, ${model}${role === 'review' ? ' (review)' : ''}`);
  const models = [`${result.provider ?? 'unknown'}, ${result.model}`, ...later];
  const limits = commandLimits && [
    `${formatNumber(commandLimits.processes.limit)} processes`,
    `${formatSize(commandLimits.memoryBytes.limit)} of memory`,
    `${formatSize(commandLimits.diskBytes.limit)} of disk`,
  ];
  return facts([
    ['Run', code(result.runId)],
    ['Began', events[0] && moment(events[0].at)],
    ['Replay of', started?.replayOf],
    ['Work tree', code(started?.root)],
    ['Working directory', code(result.workingDirectory)],
    ['Base', (baseSha ?? baseBranch) && `${base}${baseDirty ? ', with uncommitted changes' : ''}`],
    ['Tree with the patch', hash(result.treeSha)],
    ['SHA-256 of the patch', hash(result.patch?.sha256)],
    ['Provider and model', result.model && models.join('; then ')],
    ['Sandbox', sandbox === 'none' ? 'none: commands were not contained' : sandbox],
    ['Network of commands', network && networkOf(network.allowed)],
    ['Limits of commands', limits?.join(', ')],
    ['patchsmith', `${result.patchsmith}; this page was made by ${madeBy} at ${moment(madeAt)}`],
  ]);
}

/** What can be done with the patch. */
function nextSteps({ uncommittedPatch, runId }: RunResult): HTMLElement {
  const apply = `git apply --index ${uncommittedPatch === null ? '' : 'uncommitted.patch '}changes.patch`;
  const blame = h('code', `patchsmith blame ${runId}`);
  const intro = 'Apply the patch in a checkout of the base: ';
  return h('p', intro, h('code', apply), '. Which call made each line: ', blame, '.');
}

/** Which hosts commands could reach. Null: there was no sandbox. */
function networkOf(allowed: readonly string[] | null): string {
  if (allowed === null) return 'whatever the machine can reach: commands were not contained';
  return allowed.length === 0 ? 'none' : allowed.join(', ');
}

/** Longer tasks start collapsed. */
const SHORT = 1_500;

/** Title, source and globs, and the task as the model received it. */
export function planSection({ data: { result }, started }: Run): HTMLElement {
  const { plan, paths, principles } = result;
  if (plan === null) return section('plan', 'Plan', h('p', 'The run ended before its plan was read.'));
  const globs = (name: 'allow' | 'protect') => {
    const all = [...new Set([...plan[name], ...(paths?.[name] ?? [])])];
    return all.length === 0 ? null : all.slice(0, 100).flatMap((glob) => [h('code', glob), ' ']);
  };
  const named = principles.map(({ path, truncated }) => `${path}${truncated ? ' (truncated)' : ''}`);
  const title = 'The task, as the model was given it';
  return section(
    'plan',
    'Plan',
    facts([
      ['Title', plan.title],
      ['From', sourceOf(plan.source)],
      ['SHA-256', h('code.hash', plan.sha256)],
      ['May change', globs('allow') ?? 'all files'],
      ['Must not change', globs('protect')],
      ['Principles', named.join(', ')],
    ]),
    started !== null &&
      folded({ class: 'part', open: started.prompt.length <= SHORT }, [title], () =>
        block(started.prompt, 'The task'),
      ),
  );
}

function sourceOf(source: PlanSource): Child {
  switch (source.kind) {
    case 'file':
      return source.path;
    case 'stdin':
      return 'stdin';
    case 'message':
      return '--message';
    case 'issue':
    case 'comment':
      return h('span', link(source.url), ` by @${source.author}`);
  }
}

/** The address is also the text of the link, so that readers see where it leads. */
function link(url: string): Child {
  if (!/^https?:\/\/[^\s\\]+$/.test(url) || !URL.canParse(url)) return url;
  return h('a', { href: url, rel: 'noopener noreferrer' }, url);
}
