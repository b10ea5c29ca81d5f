import { z } from 'zod';
import { defaultText, settingEntries } from '../../src/config/schema.ts';
import { SETTING_GROUPS } from '../../src/config/settings/setting.ts';
import { CheckReport } from '../../src/domain/check-report.ts';
import { OPTIONAL_TOOLS } from '../../src/domain/conversation/tool.ts';
import { OutcomesReport } from '../../src/domain/github/publishing/costs.ts';
import { Publication } from '../../src/domain/github/publishing/publication.ts';
import { RunAction } from '../../src/domain/run/events.ts';
import { JOURNAL_VERSION } from '../../src/domain/run/limits.ts';
import { PlanFrontMatter } from '../../src/domain/run/plan.ts';
import { RunResult } from '../../src/domain/run/result.ts';
import { createTools, definitionsOf } from '../../src/tools/registry.ts';

/** `docs/result.schema.json`: the JSON schema of `result.json`. */
export function resultSchema(): string {
  const schema = z.toJSONSchema(RunResult, { target: 'draft-2020-12' });
  return `${JSON.stringify({ title: 'patchsmith result, version 1', ...schema }, null, 2)}\n`;
}

/** `docs/check.schema.json`: the JSON schema of `patchsmith check --output json`. */
export function checkSchema(): string {
  const schema = z.toJSONSchema(CheckReport, { target: 'draft-2020-12' });
  return `${JSON.stringify({ title: 'patchsmith check, version 1', ...schema }, null, 2)}\n`;
}

/** `docs/outcomes.schema.json`: the JSON schema of `patchsmith outcomes --json`. */
export function outcomesSchema(): string {
  const schema = z.toJSONSchema(OutcomesReport, { target: 'draft-2020-12' });
  return `${JSON.stringify({ title: 'patchsmith outcomes, version 1', ...schema }, null, 2)}\n`;
}

/**
 * `docs/plan.schema.json`: the JSON schema of the front matter of a plan, for editors. Lists may be single strings
 * there.
 */
export function planSchema(): string {
  const { $schema, properties = {}, ...rest } = z.toJSONSchema(PlanFrontMatter, { io: 'input' });
  const text = { type: 'string', pattern: '\\S' };
  const given = Object.entries(properties).map(([key, property]) => {
    if (typeof property === 'boolean') throw new Error(`The key ${key} has no schema.`);
    const { description, type } = property;
    if (type === 'array')
      return [key, { description, anyOf: [text, { type, items: { type: 'string', minLength: 1 } }] }];
    return [key, type === 'string' ? { description, ...text } : property];
  });
  const schema = {
    $schema,
    $id: 'https://raw.githubusercontent.com/OWNER/patchsmith/main/docs/plan.schema.json',
    title: 'patchsmith plan',
    description: 'The YAML front matter of a plan: how the work is verified, and which paths may change',
    ...rest,
    properties: Object.fromEntries(given),
  };
  return `${JSON.stringify(schema, null, 2)}\n`;
}

/** `docs/publication.schema.json`: the JSON schema of `publish.json`. */
export function publicationSchema(): string {
  const schema = z.toJSONSchema(Publication, { target: 'draft-2020-12' });
  return `${JSON.stringify({ title: 'patchsmith publication, version 1', ...schema }, null, 2)}\n`;
}

const PLACE = {
  seq: z.int().positive().describe('Number of the event, from 1'),
  at: z.number().describe('Unix time in milliseconds'),
};

/** On stdout, the events of all attempts are in one stream. */
const ATTEMPT = {
  ofAttempt: z.int().positive().exactOptional().describe('Only on stdout, with --attempts: which of them'),
};

/** The lines of `events.jsonl`, one object per type, and the last line on stdout with `--output jsonl`. */
export const EVENT_LINES = [
  ...RunAction.options.map((option) => option.extend({ ...PLACE, ...ATTEMPT })),
  RunResult.extend({ type: z.literal('result') }).describe('Only on stdout: the last line'),
];

