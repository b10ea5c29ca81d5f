/** Parameters under names that models know from other tools. */

import type { ToolCall } from '../../domain/conversation/conversation.ts';
import type { Tool } from '../../ports.ts';

/** The calls with their parameters under the names that our tools use. */
export function withOwnNames(calls: readonly ToolCall[], tools: ReadonlyMap<string, Tool>): ToolCall[] {
  return calls.map((call) => ownNames(call, tools.get(call.name)?.aliases ?? {}));
}

/** A parameter that is also given under its own name stays: it is not clear which of the two is meant. */
function ownNames(call: ToolCall, aliases: Readonly<Record<string, string>>): ToolCall {
  const { input } = call;
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return call;
  const used: string[] = [];
  const names = new Set(Object.keys(input));
  const fields = Object.entries(input).map(([name, value]) => {
    const own = Object.hasOwn(aliases, name) ? aliases[name] : undefined;
    if (own === undefined || names.has(own)) return [name, value];
    names.add(own);
    used.push(name);
    return [own, value];
  });
  return used.length === 0 ? call : { ...call, input: Object.fromEntries(fields), aliases: used };
}
