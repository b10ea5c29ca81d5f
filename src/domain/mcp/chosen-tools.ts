/** Which tools of a server the model gets, by which names, and what the result says of them. */

import * as z from 'zod';
import { isNestedWithin } from '../text/json.ts';
import { shortened } from '../text/shorten.ts';
import { formatNumber } from '../text/words.ts';
import { asSeen } from './result-text.ts';
import type { ServerEntry } from './server-spec.ts';

/** A tool as its server describes it. */
export interface OfferedTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
  /** The server says that it changes nothing. */
  readonly isReadOnly: boolean;
}

/** A tool of the model with its texts, clean and bounded. */
export interface ChosenTool extends ServerTool, Pick<OfferedTool, 'description' | 'inputSchema'> {}

/** How a server's tools are chosen. */
export interface ChoiceRules {
  readonly server: string;
  readonly tools: ServerEntry['tools'];
  /** Of tools that the configuration does not name, only those are chosen that say that they change nothing. */
  readonly isReadOnly: boolean;
  /** False for an invalid schema. */
  readonly isSchema: (schema: Readonly<Record<string, unknown>>) => boolean;
}

/** Most characters that the tools of a server may take to describe: every request of a run begins with them. */
const MAX_DEFINITIONS = 200_000;
/** Most characters of a tool's description. */
const MAX_DESCRIPTION = 2_000;
/** Most characters of the JSON of a tool's input schema, and most levels of lists and objects in it. */
const MAX_SCHEMA = 20_000;
const MAX_LEVELS = 64;
/** What every model's API accepts as the name of a tool, and of a parameter. */
const NAME = /^[A-Za-z0-9_-]{1,64}$/;
const PARAMETER = /^[A-Za-z0-9_.-]{1,64}$/;
/** Keywords that no API accepts at the top of a schema. */
const NOT_AT_TOP = ['anyOf', 'oneOf', 'allOf', 'not', 'enum'];

/** The tools, sorted by name, and warnings about omitted ones; or why the server cannot be used at all. */
export function chosenTools(
  offered: readonly OfferedTool[],
  { server, tools: { allow, deny }, isReadOnly, isSchema }: ChoiceRules,
): { status: 'ok'; tools: ChosenTool[]; notes: string[] } | { status: 'failed'; message: string } {
  const wanted = offered.filter(
    ({ name }) => (allow === null || allow.includes(name)) && !deny.includes(name),
  );
  const notes: string[] = [];
  const tools: ChosenTool[] = [];
  for (const { name: tool, description, inputSchema, isReadOnly: saysSo } of wanted) {
    const { $schema: _, ...given } = inputSchema;
    const name = `${server}__${tool.replace(/[^A-Za-z0-9_-]/g, '_')}`;
    const mayAct = !isReadOnly || saysSo || allow?.includes(tool) === true;
    const why = mayAct
      ? (whyNoTool(name, given) ??
        (isSchema(given) ? null : 'its schema is not a JSON Schema of draft 2020-12'))
      : 'with --read-only, tools that may change something must be named in its list tools.allow';
    if (why !== null) {
      notes.push(`the tool ${JSON.stringify(tool)} is left out: ${why}`);
      continue;
    }
    if (tools.some((other) => other.name === name))
      return { status: 'failed', message: `two of its tools would have the name ${name}` };
    const own = { name, server, tool, description: shortened(asSeen(description).trim(), MAX_DESCRIPTION) };
    tools.push({ ...own, inputSchema: seenIn(given) as ChosenTool['inputSchema'] });
  }
  for (const name of [...(allow ?? []), ...deny])
    if (!offered.some((tool) => tool.name === name))
      notes.push(`it has no tool ${JSON.stringify(name)}, which its list names`);
  const size = JSON.stringify(tools).length;
  if (size > MAX_DEFINITIONS)
    return {
      status: 'failed',
      message: `its tools take ${formatNumber(size)} characters to describe, and may take ${formatNumber(MAX_DEFINITIONS)}; name the tools that the run needs in its list tools`,
    };
  return { status: 'ok', tools: tools.sort((a, b) => (a.name < b.name ? -1 : 1)), notes };
}

/** Why a model's API would refuse the tool, and with it the whole request; null if it would not. */
function whyNoTool(name: string, schema: Readonly<Record<string, unknown>>): string | null {
  if (!NAME.test(name)) return 'its name is longer than models accept';
  if (!isNestedWithin(schema, MAX_LEVELS)) return `its schema is nested more than ${MAX_LEVELS} levels deep`;
  const refused = NOT_AT_TOP.find((keyword) => Object.hasOwn(schema, keyword));
  if (refused !== undefined) return `its schema has ${refused} at its top`;
  if (schema.type !== 'object') return 'its schema is not that of an object';
  if (!Object.keys(schema.properties ?? {}).every((parameter) => PARAMETER.test(parameter)))
    return 'one of its parameters has a name that models do not accept';
  return JSON.stringify(schema).length > MAX_SCHEMA
    ? `its schema is larger than ${MAX_SCHEMA} characters`
    : null;
}

/** Every text in it as people see it; keys stay as they are. */
function seenIn(value: unknown): unknown {
  if (typeof value === 'string') return asSeen(value);
  if (Array.isArray(value)) return value.map(seenIn);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, seenIn(part)]));
}

/** A tool of a server, as a run has it. Recorded with the run, so that it is known without the server. */
export const ServerTool = z.strictObject({
  /** By which the model calls it. */
  name: z.string(),
  server: z.string(),
  /** The server's own name of it. */
  tool: z.string(),
});
export type ServerTool = z.infer<typeof ServerTool>;

/** A server in the result. */
export const ServerUse = z.strictObject({
  name: z.string(),
  by: z.enum(['stdio', 'http']),
  contained: z.boolean().describe('Started in the sandbox of commands; false for http'),
  required: z.boolean(),
  status: z
    .enum(['connected', 'failed', 'ended'])
    .describe('failed: it never started; ended: it exited, was cut off, or was not reached by its last call'),
  reason: z.string().nullable().describe('Why it failed or ended; null for one that is connected'),
  version: z.string().nullable().describe('The name and version that the server reports'),
  tools: z.array(z.string()).describe('Names of its tools as the model sees them'),
});
export type ServerUse = z.infer<typeof ServerUse>;
