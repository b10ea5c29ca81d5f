/** What programs print when something is denied to them: nothing else is known of what happens in a command. */

import type { ToolOutcome } from '../conversation/tool.ts';

/** Before what the sandbox refuses, in the output of commands. */
export const REFUSED = 'Refused by the sandbox: ';

/** Longer lines are no messages for people. */
export const MAX_SIGN_CHARS = 2_000;

/** A denial as a line says it. */
export interface DenialSign extends Pick<Sign, 'kind' | 'unlessExit'> {
  /** Path, program or host; null where the line does not name it. */
  readonly what: string | null;
}

/** What was denied to a command that ended like this, according to a line of its output; null if the line mentions no denial. */
export function signIn(line: string, status: ToolOutcome['status']): DenialSign | null {
  if (line.length > MAX_SIGN_CHARS || !HINT_OF_DENIAL.test(line)) return null;
  for (const { pattern, isCertain, ...sign } of SIGNS) {
    const found = isCertain || status === 'failed' ? pattern.exec(line) : null;
    if (found !== null) return { ...sign, what: found.groups?.what ?? null };
  }
  return null;
}

/** Those lines that say so of a command that ended like this. */
export function signsIn(lines: readonly string[], status: ToolOutcome['status']): string[] {
  return lines.filter((line) => signIn(line, status) !== null);
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

const SIGNS: readonly Sign[] = [
  {
    kind: 'missing_tool',
    pattern: /^\/(?:usr\/)?bin\/bash: line \d+: (?<what>[^:]+): command not found$/,
    isCertain: true,
  },
  {
    kind: 'missing_tool',
    pattern: /^(?:\S*\/)?(?:ba|da|z)?sh: (?:line )?\d+: (?<what>[^:]+): (?:command )?not found$/,
  },
  {
    kind: 'missing_tool',
    pattern: /^(?:\S*\/)?env: ['‘"]?(?<what>[^'’":]+)['’"]?: No such file or directory$/,
  },
  {
    kind: 'sandbox',
    pattern: /^\/(?:usr\/)?bin\/bash: line \d+: (?<what>[^:]+): Read-only file system$/,
    isCertain: true,
  },
  // So says the shell of a program that may not be executed, too, which is a mistake and put right in the next call.
  {
    kind: 'sandbox',
    pattern: /^\/(?:usr\/)?bin\/bash: line \d+: (?<what>[^:]+): Permission denied$/,
    unlessExit: 126,
  },
  {
    kind: 'sandbox',
    pattern:
      /(?:cannot (?:touch|create|remove|move|overwrite)|failed to (?:create|open)|unable to (?:create|unlink)|open temporary file|^tee:).* ['‘"]?(?<what>[^\s'‘’":]+)['’"]?: Permission denied/,
  },
  {
    kind: 'sandbox',
    pattern:
      /\bEACCES: permission denied, (?:open|mkdir|unlink|rename|rmdir|symlink|copyfile) ['"](?<what>[^'"]+)['"]/,
  },
  { kind: 'sandbox', pattern: /['‘"](?<what>[^'’"]+)['’"]?: Read-only file system/ },
  { kind: 'sandbox', pattern: /(?:^|[ :])(?<what>\/[^:]*): Read-only file system/ },
  { kind: 'sandbox', pattern: /Read-only file system|\bEROFS\b/ },
  { kind: 'sandbox', pattern: /Operation not permitted|\bEPERM\b/ },
  { kind: 'network', pattern: /Could not resolve (?:host|proxy): (?<what>[\w.-]+)/ },
  { kind: 'network', pattern: /(?:EAI_AGAIN|ENOTFOUND) (?<what>[\w.-]+)/ },
  {
    kind: 'network',
    pattern: /(?:Failed to resolve '|could not translate host name ")(?<what>[\w.-]+)/,
  },
  { kind: 'network', pattern: /Refused by the sandbox: (?:.*?(?<what>[\w-]+(?:\.[\w-]+)+))?/ },
  {
    kind: 'network',
    pattern:
      /Temporary failure in name resolution|Name or service not known|Network is unreachable|\bENETUNREACH\b/,
  },
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
