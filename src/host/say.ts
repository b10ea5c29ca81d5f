/** Lines for people, on stderr, and how wide they may be. */

import type { Writable } from 'node:stream';
import { finalLine } from '../domain/report/result-lines.ts';
import type { RunOutcome } from '../domain/run/outcome.ts';
import { oneLine } from '../domain/text/terminal.ts';
import type { CommandOutcome, HostContext } from './context.ts';

/** Characters of a line; longer ones are cut. */
const MOST_CHARACTERS = 4_000;

/** Prints exactly one line, whatever is in it, without secrets. */
export function sayTo(
  { stderr, redact }: Pick<HostContext, 'stderr' | 'redact'>,
  mostCharacters = MOST_CHARACTERS,
): (line: string) => void {
  return (line) => void stderr.write(`${oneLine(redact(line), mostCharacters)}\n`);
}

/** Prints how a command ended, as its last line. */
export function sayEnd(host: Pick<HostContext, 'stderr' | 'redact'>, outcome: RunOutcome): CommandOutcome {
  sayTo(host)(finalLine(outcome));
  return { status: 'printed', outcome };
}

/** The width of the terminal; no limit elsewhere: a pipe gets whole lines. */
export function columnsOf(stream: Writable): number {
  const { isTTY, columns } = stream as Partial<NodeJS.WriteStream>;
  return isTTY === true && columns ? columns : Number.POSITIVE_INFINITY;
}
