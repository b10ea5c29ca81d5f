/** The files of the run, its environment, and how to use the patch. */

import type { ReportData } from '../../src/domain/report/report-data.ts';
import type { RunResult } from '../../src/domain/run/result.ts';
import { formatNumber, formatSize } from '../../src/domain/text/words.ts';
import { facts, h, put } from '../dom.ts';
import { moment } from '../format.ts';
import type { Run } from '../run.ts';

/** The section about the run directory and the machine. */
export function aboutSection(run: Run): HTMLElement {
  const { result, files } = run.data;
  const section = h(
    'section',
    { id: 'files', 'aria-labelledby': 'files-title' },
    h('h2', { id: 'files-title' }, 'Files and environment'),
  );
  put(section, tableOf(files), environmentOf(run), result.patch !== null && nextSteps(result));
  return section;
}

function tableOf(files: ReportData['files']): HTMLElement {
  return h(
    'table',
    { class: 'list' },
    h(
      'thead',
      {},
      h(
        'tr',
        {},
        h('th', { scope: 'col' }, 'In the run directory'),
        h('th', { scope: 'col' }, 'What it is'),
        h('th', { scope: 'col', class: 'num' }, 'Size'),
      ),
    ),
    h(
      'tbody',
      {},
      files.map(({ name, what, size }) =>
        h(
          'tr',
          {},
          h('td', {}, h('code', {}, name)),
          h('td', {}, what),
          h('td', { class: 'num' }, size < 1024 ? `${size} bytes` : formatSize(size)),
        ),
      ),
    ),
  );
}

/** What the run worked on, and in. */
function environmentOf({ data, started }: Run): HTMLElement {
  const { result, madeAt, madeBy } = data;
  const { patch, baseSha, baseBranch, baseDirty, treeSha, network, commandLimits, sandbox } = result;
  const later = result.models
    .slice(1)
    .map(({ provider, model, role }) => `${provider}, ${model}${role === 'review' ? ' (review)' : ''}`);
  const first = data.events[0];
  return facts([
    ['Run', h('code', {}, result.runId)],
    ['Began', first === undefined ? null : moment(first.at)],
    ['Replay of', started?.replayOf ?? null],
    ['Work tree', started === null ? null : h('code', {}, started.root)],
    ['Working directory', result.workingDirectory ? h('code', {}, result.workingDirectory) : null],
    [
      'Base',
      baseSha === null && baseBranch === null
        ? null
        : `${baseBranch ?? 'detached'} @ ${baseSha ?? 'no commit'}${baseDirty ? ', with uncommitted changes' : ''}`,
    ],
    ['Tree with the patch', treeSha === null ? null : h('code', { class: 'hash' }, treeSha)],
    ['SHA-256 of the patch', patch === null ? null : h('code', { class: 'hash' }, patch.sha256)],
    [
      'Provider and model',
      result.model === null
        ? null
        : [`${result.provider ?? 'unknown'}, ${result.model}`, ...later].join('; then '),
    ],
    ['Sandbox', sandbox === null ? null : sandbox === 'none' ? 'none: commands were not contained' : sandbox],
    ['Network of commands', network === null ? null : networkOf(network.allowed)],
    [
      'Limits of commands',
      commandLimits === null
        ? null
        : `${formatNumber(commandLimits.processes.limit)} processes, ${formatSize(commandLimits.memoryBytes.limit)} of memory, ${formatSize(commandLimits.diskBytes.limit)} of disk`,
    ],
    ['patchsmith', `${result.patchsmith}; this page was made by ${madeBy} at ${moment(madeAt)}`],
  ]);
}

/** What can be done with the patch. */
function nextSteps({ uncommittedPatch, runId }: RunResult): HTMLElement {
  return h(
    'p',
    {},
    'Apply the patch in a checkout of the base: ',
    h('code', {}, `git apply --index ${uncommittedPatch === null ? '' : 'uncommitted.patch '}changes.patch`),
    '. Which call made each line: ',
    h('code', {}, `patchsmith blame ${runId}`),
    '.',
  );
}

/** Which hosts commands could reach. Null: there was no sandbox. */
function networkOf(allowed: readonly string[] | null): string {
  if (allowed === null) return 'whatever the machine can reach: commands were not contained';
  return allowed.length === 0 ? 'none' : allowed.join(', ');
}
