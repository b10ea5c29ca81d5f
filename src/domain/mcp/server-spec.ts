/** MCP servers as people configure them, in the form that other clients know: `mcpServers` with a name for each. */

import * as z from 'zod';
import type { Environment } from '../environment.ts';
import { MIN_SECRET_LENGTH } from '../secrets/redact.ts';
import { isSecretName } from '../secrets/token-formats.ts';

/** Seconds that a server has to start and to list its tools, unless its entry says otherwise. */
const CONNECT_SECONDS = 30;
/** Seconds that a call may take. */
const CALL_SECONDS = 60;
const MAX_SECONDS = 3_600;

/** Most servers of a run. */
const MAX_SERVERS = 16;

const Seconds = z.number().positive().max(MAX_SECONDS);
const ToolNames = z.array(z.string().min(1));

/** Those of them that the model gets: all but the denied ones, and where a list of allowed ones is given, only these. */
const ToolList = z.union([
  ToolNames.transform((allow) => ({ allow, deny: [] as string[] })),
  z.strictObject({ allow: ToolNames.nullable().default(null), deny: ToolNames.default([]) }),
]);

const Text = z.string().refine((text) => !text.includes('\0'), 'contains a NUL character');
/** A part of a command line or an address, which others can read. */
const Open = Text.refine(
  (text) => !/\$\{/.test(text),
  'variables are only expanded in env and headers: everyone on the machine can read command lines',
);
const VariableName = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'expected the name of a variable');
const HeaderName = z.string().regex(/^[\w!#$%&'*+.^`|~-]+$/, 'expected the name of a header');

const Written = z.strictObject({
  type: z.enum(['stdio', 'http', 'streamable-http']).optional(),
  /** A run does not begin without it. */
  required: z.boolean().default(false),
  disabled: z.boolean().default(false),
  tools: ToolList.default({ allow: null, deny: [] }),
  timeout_seconds: Seconds.default(CALL_SECONDS),
  connect_timeout_seconds: Seconds.default(CONNECT_SECONDS),
  command: Open.regex(/^[^-]/, 'expected the name or the path of a program').optional(),
  args: z.array(Open).default([]),
  env: z.record(VariableName, Text).default({}),
  /** False: outside of the sandbox, with all that the user may do. */
  sandbox: z.boolean().default(true),
  url: Open.optional(),
  headers: z.record(HeaderName, Text).default({}),
});

const Entry = Written.transform((entry, context) => {
  const { command, args, env, sandbox, url, headers } = entry;
  // Times are in milliseconds.
  const common = {
    isRequired: entry.required,
    isDisabled: entry.disabled,
    tools: entry.tools,
    callMs: entry.timeout_seconds * 1_000,
    connectMs: entry.connect_timeout_seconds * 1_000,
  };
  const problem = whyNeither(entry);
  if (problem === null && url !== undefined) return { ...common, by: 'http' as const, url, headers };
  if (problem === null && command !== undefined)
    return { ...common, by: 'stdio' as const, command, args, env, isContained: sandbox };
  context.addIssue({ code: 'custom', message: problem ?? 'expected a command or a url' });
  return z.NEVER;
});

/** A server that is started, in the sandbox where `isContained`, or one that is reached by HTTP. */
export type ServerEntry = z.output<typeof Entry>;

function whyNeither(entry: z.output<typeof Written>): string | null {
  const { command, url, type, args, env, headers } = entry;
  if ((command === undefined) === (url === undefined)) return 'expected either a command or a url';
  if (url === undefined) {
    if (type !== undefined && type !== 'stdio') return `a command is of type stdio, not ${type}`;
    return Object.keys(headers).length > 0 ? 'headers require a url' : null;
  }
  if (type === 'stdio') return 'a url is of type http, not stdio';
  if (args.length > 0 || Object.keys(env).length > 0 || !entry.sandbox)
    return 'args, env and sandbox require a command';
  return whyNoAddress(url);
}

/** Secrets in an address would appear in messages. */
function whyNoAddress(text: string): string | null {
  const expected = 'expected an https address (http only for this machine) without user name or password';
  if (!URL.canParse(text)) return expected;
  const { protocol, hostname, username, password, hash } = new URL(text);
  const isLocal = ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
  const isFit = protocol === 'https:' || (protocol === 'http:' && isLocal);
  return isFit && username === '' && password === '' && hash === '' ? null : expected;
}

/** The name of a server: it begins the names of its tools. */
const SERVER_NAME = /^[A-Za-z0-9](?!.*__)[A-Za-z0-9_-]{0,30}(?<!_)$/;

/** The servers of a run by name, in the order in which they are written. */
export const ServerEntries = z
  .record(z.string(), Entry)
  .superRefine((all, context) => {
    for (const name of Object.keys(all))
      if (!SERVER_NAME.test(name))
        context.addIssue({
          code: 'custom',
          path: [name.slice(0, 40)],
          message: 'expected a name of letters, digits, - and single _, of at most 31 characters',
        });
  })
  .refine((all) => Object.keys(all).length <= MAX_SERVERS, `expected at most ${MAX_SERVERS} servers`);
export type ServerEntries = z.output<typeof ServerEntries>;

/** A server that is ready to be started, with the values that must not appear in anything that is written. */
export type FilledEntry = ServerEntry & { readonly secrets: readonly string[] };

/** The servers of a run with the variables of the environment filled in, by name. */
export type FilledEntries = Readonly<Record<string, FilledEntry>>;

/**
 * Fills in `${NAME}` in the values of `env` and `headers`, and omits disabled entries. Values from variables, all headers, and
 * values whose names suggest a secret, in an address too, are secret.
 */
export function filledIn(
  servers: ServerEntries,
  env: Environment,
):
  | { status: 'ok'; servers: FilledEntries; variables: readonly string[] }
  | { status: 'failed'; problems: string[] } {
  const problems: string[] = [];
  const variables = new Set<string>();
  const filled: Record<string, FilledEntry> = {};
  for (const [name, entry] of Object.entries(servers)) {
    if (entry.isDisabled) continue;
    const secrets: string[] = [];
    const isHeader = entry.by === 'http';
    const values = Object.entries(isHeader ? entry.headers : entry.env).map(([key, text]) => {
      const refuse = (why: string) => problems.push(`${name}.${isHeader ? 'headers' : 'env'}.${key}: ${why}`);
      const value = text.replace(VARIABLE, (_, variable: string) => {
        const given = env[variable] ?? '';
        if (given === '') refuse(`the variable ${variable} is not set`);
        else if (given.length < MIN_SECRET_LENGTH && isSecretName(variable))
          refuse(
            `the variable ${variable} has fewer than ${MIN_SECRET_LENGTH} characters, too few to be hidden`,
          );
        variables.add(variable);
        secrets.push(given);
        return given;
      });
      if (text.replace(VARIABLE, '').includes('${')) refuse(`expected \${NAME}, the name of a variable`);
      if (isHeader && /[\r\n]/.test(value)) refuse('a header has no line breaks');
      if (isHeader) secrets.push(value.replace(/^(?:Bearer|Basic|Token)\s+/i, ''));
      if (isHeader || isSecretName(key)) secrets.push(value);
      return [key, value];
    });
    const asked = isHeader ? [...new URL(entry.url).searchParams] : [];
    secrets.push(...asked.flatMap(([key, value]) => (isSecretName(key) ? [value] : [])));
    const given = Object.fromEntries(values);
    filled[name] = { ...entry, ...(isHeader ? { headers: given } : { env: given }), secrets };
  }
  return problems.length > 0
    ? { status: 'failed', problems }
    : { status: 'ok', servers: filled, variables: [...variables] };
}

const VARIABLE = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

/**
 * Why a project file may not name this server; null when it may. Whoever can write the file must not run anything outside of the sandbox,
 * send anything anywhere, or get at variables.
 */
export function whyNotInProjectFile(entry: ServerEntry): string | null {
  if (entry.by === 'http') return 'may not name a server with a url';
  if (!entry.isContained) return 'may not start a server outside the sandbox';
  const hasVariable = Object.values(entry.env).some((text) => text.includes('${'));
  return hasVariable ? 'may not give a server environment variables' : null;
}
