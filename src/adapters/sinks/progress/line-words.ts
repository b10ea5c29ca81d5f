/** The words in the lines about a run's events. */

import type { ContextCompacted } from '../../../domain/conversation/compaction.ts';
import { describeEndAndTime, type ToolOutcome } from '../../../domain/conversation/tool.ts';
import { type Finding, placeOf } from '../../../domain/findings/review.ts';
import type { RunEvent } from '../../../domain/run/events.ts';
import { shortened } from '../../../domain/text/shorten.ts';
import { oneLine } from '../../../domain/text/terminal.ts';
import { formatNumber, pluralize } from '../../../domain/text/words.ts';

/**
 * One line, without its line ending. `bad` means that something failed; `output` is what a command printed: several
 * lines, each after a mark, safe to print.
 */
export interface Line {
  readonly as: 'note' | 'bad' | 'warning' | 'output' | 'command';
  readonly text: string;
}

/** What a reviewer found. */
export function findingLine(finding: Finding): Line {
  const { severity, problem } = finding;
  return line(severity === 'blocking', `    ${severity}: ${placeOf(finding)}: ${shortened(problem, 300)}`);
}

/** A line that nobody has to act on. */
export function note(text: string): Line {
  return { as: 'note', text };
}

/** A line about an end, good or bad. */
export function line(isBad: boolean, text: string): Line {
  return { as: isBad ? 'bad' : 'note', text };
}

/** How a call ended, behind what it was; nothing for one that has no end of its own. */
export function endOf(outcome: ToolOutcome): string {
  if (outcome.status === 'finished') return '';
  if (outcome.command) return ` → ${describeEndAndTime(outcome.command)}`;
  if (outcome.status !== 'failed') return '';
  // Its text names the tools that there are, for the author of a script or a plan, too.
  return outcome.reason === 'unknown_tool'
    ? ` → failed: ${outcome.reason}. ${oneLine(outcome.text, 500)}`
    : ` → failed: ${outcome.reason}`;
}

/** What the result itself told the model; nothing if it has all of it. */
export function truncationOf({ text }: ToolOutcome): string {
  const [, shown] = /^\[OUTPUT TRUNCATED: Showing ([\d,]+ of [\d,]+) characters from /m.exec(text) ?? [];
  return shown === undefined ? '' : ` (truncated: ${shown} characters)`;
}

/** The changes of commands and of outsiders, by who made them. */
export function bySource(event: RunEvent & { type: 'change.recorded' }): { by: string; files: string }[] {
  const counts = new Map<string, string[]>();
  for (const { source, path } of event.changes) {
    if (source.by === 'tool' && source.tool !== 'run_command') continue;
    const by =
      source.by === 'tool'
        ? 'the command'
        : source.by === 'outside'
          ? 'something outside the run'
          : `${source.by} commands`;
    const paths = counts.get(by);
    if (paths) paths.push(path);
    else counts.set(by, [path]);
  }
  return [...counts].map(([by, paths]) => ({ by, files: fewOrMany(paths) }));
}

/** The names of up to three files; of more, how many they are. */
export function fewOrMany(paths: readonly string[]): string {
  return paths.length > 3 ? pluralize(paths.length, 'file') : paths.join(', ');
}

/** At most so many lines, from the end. Tables pad theirs with spaces. */
export function lastLines(text: string, lines: number): string {
  const last = text.trimEnd().split('\n').slice(-lines);
  return last.map((line) => line.trimEnd()).join('\n');
}

/** Such as `the conversation of 81,234 tokens was summarised: 34 messages in 1,201 tokens`. */
export function compactionLine({ how, tokens, cut, turn }: ContextCompacted): string {
  const gone = pluralize(cut - 1, 'message');
  const was = `the conversation of ${formatNumber(tokens)} tokens was`;
  if (turn === undefined) return `${was} cut: ${gone} dropped`;
  const by = how === 'server' ? 'compacted by the API' : 'summarised';
  const { output } = turn.usage;
  // A script counts nothing.
  return `${was} ${by}: ${gone}${output === 0 ? '' : ` in ${formatNumber(output)} tokens`}`;
}
