/** The result of a run, in lines for a terminal. */

import type { ChangedFile } from '../changes/change.ts';
import { describeTokens } from '../conversation/conversation.ts';
import { FLAGS, type Flag } from '../review/flag.ts';
import type { RunOutcome } from '../run/outcome.ts';
import type { RunResult } from '../run/result.ts';
import { listed } from '../text/words.ts';

/** Maximum number of names in one line. */
const MAX_NAMED = 5;

/** One line for each flag, with the paths: `second look: a, b: became executable`. */
export function flagLines(flags: readonly Flag[]): string[] {
  const names = [...new Set(flags.map(({ flag }) => flag))];
  return names.map((name) => {
    const found = flags.filter(({ flag }) => flag === name);
    const named = found.map(({ path, detail }) => (detail ? `${path} (${detail})` : path));
    return `second look: ${listed(named, MAX_NAMED, 'file')}: ${FLAGS[name]}`;
  });
}

/** The last line on stderr; the same for every outcome. */
export function finalLine({ name, exitCode, errorCode, reason }: RunOutcome): string {
  const code = errorCode === null ? '' : ` [${errorCode}]`;
  return `patchsmith: ${name} (exit ${exitCode})${code}: ${reason}`;
}

/** `3 turns · 12,345 tokens, 81% of the prompts from the cache · $0.0123 · 12.3 s`. */
export function costLine(result: RunResult): string {
  const { iterations, tokens, costUsd, estimated, durations, provider } = result;
  const mark = estimated ? ' (estimated)' : '';
  return [
    `${iterations} ${iterations === 1 ? 'turn' : 'turns'}`,
    costUsd === 'unknown' ? `${describeTokens(tokens)}${mark}` : describeTokens(tokens),
    `${costUsd === 'unknown' ? 'cost unknown (give --price)' : `$${costUsd.toFixed(4)}`}${provider === 'replay' ? ' when it was recorded' : ''}${costUsd === 'unknown' ? '' : mark}`,
    `${(durations.totalMs / 1000).toFixed(1)} s`,
  ].join(' · ');
}

/** Whether the tests of the patch prove it, and how that is known. */
export function proofLine({ status, why }: NonNullable<RunResult['testProof']>): string {
  return `${status.replace('_', ' ')}: ${why}`;
}

/** One line per file: `M src/a.ts +3 −1`, `R old → new`. */
export function fileLine(file: ChangedFile): string {
  const letter = { create: 'A', modify: 'M', delete: 'D', rename: 'R', mode: 'M' }[file.kind];
  const name = file.from === undefined ? file.path : `${file.from} → ${file.path}`;
  const lines = file.additions === null ? 'binary' : `+${file.additions} −${file.deletions ?? 0}`;
  return `${letter} ${name} ${file.kind === 'mode' ? 'mode' : lines}`;
}
