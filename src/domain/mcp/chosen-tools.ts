/** Which tools of a server the model gets, and by which names. */

import { shortened } from '../text/shorten.ts';
import { asSeen, foreignSchema } from './foreign-text.ts';
import type { ServerEntry } from './server-spec.ts';
import type { ServerTool } from './server-tool.ts';

/** What a server offers. */
export interface OfferedTools {
  readonly tools: readonly {
    readonly name: string;
    readonly description: string;
    readonly inputSchema: Readonly<Record<string, unknown>>;
    /** The server says that it changes nothing. */
    readonly isReadOnly: boolean;
  }[];
}

/** A tool of the model with its texts, clean and bounded. */
export interface ChosenTool extends ServerTool {
  readonly description: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
}

/** The tools, sorted by name, and warnings about omitted ones; or why the server cannot be used at all. */
export type ToolsChosen =
  | { status: 'ok'; tools: readonly ChosenTool[]; notes: readonly string[] }
  | { status: 'failed'; message: string };

/** How a server's tools are chosen. */
export interface ChoiceRules {
  readonly server: string;
  readonly tools: ServerEntry['tools'];
  /** Of tools that the configuration does not name, only those are chosen that say that they change nothing. */
  readonly isReadOnly: boolean;
  /** False for an invalid schema. */
  readonly isSchema: (schema: Readonly<Record<string, unknown>>) => boolean;
}

/** Which of the offered tools the model gets. */
export function chosenTools(
  { tools: offered }: OfferedTools,
  { server, tools: { allow, deny }, isReadOnly, isSchema }: ChoiceRules,
): ToolsChosen {
  const notes: string[] = [];
  const isWanted = (name: string) => (allow === null || allow.includes(name)) && !deny.includes(name);
  const mayAct = (name: string, saysSo: boolean) => !isReadOnly || saysSo || allow?.includes(name) === true;
  const chosen: ChosenTool[] = [];
  for (const { name: tool, description, inputSchema, isReadOnly: saysSo } of offered) {
    if (!isWanted(tool)) continue;
    const leftOut = (why: string) => notes.push(`the tool ${JSON.stringify(tool)} is left out: ${why}`);
    if (!mayAct(tool, saysSo)) {
      leftOut('with --read-only, tools that may change something must be named in its list tools.allow');
      continue;
    }
    const name = toolNameOf(server, tool);
    if (name === null) {
      leftOut('its name is longer than models accept');
      continue;
    }
    const shaped = foreignSchema(inputSchema);
    if (shaped.status === 'failed' || !isSchema(shaped.schema)) {
      leftOut(shaped.status === 'failed' ? shaped.why : 'its schema is not a JSON Schema of draft 2020-12');
      continue;
    }
    chosen.push({
      name,
      server,
      tool,
      description: shortened(asSeen(description).trim(), MAX_DESCRIPTION),
      inputSchema: shaped.schema,
    });
  }
  const names = chosen.map(({ name }) => name);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined)
    return { status: 'failed', message: `two of its tools would have the name ${twice}` };
  const missing = [...(allow ?? []), ...deny].filter((name) => !offered.some((tool) => tool.name === name));
  for (const name of missing) notes.push(`it has no tool ${JSON.stringify(name)}, which its list names`);
  return { status: 'ok', tools: chosen.sort((a, b) => (a.name < b.name ? -1 : 1)), notes };
}

/** Most characters that the tools of all servers together may take to describe: every request of a run begins with them. */
export const MAX_DEFINITIONS = 200_000;

/** Characters that the tools take in a request, about. */
export function definitionSize(tools: readonly ChosenTool[]): number {
  return tools.reduce(
    (sum, { name, description, inputSchema }) =>
      sum + name.length + description.length + JSON.stringify(inputSchema).length,
    0,
  );
}

/** Most characters of a tool's description. */
const MAX_DESCRIPTION = 2_000;

/** What every model's API accepts as the name of a tool. */
const NAME = /^[A-Za-z0-9_-]{1,64}$/;

/** The name that the model uses; null when no API would take it. Characters that none takes become `_`. */
export function toolNameOf(server: string, tool: string): string | null {
  const name = `${server}__${tool.replace(/[^A-Za-z0-9_-]/g, '_')}`;
  return NAME.test(name) && tool !== '' ? name : null;
}
