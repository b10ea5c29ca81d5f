/** Describes a tool call in a few words, for people. */

import { oneLine } from '../text/terminal.ts';

/** Such as `read_file src/a.ts` or `run_command npm test`: the tool and what it applies to. */
export function describeCall(tool: string, input: unknown): string {
  if (typeof input !== 'object' || input === null) return oneLine(tool);
  const about = Object.entries(input).find(([key]) =>
    ['path', 'command', 'pattern', 'status'].includes(key),
  )?.[1];
  return oneLine(typeof about === 'string' && about !== '' ? `${tool} ${about}` : tool, 160);
}
