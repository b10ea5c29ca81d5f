/** What programs print when something is denied to them: nothing else is known of what happens in a command. */

import type { ToolOutcome } from '../conversation/tool.ts';

/** Before what the sandbox refuses, in the output of commands. */
export const REFUSED = 'Refused by the sandbox: ';

/** Longer lines are no messages for people. */
export const MAX_SIGN_CHARS = 2_000;

/** A denial as a line says it. */
export interface DenialSign extends Pick<Sign, 'kind' | 'unlessExit'> {
  /** Lines with the same key say the same. */
  readonly key: string;
  /** Only the shell that runs the command prints it, so it counts whatever the exit code. */
  readonly isCertain: boolean;
  /** Path, program or host; null where the line does not name it. */
  readonly what: string | null;
}

/** What was denied to a command that ended like this, according to a line of its output; null if the line mentions no denial. */
export function signIn(line: string, status: ToolOutcome['status']): DenialSign | null {
  if (line.length > MAX_SIGN_CHARS || !HINT_OF_DENIAL.test(line)) return null;
  for (const [at, { pattern, isCertain = false, ...sign }] of SIGNS.entries()) {
    const found = isCertain || status === 'failed' ? pattern.exec(line) : null;
    if (found === null) continue;
    const what = found.groups?.what ?? null;
    return { ...sign, key: `${at} ${what ?? ''}`, isCertain, what };
  }
  return null;
}

/** Those lines that say so of a command that ended like this, or of a place that cannot be written to. */
export function signsIn(lines: readonly string[], status: ToolOutcome['status']): string[] {
  return lines.filter((line) => signIn(line, status) !== null || placeIn(line) !== null);
}

/** Where the sandbox or the file system kept a command from writing, as far as the line says so; null if it names no place. */
export function placeIn(line: string): string | null {
  const sign = signIn(line, 'failed');
  return sign?.kind === 'sandbox' ? sign.what : null;
}

/** A pattern that matches at least a part of every sign, cheap enough to search all output for. */
export const HINT_OF_DENIAL =
  /not found|No such file|Read-only file|EROFS|not permitted|EPERM|ermission denied|EACCES|ould not resolve|ailed to resolve|EAI_AGAIN|ENOTFOUND|could not translate|Refused by the|name resolution|Name or service|unreachable|ENETUNREACH/;

interface Sign {
  readonly kind: 'sandbox' | 'missing_tool' | 'network';
  readonly pattern: RegExp;
  /** Only the shell that runs the command prints it. */
  readonly isCertain?: boolean;
  /** With this exit code it means something else. */
  readonly unlessExit?: number;
}

/** A line of the shell that runs the command, or runs it from a file where it is long. What was printed before may have left its line open. */
function byShell(said: string): RegExp {
  return new RegExp(
    `(?:(?<!:)/(?:usr/)?bin/bash|/run/patchsmith/script|/command-\\d+\\.sh): line \\d+: (?<what>[^:]+): ${said}$`,
  );
}

function saying(kind: Sign['kind'], ...patterns: readonly RegExp[]): Sign[] {
  return patterns.map((pattern) => ({ kind, pattern }));
}

const SIGNS: readonly Sign[] = [
  { kind: 'missing_tool', pattern: byShell('command not found'), isCertain: true },
  ...saying(
    'missing_tool',
    /^(?:\S*\/)?(?:ba|da|z)?sh: (?:line )?\d+: (?<what>[^:]+): (?:command )?not found$/,
    /^(?:\S*\/)?env: ['‘"]?(?<what>[^'’":]+)['’"]?: No such file or directory$/,
    // So it says of a file of its own, too.
    /^make(?:\[\d+\])?: (?![Mm]akefile|GNUm)(?<what>[\w+-]+): No such file or directory$/,
  ),
  { kind: 'sandbox', pattern: byShell('Read-only file system'), isCertain: true },
  // So says the shell of a program that may not be executed, too, which is a mistake and put right in the next call.
  { kind: 'sandbox', pattern: byShell('Permission denied'), unlessExit: 126 },
  ...saying(
    'sandbox',
    /(?:cannot (?:touch|create|remove|move|overwrite)|failed to (?:create|open)|unable to (?:create|unlink)|open temporary file|^tee:).{0,200} ['‘"]?(?<what>[^\s'‘’":]+)['’"]?: Permission denied/,
    /\bEACCES: permission denied, (?:open|mkdir|unlink|rename|rmdir|symlink|copyfile) ['"](?<what>[^'"]+)['"]/,
    // Each of these looks at a character of the line only so often: a hostile program can print as many lines as it likes.
    /(?<!\w)['‘"](?<what>[^'‘’"]+)['’"]?: Read-only file system/,
    /(?:^|[ :])(?<what>\/(?:[^: ]| (?!\/))*): Read-only file system/,
    /(?:open temporary file|^tee:) (?<what>[^\s:]+): Read-only file system/,
    /Read-only file system|\bEROFS\b/,
    /Operation not permitted|\bEPERM\b/,
  ),
  ...saying(
    'network',
    /Could not resolve (?:host|proxy): (?<what>[\w.-]+)/,
    /(?:EAI_AGAIN|ENOTFOUND) (?<what>[\w.-]+)/,
    /(?:Failed to resolve '|could not translate host name ")(?<what>[\w.-]+)/,
    /Refused by the sandbox: (?:.*?(?<![\w-])(?<what>[\w-]+(?:\.[\w-]+)+))?/,
    /Temporary failure in name resolution|Name or service not known|Network is unreachable|\bENETUNREACH\b/,
  ),
];

/** The program that the last line about one in a command's output says is not there, and that line; null where none does. */
export function missingProgram(output: string): { readonly program: string; readonly line: string } | null {
  const signs = SIGNS.filter(({ kind }) => kind === 'missing_tool');
  for (const line of output.split('\n').reverse()) {
    if (line.length > MAX_SIGN_CHARS) continue;
    const what = signs.map(({ pattern }) => pattern.exec(line)?.groups?.what).find(Boolean);
    if (what !== undefined) return { program: what, line: line.trim() };
  }
  return null;
}
