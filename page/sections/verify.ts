/** The verify commands. */

import type { CommandReport } from '../../src/domain/run/events.ts';
import { block, folded, h, put } from '../dom.ts';
import { duration } from '../format.ts';
import type { Run } from '../run.ts';

/** The last verification, and the results of the same commands before the work. */
export function verifySection(run: Run): HTMLElement {
  const { verify, verifyIn, verifyBaseline, preexistingFailures, flaky, setup, testProof } = run.data.result;
  const section = h(
    'section',
    { id: 'verify', 'aria-labelledby': 'verify-title' },
    h('h2', { id: 'verify-title' }, 'Verification'),
  );
  if (verify.length === 0)
    put(
      section,
      h('p', {}, 'No verify command ran at the end, so nothing but the model says that the change works.'),
    );
  else {
    const where =
      verifyIn === 'checkout' ? 'in a fresh checkout of the base with the patch' : 'in the work tree';
    put(section, h('p', {}, `Run by patchsmith itself ${where}.`), reportsList(verify, run));
  }
  if (testProof !== null)
    put(
      section,
      h('h3', {}, `Tests of the patch: ${testProof.status.replace('_', ' ')}`),
      h('p', { class: testProof.status === 'not_proven' ? 'callout warn' : '' }, testProof.why),
      reportsList(testProof.reports, run),
    );
  if (flaky.length > 0)
    put(
      section,
      h('p', { class: 'callout' }, `Flaky, failed and passed on the same files: ${flaky.join(', ')}`),
    );
  if (preexistingFailures.length > 0)
    put(
      section,
      h('p', { class: 'callout' }, `Failed as before the work: ${preexistingFailures.join(', ')}`),
    );
  if (verifyBaseline !== null && verifyBaseline.length > 0)
    put(section, h('h3', {}, 'Before the work'), reportsList(verifyBaseline, run));
  if (setup.length > 0) put(section, h('h3', {}, 'Setup'), reportsList(setup, run));
  return section;
}

/** Commands and how they ended. The output of failed ones is shown open. */
export function reportsList(reports: readonly CommandReport[], { data }: Run): HTMLElement {
  return h(
    'div',
    { class: 'reports' },
    reports.map(({ command, end, output }) => {
      const passed = end.exitCode === 0 && !end.timedOut && !end.interrupted;
      const isOld = !passed && data.result.preexistingFailures.includes(command);
      return folded(
        { class: `report ${passed ? 'passed' : isOld ? 'old' : 'broken'}`, open: !passed },
        [
          h('span', { class: 'badge' }, passed ? 'passed' : isOld ? 'failed before' : 'failed'),
          h('code', {}, command),
          h('span', { class: 'state' }, `${endOf(end)} · ${duration(end.durationMs)}`),
        ],
        () => [
          output.trim() === ''
            ? h('p', { class: 'note' }, 'It printed nothing.')
            : block(output, `Output of ${command}`),
        ],
      );
    }),
  );
}

function endOf({ timedOut, interrupted, exceeded, signal, exitCode }: CommandReport['end']): string {
  if (interrupted) return 'interrupted';
  if (timedOut) return 'timed out';
  if (exceeded !== undefined) return `killed: over the limit of ${exceeded}`;
  return signal ?? `exit ${exitCode ?? 'unknown'}`;
}
