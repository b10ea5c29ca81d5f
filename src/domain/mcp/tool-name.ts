/** The names of servers' tools: `server__tool`. */

/** What every model's API accepts as the name of a tool. */
const NAME = /^[A-Za-z0-9_-]{1,64}$/;

/** The name that the model uses; null when no API would take it. Characters that none takes become `_`. */
export function toolNameOf(server: string, tool: string): string | null {
  const name = `${server}__${tool.replace(/[^A-Za-z0-9_-]/g, '_')}`;
  return NAME.test(name) && tool !== '' ? name : null;
}
