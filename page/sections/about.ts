/** The files of the run, its environment, and how to use the patch. */

import type { ReportData } from '../../src/domain/report/report-data.ts';
import type { RunResult } from '../../src/domain/run/result.ts';
import { formatNumber, formatSize } from '../../src/domain/text/words.ts';
import { type Child, facts, h, section } from '../dom.ts';
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
