/**
 * The hosts that are refused to commands: named at the end of a failed command's output with the flag that allows them, since
 * many programs only report that something failed, and kept until the run records them.
 */

import type { Excerpt } from '../../domain/conversation/excerpt.ts';
import { succeeded } from '../../domain/conversation/tool.ts';
import { REFUSED } from '../../domain/review/denial-signs.ts';
import {
  countedAs,
  type HostRefusal,
  lookedUpHost,
  type RefusedHost,
  withRefused,
} from '../../domain/review/refused-hosts.ts';
import { oneLine } from '../../domain/text/terminal.ts';
import type { Sandbox, SandboxCommand } from '../../ports.ts';

/** Hosts named after one command. */
const MAX_NOTES = 10;

/** Whose command it is; neither for those of the runner itself. */
type Asker = Pick<SandboxCommand, 'call' | 'command'>;

/** The hosts refused to the commands of one process, and to which calls. */
export class RefusedHosts {
  #all: readonly RefusedHost[] = [];
  #unrecorded = new Map<string, HostRefusal>();
  #hasNew = false;
  #wake = (): void => undefined;
  /** Commands that are running. */
  readonly #running = new Map<symbol, Asker>();

  /** All of them, each host once. */
  get all(): readonly RefusedHost[] {
    return this.#all;
  }

  /** The hosts since this was last asked, by the calls that may have asked for them. */
  take(): HostRefusal[] {
    const taken = [...this.#unrecorded.values()];
    this.#unrecorded = new Map();
    this.#hasNew = false;
    return taken;
  }

  /**
   * Calls `wake` once there is a host that was never refused before, at once if it is not taken yet. As often as there are hosts
   * that are counted separately; replaces an earlier `wake`.
   */
  onNew(wake: () => void): void {
    this.#wake = wake;
    if (this.#hasNew) wake();
  }

  /** One more refusal, to the commands that are running now. */
  add(refused: RefusedHost): void {
    this.#add(refused, [...this.#running.values()]);
  }

  #add(refused: RefusedHost, running: readonly Asker[]): void {
    const known = this.#all.length;
    const counted = countedAs(refused, new Map(this.#all.map((one) => [one.host, one])));
    this.#all = withRefused(this.#all, [counted]);
    const calls = [...new Set(running.flatMap(({ call = [] }) => call))];
    const commands = [...new Set(running.flatMap(({ command = [] }) => command))];
    const key = JSON.stringify([counted.host, calls, commands]);
    const before = this.#unrecorded.get(key)?.times ?? 0;
    const askers = commands.length > 0 ? { calls, commands } : { calls };
    this.#unrecorded.set(key, { ...counted, times: before + counted.times, ...askers });
    if (this.#all.length === known) return;
    this.#hasNew = true;
    this.#wake();
  }

  /** The same sandbox, whose failed commands name the hosts that were refused while they ran. */
  naming(sandbox: Sandbox): Sandbox {
    return {
      ...sandbox,
      run: async (command) => {
        const [before, id] = [this.#times(), Symbol()];
        this.#running.set(id, command);
        const result = await sandbox.run(command).finally(() => this.#running.delete(id));
        if (succeeded(result.end)) return result;
        const refused = this.#all.filter(({ host, times }) => times > (before.get(host) ?? 0));
        const named = new Set(refused.map(({ host }) => host));
        const notFound = namesNotFound(result.output).filter((host) => !named.has(host));
        for (const host of notFound) this.#add(lookedUpHost(host), [command]);
        const notes = [...refused, ...notFound.map(lookedUpHost)].map(({ why }) => why);
        return { ...result, output: withNotes(result.output, notes) };
      },
    };
  }

  #times(): Map<string, number> {
    return new Map(this.#all.map(({ host, times }) => [host, times]));
  }
}

function withNotes({ head, omitted, tail }: Excerpt, notes: readonly string[]): Excerpt {
  // Some programs do pass it on.
  const unsaid = notes.filter((note) => !`${head}${tail}`.includes(note));
  if (unsaid.length === 0) return { head, omitted, tail };
  const lines = unsaid.slice(0, MAX_NOTES).map((note) => `${REFUSED}${note}\n`);
  const add = (text: string) => `${text}${text === '' || text.endsWith('\n') ? '' : '\n'}${lines.join('')}`;
  return omitted === 0 ? { head: add(head), omitted, tail } : { head, omitted, tail: add(tail) };
}

/** The words of curl and git, Node.js, git and ssh, Go, Java, wget, Python's urllib3, and PostgreSQL's clients. */
const NOT_FOUND =
  /(?:[Cc]ould not resolve host(?:name)?:? |\b(?:EAI_AGAIN|ENOTFOUND) |unable to look up |\blookup (?=\S+(?: on \S+)?: )|UnknownHostException: |unable to resolve host address [‘']|Failed to resolve '|could not translate host name ")((?:[a-z0-9-]{1,63}\.){1,10}[a-z][a-z0-9-]{1,62})\b/g;

function namesNotFound({ head, tail }: Excerpt): string[] {
  return [...new Set([...`${head}\n${tail}`.matchAll(NOT_FOUND)].map(([, host = '']) => host))];
}

/** The refusals that a command's output mentions, one line each, also when a program quotes them in its own messages. */
export function refusalsSaid(output: string): string[] {
  const said = output.split('\n').flatMap((line) => {
    const at = line.indexOf(REFUSED);
    // npm says what it asked for behind it, pnpm the status, Maven where to read on, and Bundler and pip quote it.
    return at < 0
      ? []
      : [
          oneLine(
            line
              .slice(at)
              .trimEnd()
              .replace(/(?: - (?:GET \S+|\d{3})| -> \[Help \d+\]|"|'\)+'?\)*: \S+)$/, ''),
            300,
          ),
        ];
  });
  return [...new Set(said)];
}
