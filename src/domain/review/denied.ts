/**
 * What a run asked for and did not get: refusals by the policy, the sandbox or the file system, missing programs, unreachable
 * hosts. A model that reports success may have worked around these.
 */

import * as z from 'zod';
import { isGitDirName, isWithin, resolvedPath } from '../changes/path.ts';
import type { ToolCall } from '../conversation/conversation.ts';
import { laneOf, type ToolOutcome } from '../conversation/tool.ts';
import { jsonOrUndefined } from '../text/json.ts';
import { shortened } from '../text/shorten.ts';
import { oneLine } from '../text/terminal.ts';
import { listed } from '../text/words.ts';
import { placeIn, REFUSED, signIn } from './denial-signs.ts';
import type { AskedHost } from './egress.ts';

/** One thing that was denied. Strings are printable, on one line. */
export const Denial = z.strictObject({
  kind: z
    .enum(['policy', 'sandbox', 'missing_tool', 'network'])
    .describe(
      'policy: allow, protect, .git and paths outside; sandbox: it, or the file system, is read-only there; missing_tool: a program that is not in the sandbox, or a tool that there is not',
    ),
  what: z.string().describe('Path, program or host; the command where its output does not name one'),
  calls: z
    .array(z.string())
    .describe('Ids of the calls; several when commands ran side by side, none where no call is known'),
  commands: z
    .array(z.string())
    .optional()
    .describe(
      'If no call asked, the setup or verify commands, shortened; several where any of them may have',
    ),
  why: z
    .string()
    .describe(
      'Why, in words of the runner; of a command, the line of its output that says so, which is all that is known',
    ),
});
export type Denial = z.infer<typeof Denial>;

/** Whether a run to which something was denied went well. */
export const IF_DENIED = ['report', 'error'] as const;

/** Denials that a result names; the rest is counted. */
export const MAX_DENIALS = 100;
const MAX_OF_A_CALL = 10;
const MAX_WHAT = 200;
const MAX_WHY = 300;

/** All denials of a run. Bounded, with the number of all. */
export interface Denials {
  readonly named: readonly Denial[];
  readonly count: number;
}

/** None yet. */
export const NO_DENIALS: Denials = { named: [], count: 0 };

/** Both lists together; entries about the same calls count once. */
export function withDenials(before: Denials, more: readonly Denial[]): Denials {
  const known = new Set(before.named.map(keyOf));
  const fresh = more.filter((denial) => !known.has(keyOf(denial)));
  return {
    named: [...before.named, ...fresh].slice(0, MAX_DENIALS),
    count: before.count + fresh.length,
  };
}

function keyOf({ kind, what, calls, commands }: Denial): string {
  return JSON.stringify([kind, what, calls, commands]);
}

/** The context of a call, and what is known about it before it ends. */
export interface CallPlace {
  /** Absolute path of the work tree. */
  readonly root: string;
  /** What was denied to calls so far. */
  readonly known: readonly Denial[];
}

/** The denials that the end of one call shows, besides the hosts that are known to have been refused to it. */
export function denialsOf(call: ToolCall, outcome: ToolOutcome, { root, known }: CallPlace): Denial[] {
  if (outcome.status === 'finished') return [];
  const of = denialBy({ calls: [call.id] });
  if (outcome.command !== undefined) {
    const command = shortened(inputText(call, 'command') ?? call.name, MAX_WHAT);
    const hosts = known.filter(({ kind, calls }) => kind === 'network' && calls.includes(call.id));
    return deniedToCommand(command, outcome, of).filter((denial) => !isKnown(denial, hosts));
  }
  if (outcome.status === 'ok') return [];
  const { reason, text } = outcome;
  if (reason === 'policy' && call.name === 'web_fetch') return [of('network', hostIn(call, text), text)];
  const path = inputText(call, 'path') ?? call.name;
  if (reason === 'policy') return [of('policy', path, text)];
  if (reason !== 'path_refused') return [];
  if (/\((?:EROFS|EACCES|EPERM)\)/.test(text)) return [of('sandbox', path, text)];
  const isOutside = laneOf(call.name) === 'write' && leadsOutside(path, text, root);
  // Other paths that are refused are mistakes, such as the name of a folder, and are put right in the next call.
  const isOffLimits = path.split('/').some((part) => part === '..' || isGitDirName(part));
  return isOutside || isOffLimits || text.includes('lies in the submodule') ? [of('policy', path, text)] : [];
}

/** The proxy knows more about refused hosts than commands print. */
function isKnown({ kind, what, why }: Denial, hosts: readonly Denial[]): boolean {
  if (kind !== 'network' || hosts.length === 0) return false;
  const isUnnamed = !why.includes(what);
  return (
    why.includes(REFUSED) ||
    hosts.some((host) => host.what === what || (isUnnamed && why.includes(host.what)))
  );
}

/** An absolute path of the work tree is a mistake, and so is a link to another place in it. */
function leadsOutside(path: string, text: string, root: string): boolean {
  if (path.startsWith('/')) return !isWithin(resolvedPath('/', path), root);
  const found = LINK.exec(text);
  if (found === null) return false;
  const [link, target] = [jsonOrUndefined(found[1] ?? ''), jsonOrUndefined(found[2] ?? '')];
  // What was hidden in a name, as something like a token, may have been half of an escape.
  if (typeof link !== 'string' || typeof target !== 'string') return true;
  return !isWithin(resolvedPath(resolvedPath(root, `${link}/..`), target), root);
}

