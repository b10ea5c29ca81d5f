/**
 * The hosts that a run asks for, kept until it records them. Those that are refused to commands are named at the end of a failed
 * command's output with the flag that allows them, since many programs only report that something failed.
 */

import type { Excerpt } from '../../domain/conversation/excerpt.ts';
import { succeeded } from '../../domain/conversation/tool.ts';
import { REFUSED } from '../../domain/review/denial-signs.ts';
import {
  type AskedBy,
  type AskedHost,
  countedAs,
  type HostUse,
  type OnUsed,
  refusedToCommands,
  withUses,
} from '../../domain/review/egress.ts';
import { shortened } from '../../domain/text/shorten.ts';
import { oneLine } from '../../domain/text/terminal.ts';
import type { Sandbox, SandboxCommand } from '../../ports.ts';

/** Characters of a host. */
const MAX_HOST = 120;
/** Hosts named after one command. */
const MAX_NOTES = 10;

/** Whose command it is; neither for those of the runner itself. */
type Asker = Pick<SandboxCommand, 'call' | 'command' | 'talk'>;

/** The hosts that one process asked for, by everyone who did. */
export class EgressRecord {
  #all: readonly HostUse[] = [];
  #unrecorded = new Map<string, AskedHost>();
  /** A host is new, or was refused, since the last event. */
  #isDue = false;
  #hasNew = false;
  #wake = (): void => undefined;
  /** Commands that are running. */
  readonly #running = new Map<symbol, Asker>();

  /** All of them. */
  get all(): readonly HostUse[] {
    return this.#all;
  }

  /** Those that `take` has not returned yet. */
  get pending(): AskedHost[] {
    return [...this.#unrecorded.values()];
  }

  /**
   * The hosts since the last call, by the calls that may have asked for them. None while all that is new is how often the
   * known ones were asked for, unless it `isLast`.
   */
  take(isLast = false): AskedHost[] {
    if (!this.#isDue && !isLast) return [];
    const taken = this.pending;
    this.#unrecorded = new Map();
    this.#hasNew = false;
    this.#isDue = false;
    return taken;
  }

  /**
   * Calls `wake` once there is a host that was never asked for before, at once if it is not taken yet. As often as there are hosts
   * that are counted separately; replaces an earlier `wake`.
   */
  onNew(wake: () => void): void {
    this.#wake = wake;
    if (this.#hasNew) wake();
  }

  /** One more request; by those who are running in the sandbox if left out. */
  used({ host, outcome, why, allow = null }: Parameters<OnUsed>[0], by?: AskedBy): void {
    const asker = by ?? this.#inSandbox();
    const askers = asker === 'command' || by === undefined ? [...this.#running.values()] : [];
    this.#add({ host: shortened(oneLine(host), MAX_HOST), by: asker, outcome, times: 1, why, allow }, askers);
  }

  /** The same client, whose requests are recorded. */
  recording(by: AskedBy, ask: typeof fetch): typeof fetch {
    return async (input, init) => {
      const { host } = new URL(input instanceof Request ? input.url : input);
      try {
        const answer = await ask(input, init);
        this.used({ host, outcome: 'reached', why: '' }, by);
        return answer;
      } catch (error) {
        this.used({ host, outcome: 'failed', why: causeOf(error) }, by);
        throw error;
      }
    };
  }

  /** A server is not told apart from a command that runs beside it. */
  #inSandbox(): AskedBy {
    const running = [...this.#running.values()];
    return running.length > 0 && running.every(({ talk }) => talk !== undefined) ? 'mcp' : 'command';
  }

  #add(use: HostUse, running: readonly Asker[]): void {
    const known = this.#all.length;
    this.#all = withUses(this.#all, [use]);
    const calls = [...new Set(running.flatMap(({ call = [] }) => call))];
    const commands = [...new Set(running.flatMap(({ command = [] }) => command))];
    const counted = countedAs(use, new Set(alike(this.#all, use)));
    const key = JSON.stringify([counted.host, use.by, use.outcome, calls, commands]);
    const before = this.#unrecorded.get(key)?.times ?? 0;
    const askers = commands.length > 0 ? { calls, commands } : { calls };
    this.#unrecorded.set(key, { ...counted, times: before + counted.times, ...askers });
    const isNew = this.#all.length > known;
    this.#isDue ||= isNew || use.outcome === 'refused';
    if (!isNew) return;
    this.#hasNew = true;
    this.#wake();
  }

  /** The same sandbox, whose failed commands name the hosts that were refused while they ran. */
  naming(sandbox: Sandbox): Sandbox {
    return {
      ...sandbox,
      run: async (command) => {
        const [before, id] = [this.#refusals(), Symbol()];
        this.#running.set(id, command);
        const result = await sandbox.run(command).finally(() => this.#running.delete(id));
        if (succeeded(result.end)) return result;
        const refused = refusedToCommands(this.#all).filter(
          ({ host, times }) => times > (before.get(host) ?? 0),
        );
        const notes = refused.map(({ why }) => why);
        return { ...result, output: withNotes(result.output, notes) };
      },
    };
  }

  #refusals(): Map<string, number> {
    return new Map(refusedToCommands(this.#all).map(({ host, times }) => [host, times]));
  }
}

function alike(uses: readonly HostUse[], { by, outcome }: HostUse): string[] {
  return uses.flatMap((use) => (use.by === by && use.outcome === outcome ? [use.host] : []));
}

/** The system's code of a failed request, or its innermost words. */
function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'no answer';
  if ('code' in error && typeof error.code === 'string') return error.code;
  return error.cause instanceof Error ? causeOf(error.cause) : shortened(oneLine(error.message), MAX_HOST);
}

function withNotes({ head, omitted, tail }: Excerpt, notes: readonly string[]): Excerpt {
  // Some programs do pass it on.
  const unsaid = notes.filter((note) => !`${head}${tail}`.includes(note));
  if (unsaid.length === 0) return { head, omitted, tail };
  const lines = unsaid.slice(0, MAX_NOTES).map((note) => `${REFUSED}${note}\n`);
  const add = (text: string) => `${text}${text === '' || text.endsWith('\n') ? '' : '\n'}${lines.join('')}`;
  return omitted === 0 ? { head: add(head), omitted, tail } : { head, omitted, tail: add(tail) };
}
