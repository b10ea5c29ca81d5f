/**
 * Says at the end of a failed command's output which hosts were refused to it, and the flag that allows them: many programs
 * pass on no more than that something did not work.
 */

import type { Excerpt } from '../../domain/conversation/excerpt.ts';
import { succeeded } from '../../domain/conversation/tool.ts';
import { flagFor } from '../../domain/review/allowed-domain.ts';
import { REFUSED } from '../../domain/review/denied.ts';
import type { Egress } from '../../ports/network.ts';
import type { Sandbox } from '../../ports.ts';

/** Hosts named after one command. */
const MAX_NOTES = 10;

/** The same sandbox, whose failed commands name the hosts that were refused while they ran. */
export function namingRefusals(sandbox: Sandbox, egress: Pick<Egress, 'refused'>): Sandbox {
  return {
    ...sandbox,
    async run(command) {
      const before = new Map(egress.refused().map(({ host, times }) => [host, times]));
      const result = await sandbox.run(command);
      if (succeeded(result.end)) return result;
      const refused = egress.refused().filter(({ host, times }) => times > (before.get(host) ?? 0));
      const named = new Set(refused.map(({ host }) => host));
      const notFound = namesNotFound(result.output).filter((host) => !named.has(host));
      const notes = [...refused.map(({ why }) => why), ...notFound.map(withoutNames)];
      return { ...result, output: withNotes(result.output, notes) };
    },
  };
}

function withoutNames(host: string): string {
  return `${host} was looked up past the proxy, and there is no name server; for programs that use HTTPS_PROXY: ${flagFor({ host, port: 443 }, false)}`;
}

function withNotes({ head, omitted, tail }: Excerpt, notes: readonly string[]): Excerpt {
  // Some programs do pass it on.
  const unsaid = notes.filter((note) => !`${head}${tail}`.includes(note));
  if (unsaid.length === 0) return { head, omitted, tail };
  const lines = unsaid.slice(0, MAX_NOTES).map((note) => `${REFUSED}${note}\n`);
  const add = (text: string) => `${text}${text === '' || text.endsWith('\n') ? '' : '\n'}${lines.join('')}`;
  return omitted === 0 ? { head: add(head), omitted, tail } : { head, omitted, tail: add(tail) };
}

/** As curl and git, Node.js, git and ssh, Go, Java, wget, Python's urllib3, and PostgreSQL's clients say it. */
const NOT_FOUND =
  /(?:[Cc]ould not resolve host(?:name)?:? |\b(?:EAI_AGAIN|ENOTFOUND) |unable to look up |\blookup (?=\S+(?: on \S+)?: )|UnknownHostException: |unable to resolve host address [‘']|Failed to resolve '|could not translate host name ")((?:[a-z0-9-]{1,63}\.){1,10}[a-z][a-z0-9-]{1,62})\b/g;

function namesNotFound({ head, tail }: Excerpt): string[] {
  return [...new Set([...`${head}\n${tail}`.matchAll(NOT_FOUND)].map(([, host = '']) => host))];
}
