/**
 * Hand-written scripts: what a model says, turn by turn, for testing plans and principles without a model. YAML (a list of
 * turns) or JSONL (one turn per line); docs/scripts.md describes both.
 */

import { LineCounter } from 'yaml';
import * as z from 'zod';
import { type LlmTurn, noUsage, TurnStop } from '../../domain/conversation/conversation.ts';
import { jsonOrUndefined } from '../../domain/text/json.ts';
import { parseWithinLevels, TOO_DEEP } from '../../files/yaml.ts';
import { ProviderSettingsError } from './asking/endpoint.ts';

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
  if (problems.length > 0) throw mistaken(name, problems);
  try {
    // A few lines of aliases can expand to gigabytes.
    return turnsIn(name, document.toJS({ maxAliasCount: 0 }));
  } catch (error) {
    if (!(error instanceof ReferenceError)) throw error;
    throw mistaken(name, ['aliases (*name) are not allowed']);
  }
}

/** Null if the first line is not a turn: events of a journal have a `type`, which no turn has. */
function turnsOfLines(name: string, text: string): ScriptTurn[] | null {
  const turns = text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map(jsonOrUndefined);
  const [first] = turns;
  if (typeof first !== 'object' || first === null || 'type' in first) return null;
  return turnsIn(name, turns);
}

function turnsIn(name: string, turns: unknown): ScriptTurn[] {
  const parsed = z.array(ScriptTurn).safeParse(turns);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map(({ path: [at, ...within], message }) => {
    const where = at === undefined ? [] : [`turn ${Number(at) + 1}`];
    return [...where, ...(within.length === 0 ? [] : [within.join('.')]), message].join(': ');
  });
  throw mistaken(name, problems);
}

function mistaken(name: string, problems: readonly string[]): ProviderSettingsError {
  return new ProviderSettingsError(`The script ${name}: ${problems.join('; ')}.`);
}