/** `docs/events.schema.json`: the JSON schema of one of these lines. */
export function eventsSchema(): string {
  const schema = z.toJSONSchema(z.union(EVENT_LINES), {
    target: 'draft-2020-12',
    reused: 'ref',
    // Blocks of the model's answers are kept unchanged.
    unrepresentable: 'any',
  });
  return `${JSON.stringify({ title: `patchsmith events, version ${JOURNAL_VERSION}`, ...schema }, null, 2)}\n`;
}

/** `docs/settings.md`: every setting with its flag, variable, default, and whether the project file may set it. */
export function settingsPage(): string {
  const rows = SETTING_GROUPS.flatMap((group) => [
    `\n## ${group}\n`,
    '| flag | default | in .patchsmith.yml | meaning |',
    '|---|---|---|---|',
    ...settingEntries()
      .filter((entry) => entry.group === group)
      .map((entry) => {
        const flag = entry.value ? `--${entry.flag} ${entry.value}` : `--${entry.flag}`;
        const variable = entry.variable.startsWith('PATCHSMITH_') ? '' : ` (\`${entry.variable}\`)`;
        const kinds = { set: 'yes', lower: 'only lower', narrow: 'only fewer', refused: 'no' };
        const file = entry.key === 'sandbox' ? 'only `required`' : kinds[entry.file];
        return `| ${[`\`${flag}\`${variable}`, defaultText(entry), file, entry.help].map(cell).join(' | ')} |`;
      }),
  ]);
  return `${INTRODUCTION}\n${[...rows, ...toolRows()].join('\n')}\n`;
}

/** The tools of the model, as it sees them; those with a question mark need not be given. */
function toolRows(): string[] {
  const pages = { read: () => Promise.reject(new Error('not for docs')) };
  const times = { commandTimeoutMs: 1_000, maxCommandTimeoutMs: 1_000 };
  const tools = createTools({ tools: OPTIONAL_TOOLS, pages, ...times });
  const rows = definitionsOf(tools).map(({ name, description, inputSchema }) => {
    const { properties = {}, required = [] } = inputSchema as JsonSchema;
    const inputs = Object.keys(properties).map((key) => `\`${key}\`${required.includes(key) ? '' : '?'}`);
    return `| ${[`\`${name}\``, inputs.join(', '), description.split('\n')[0] ?? ''].map(cell).join(' | ')} |`;
  });
  return ['\n## Tools of the model\n', '| tool | inputs | what it does |', '|---|---|---|', ...rows];
}

interface JsonSchema {
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly required?: readonly string[];
}

const INTRODUCTION = `# Settings

A flag wins over its variable, the variable over \`.patchsmith.yml\` in the root of the repository, that file over the default. The
variable of \`--max-iterations\` is \`PATCHSMITH_MAX_ITERATIONS\`, and so on; others are in brackets. Keys of the file are the flags
without their dashes; everyone who can open a pull request can write it, so it may never loosen a restriction or choose where the key
is sent. Unknown names are errors. Times are \`90s\`, \`30m\`, \`1h\` or plain seconds; sizes \`512m\`, \`4g\` or plain bytes, in units of
1024. \`npm run docs\` generates this page.

\`patchsmith config\`, which takes all flags, shows every setting with its value, where that comes from (default, variable,
\`.patchsmith.yml:LINE\`, flag) and what it overrides; \`patchsmith run … --print-config\` does so instead of running. The key, secrets
of the environment, whatever looks like a token, and what MCP servers get in \`env\`, \`headers\` and the query of their address are
masked. Values are cut after 400 characters, but not with \`--json\`, where \`settings\` holds \`name\`, \`value\` (null for none), \`from\`
(\`default\`, \`environment\`, \`file\`, \`flag\`), \`at\` and \`over\`. Wrong settings are reported instead, with exit 2. The front matter of
a plan is no setting.

\`patchsmith help COMMAND\` lists the flags of a command; \`source <(patchsmith completion bash)\` turns on completion (zsh and fish, too).

Editors check \`.patchsmith.yml\` with [patchsmith.schema.json](patchsmith.schema.json), which is in the package: begin the file with
\`# yaml-language-server: $schema=PATH\`, as \`patchsmith init\` does where the repository has patchsmith among its packages.`;

function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}
