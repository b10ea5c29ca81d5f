/** Tries the tests of a patch without the rest of it, in a fresh checkout of the base. */

import { runInPlace } from '../../agent/verification.ts';
import type { PathChange } from '../../domain/changes/change.ts';
import { pathMatcher } from '../../domain/changes/path-policy.ts';
import { whole } from '../../domain/conversation/excerpt.ts';
import { describeEnd, succeeded } from '../../domain/conversation/tool.ts';
import { isTestData, isTestFile } from '../../domain/review/weakened-tests.ts';
import { whyFailed } from '../../domain/review/why-failed.ts';
import type { CommandReport } from '../../domain/run/events.ts';
import type { TestProof } from '../../domain/run/result.ts';
import { judgeReports } from '../../domain/run/verify-baseline.ts';
import type { Ready } from '../ready.ts';
import type { Session } from '../session.ts';
import type { LoopEnd } from './finish.ts';

/**
 * Null if the patch has no tests, the work did not pass verification, or no proof was wanted. What fails there proves something only
 * if it passes in the same place with the whole patch: `--verify-in checkout` has seen that, and otherwise it is tried.
 */
export async function proveTests(
  session: Session,
  { start, provePlace, redact, interrupt }: Ready,
  { state, stop }: LoopEnd,
): Promise<TestProof | null> {
  const { proveTests: wanted, testPaths } = session.input.settings;
  const passed = state.reports.length > 0 && state.reports.every(({ end }) => succeeded(end));
  if (wanted === 'off' || start.replayOf !== undefined || stop?.why !== 'completed' || !passed) return null;
  const net = state.changes.net();
  const isTest = testPaths.length > 0 ? pathMatcher(testPaths) : isTestFile;
  const named = net.filter(({ path, after }) => after !== null && isTest(path));
  if (named.length === 0) return null;
  // What tests read belongs to them, and so does one that is gone: under its old name it would fail beside the new one.
  const tests = net.filter(({ path }) => isTest(path) || (testPaths.length === 0 && isTestData(path)));
  const ended = (status: TestProof['status'], why: string, reports: CommandReport[] = []): TestProof => {
    return { status, why, tests: named.map(({ path }) => path).slice(0, 100), reports };
  };
  if (tests.length === net.length)
    return ended('not_applicable', 'The patch has nothing but tests, so they show nothing about it.');
  const commands = { setup: provePlace.setup, commands: start.verify };
  const { verifyTimeoutMs: timeoutMs, flakyReruns: reruns } = start.toolSettings;
  const tried = async (changes: readonly PathChange[]): Promise<CommandReport[] | TestProof> => {
    const opened = await provePlace.open(changes, interrupt);
    if (opened.status === 'interrupted') return ended('not_proven', OUT_OF_TIME);
    const reports = await runInPlace(opened, commands, interrupt, { redact, timeoutMs, reruns });
    if (interrupt.aborted || reports.some(({ end }) => end.interrupted))
      return ended('not_proven', OUT_OF_TIME);
    const other = reports.find(({ command }) => !start.verify.includes(command));
    if (other !== undefined)
      return ended(
        'not_applicable',
        `In a fresh checkout of the base, this failed before the tests could: ${other.command}.`,
      );
    const late = reports.find(({ end }) => end.timedOut);
    return late === undefined
      ? reports
      : ended('not_proven', `There, a verify command took too long: ${late.command}.`);
  };
  const without = await tried(tests);
  if ('status' in without) return without;
  const failed = without.find(({ end }) => !succeeded(end));
  if (failed === undefined) return ended('not_proven', PASSES_ANYWAY, without);
  const passing = start.verifyIn === 'checkout' ? state.reports : await tried(net);
  if ('status' in passing) return { ...passing, reports: without };
  if (passing.some(({ end }) => !succeeded(end))) return ended('not_proven', FAILS_ANYWAY, without);
  const says = failed.why;
  if (says !== undefined && passing.some(({ output }) => whyFailed(whole(output)) === says))
    return ended('not_proven', `${FAILS_SILENTLY}: ${says}.`, without);
  const alone = start.verifyBaseline ?? (await tried([]));
  if ('status' in alone) return { ...alone, reports: without };
  if (judgeReports([failed], alone).failed.length === 0)
    return ended('not_applicable', FAILS_BEFORE, without);
  const why = failed.why === undefined ? '' : `: ${failed.why}`;
  return ended(
    'proven',
    `Without the rest of the patch, ${failed.command} fails (${describeEnd(failed.end)})${why}.`,
    without,
  );
}

const PASSES_ANYWAY = 'The verify commands pass on the base with only its tests, which so prove nothing.';
const FAILS_ANYWAY = 'In a fresh checkout, the verify commands fail with the whole patch too: see --setup.';
const FAILS_SILENTLY =
  'The verify commands succeed with the whole patch, but their output names the same failure';
const FAILS_BEFORE = 'The base fails in the same way without the tests of the patch, so they show nothing.';
const OUT_OF_TIME = 'There was not enough time to try the tests without the rest of the patch.';
