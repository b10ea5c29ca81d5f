/** The verify commands. */

import type { CommandReport } from '../../src/domain/run/events.ts';
import { block, folded, h, section } from '../dom.ts';
import { duration } from '../format.ts';
import type { Run } from '../run.ts';

/** The last verification, and the results of the same commands before the work. */
export function verifySection(run: Run): HTMLElement {
  const { verify, verifyIn, verifyBaseline, preexistingFailures, flaky, setup, testProof } = run.data.result;
  const before = verifyBaseline ?? [];
  const where =
    verifyIn === 'checkout' ? 'in a fresh checkout of the base with the patch' : 'in the work tree';
  const reports = (title: string, all: readonly CommandReport[]) =>
    all.length > 0 && [h('h3', title), reportsList(all, run)];
  const callout = (said: string, commands: readonly string[]) =>
    commands.length > 0 && h('p.callout', `${said}: ${commands.join(', ')}`);
  return section(
    'verify',
    'Verification',
    verify.length === 0
      ? h('p', 'No verify command ran at the end, so nothing but the model says that the change works.')
      : [h('p', `Run by patchsmith itself ${where}.`), reportsList(verify, run)],
    testProof && [
      h('h3', `Tests of the patch: ${testProof.status.replace('_', ' ')}`),
      h(testProof.status === 'not_proven' ? 'p.callout.warn' : 'p', testProof.why),
      reportsList(testProof.reports, run),
    ],
    callout('Flaky, failed and passed on the same files', flaky),
    callout('Failed as before the work', preexistingFailures),
    reports('Before the work', before),
    reports('Setup', setup),
  );
}

/** Whether a command ended by itself, and well. */
export function hasPassed({ exitCode, timedOut, interrupted }: CommandReport['end']): boolean {
  return exitCode === 0 && !timedOut && !interrupted;
}

/** Commands and how they ended. The output of failed ones is shown open. */
export function reportsList(reports: readonly CommandReport[], { data }: Run): HTMLElement {
  return h(
    'div.reports',
    reports.map(({ command, end, output }) => {
      const isOld = data.result.preexistingFailures.includes(command);
      const [kind, word] = hasPassed(end)
        ? ['passed good', 'passed']
        : isOld
          ? ['old warn', 'failed before']
          : ['broken bad', 'failed'];
      const state = `${endOf(end)} · ${duration(end.durationMs)}`;
      return folded(
        { class: `report ${kind}`, open: !hasPassed(end) },
        [h('span.badge', word), h('code', command), h('span.state', state)],
        () =>
          output.trim() === '' ? h('p.note', 'It printed nothing.') : block(output, `Output of ${command}`),
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
