/**
 * Hand-written scripts: what a model says, turn by turn, for testing plans and principles without a model. YAML (a list of
 * turns) or JSONL (one turn per line); docs/scripts.md describes both.
 */

import { isAlias, LineCounter, visit } from 'yaml';
import * as z from 'zod';
import { type LlmTurn, noUsage, TurnStop } from '../../domain/conversation/conversation.ts';
import { jsonOrUndefined, MAX_LEVELS } from '../../domain/text/json.ts';
import { parseWithinLevels, TOO_DEEP } from '../../files/yaml/within-levels.ts';
import { ProviderSettingsError } from './settings-error.ts';

const ScriptCall = z.strictObject({
  name: z.string().min(1),
  /** Not validated here: how the tools handle invalid input is worth testing too. */
  input: z.record(z.string(), z.unknown()).default({}),
});

/** One turn of a script. Without a `stop` the model waits for its calls, or is done when there are none. */
const ScriptTurn = z
  .strictObject({
    text: z.string().min(1).optional(),
    calls: z.array(ScriptCall).min(1).optional(),
    stop: TurnStop.exclude(['compaction']).optional(),
    /** Its answer to a request for a summary; excludes everything else. */
    summary: z.string().min(1).optional(),
    /** Its answer to a request for a review: the input of `submit_review`, also not validated here. */
    review: z.record(z.string(), z.unknown()).optional(),
  })
  .refine((turn) => Object.keys(turn).length > 0, 'a turn needs text, calls, stop, summary or review')
  .refine((turn) => turn.summary === undefined || Object.keys(turn).length === 1, 'a summary stands alone')
  .refine((turn) => turn.review === undefined || Object.keys(turn).length === 1, 'a review stands alone');
type ScriptTurn = z.infer<typeof ScriptTurn>;

/**
 * The script as a journal that contains only model turns; null if the text is not a script. Throws ProviderSettingsError.
 */
export function journalOfScript(name: string, text: string): string | null {
  const turns = /\.ya?ml$/i.test(name) ? turnsOfYaml(name, text) : turnsOfLines(name, text);
  if (turns === null) return null;
  if (turns.length === 0) throw new ProviderSettingsError(`The script ${name} holds no turn.`);
  return turns
    .map((turn, at) =>
      JSON.stringify({
        type: eventOf(turn),
        turn: turnOf(turn, at),
      }),
    )
    .join('\n');
}

function eventOf({ summary, review }: ScriptTurn): string {
  if (review !== undefined) return 'review.completed';
  return summary === undefined ? 'turn.completed' : 'context.compacted';
}

function turnOf({ summary, text = summary ?? '', review, ...turn }: ScriptTurn, at: number): LlmTurn {
  const { calls: scripted = review === undefined ? [] : [{ name: 'submit_review', input: review }], stop } =
    turn;
  const calls = scripted.map(({ name, input }, index) => ({
    id: `script_${at + 1}_${index + 1}`,
    name,
    input,
  }));
  return {
    content: [
      ...(text === '' ? [] : [{ type: 'text', text }]),
      ...calls.map((call) => ({ type: 'tool_use', ...call })),
    ],
    stop: stop ?? (calls.length > 0 ? 'tool_use' : 'end_turn'),
    stopDetail: '',
    calls,
    text,
    usage: noUsage,
    model: 'script',
    durationMs: 0,
  };
}

function turnsOfYaml(name: string, text: string): ScriptTurn[] {
  const counter = new LineCounter();
  const document = parseWithinLevels(text, counter);
  if (document === null) throw mistaken(name, [TOO_DEEP]);
  const problems = [...document.errors, ...document.warnings].map(
    ({ pos, message }) => `line ${counter.linePos(pos[0]).line}: ${message}`,
  );
  visit(document, {
    Node(_, node) {
      // A few lines of aliases can expand to gigabytes.
      if (isAlias(node))
        problems.push(`line ${counter.linePos(node.range?.[0] ?? 0).line}: aliases (*name) are not allowed`);
    },
  });
  if (problems.length > 0) throw mistaken(name, problems);
  const parsed = z.array(ScriptTurn).safeParse(document.toJS());
  if (parsed.success) return parsed.data;
  throw mistaken(
    name,
    parsed.error.issues.map((issue) => {
      // A missing value has no position, so use its parent's.
      const places = issue.path.map((_, at) => issue.path.slice(0, issue.path.length - at));
      const node = places.map((path) => document.getIn(path, true)).find((found) => found !== undefined);
      const range = typeof node === 'object' && node !== null && 'range' in node ? node.range : null;
      const line = counter.linePos(Array.isArray(range) ? Number(range[0]) : 0).line;
      return `line ${line}: ${issueText({ ...issue, path: issue.path.slice(1) })}`;
    }),
  );
}

/** Null if the first line is not a turn: events of a journal have a `type`, which no turn has. */
function turnsOfLines(name: string, text: string): ScriptTurn[] | null {
  const lines = text
    .split('\n')
    .flatMap((line, at) => (line.trim() === '' ? [] : [{ line, number: at + 1 }]));
  const first = lines[0] && jsonOrUndefined(lines[0].line);
  if (typeof first !== 'object' || first === null || 'type' in first) return null;
  const problems: string[] = [];
  const turns = lines.flatMap(({ line, number }) => {
    const json = jsonOrUndefined(line);
    const parsed = ScriptTurn.safeParse(json);
    if (parsed.success) return [parsed.data];
    const why =
      json === undefined
        ? [`not JSON, or nested more than ${MAX_LEVELS} levels deep`]
        : parsed.error.issues.map(issueText);
    problems.push(...why.map((one) => `line ${number}: ${one}`));
    return [];
  });
  if (problems.length > 0) throw mistaken(name, problems);
  return turns;
}

function issueText({ path, message }: Pick<z.core.$ZodIssue, 'path' | 'message'>): string {
  return path.length === 0 ? message : `${path.join('.')}: ${message}`;
}

function mistaken(name: string, problems: readonly string[]): ProviderSettingsError {
  return new ProviderSettingsError(`The script ${name}: ${problems.join('; ')}.`);
}