/** As the work tree's files say it. */
const LINK = /^("(?:[^"\\]|\\.)*") is a symbolic link to ("(?:[^"\\]|\\.)*");/;

/** Who asked: calls of the model, or commands of the operator. */
export interface Askers {
  readonly calls?: readonly string[];
  readonly commands?: readonly string[];
}

/** Forbidden changes by commands that the runner reverted. */
export function deniedChanges(paths: readonly string[], askers: Askers, by: string): Denial[] {
  const of = denialBy(askers);
  return paths.map((path) => of('policy', path, `Changed by ${by} and put back: it may not change.`));
}

/** Files of a writable mount that have a name outside of it, and that commands have changed. */
export function deniedLinks(paths: readonly string[]): Denial[] {
  const why = 'Changed during the run, and so is the file outside of the mount that it is a hard link to.';
  return paths.map((path) => denialBy({})('sandbox', path, why));
}

/** The hosts that were refused to commands. If it is not known who asked, a host that is already `known` to be denied is not listed again. */
export function deniedHosts(asked: readonly AskedHost[], known: readonly Denial[]): Denial[] {
  const named = new Set(known.filter(({ kind }) => kind === 'network').map(({ what }) => what));
  return asked
    .filter(({ by, outcome }) => outcome === 'refused' && (by === 'command' || by === 'mcp'))
    .filter(({ host, calls, commands = [] }) => calls.length + commands.length > 0 || !named.has(host))
    .map(({ host, why, calls, commands = [] }) => denialBy({ calls, commands })('network', host, why));
}

/** `.github/ci.yml (policy), eslint (missing tool) and 3 more`; empty when nothing was denied. */
export function describeDenials({ named, count }: Denials): string {
  const names = [...new Set(named.map(({ what, kind }) => `${what} (${DENIAL_KIND[kind]})`))];
  const more = count > named.length ? ` (${count} in all)` : '';
  return `${listed(names, 5)}${more}`;
}

/** The kinds, in words. */
export const DENIAL_KIND: Readonly<Record<Denial['kind'], string>> = {
  policy: 'policy',
  sandbox: 'sandbox or file system',
  missing_tool: 'not found',
  network: 'network',
};

type MakeDenial = (kind: Denial['kind'], what: string, why: string) => Denial;

function denialBy({ calls = [], commands = [] }: Askers): MakeDenial {
  return (kind, what, why) => ({
    kind,
    what: oneLine(what, MAX_WHAT),
    calls: calls.map((id) => oneLine(id)),
    ...(commands.length > 0 && { commands: commands.map((command) => oneLine(command, MAX_WHAT)) }),
    why: oneLine(why, MAX_WHY),
  });
}

/** By what programs print: nothing else is known of what happens in a command. The shell's own line counts whatever the exit code. */
function deniedToCommand(
  command: string,
  { status, text, command: end, signs }: Exclude<ToolOutcome, { status: 'finished' }>,
  of: MakeDenial,
): Denial[] {
  const found = new Map<string, Denial>();
  for (const line of signs ?? linesOf(text)) {
    const sign = signIn(line, status);
    if (sign === null || found.size >= MAX_OF_A_CALL) continue;
    if (sign.unlessExit !== undefined && sign.unlessExit === end?.exitCode) continue;
    const denial = of(sign.kind, sign.what ?? command, line.trim());
    found.set(`${denial.kind} ${denial.what}`, denial);
  }
  if (end?.exitCode === 127 && ![...found.values()].some(({ kind }) => kind === 'missing_tool'))
    found.set(
      '',
      of('missing_tool', command, 'The command ended with exit code 127: a program was not found.'),
    );
  return [...found.values()];
}

/** Without the notice about truncated output, which repeats the command. */
function linesOf(text: string): string[] {
  return text.split('\n').filter((line) => !line.startsWith('[OUTPUT TRUNCATED: '));
}

/** Most places of one run that are looked at. */
const MAX_PLACES = 20;

/**
 * The same and more: places that a command which ended well says it could not write to. That is no denial, since it may be the text
 * of a file; where nothing was written at all, it tells why.
 */
export function withUnwritable(
  before: readonly Denial[],
  call: ToolCall,
  outcome: ToolOutcome,
): readonly Denial[] {
  if (outcome.status !== 'ok' || outcome.signs === undefined) return before;
  const of = denialBy({ calls: [call.id] });
  const more = outcome.signs.flatMap((line) => {
    const place = placeIn(line);
    return place === null ? [] : [of('sandbox', place, line.trim())];
  });
  return more.length === 0 ? before : [...before, ...more].slice(0, MAX_PLACES);
}

/** The host that a page reader names, which a redirection may have led to, or the one that was asked for. */
function hostIn(call: ToolCall, text: string): string {
  const url = inputText(call, 'url') ?? '';
  const asked = URL.canParse(url) ? new URL(url).host : '';
  return /^Not read: (\S+) is not one of the hosts/.exec(text)?.[1] ?? (asked || call.name);
}

function inputText({ input }: ToolCall, key: string): string | null {
  const value =
    typeof input === 'object' && input !== null ? (input as Record<string, unknown>)[key] : undefined;
  return typeof value === 'string' ? value : null;
}
