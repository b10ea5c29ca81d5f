/** From a scripted turn to the events that stream it, for each of the two APIs. */

import type { ScriptedTurn } from '../claude-server/script.ts';

type Fields = Record<string, unknown>;

/** The words of a script are those of the Claude API. */
const FINISH: Readonly<Record<string, string>> = { max_tokens: 'length', refusal: 'content_filter' };

const CACHED = 6;
const tokensOf = (value: unknown): number => Math.ceil(JSON.stringify(value).length / 4);

/** Chunks of a chat completion. `own`: fields that this server adds to its messages. */
export function chatEvents(turn: ScriptedTurn, index: number, body: Fields): Fields[] {
  const { text = '', calls = [], stop } = turn;
  const base = { id: `chatcmpl-${index}`, object: 'chat.completion.chunk', created: 1, model: body.model };
  const chunk = (delta: Fields, finish: string | null = null): Fields => ({
    ...base,
    choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
    usage: null,
  });
  const pieces = text.match(/[\s\S]{1,5}/gu) ?? [];
  const usage = {
    prompt_tokens: tokensOf(body.messages),
    completion_tokens: turn.outputTokens ?? tokensOf(text),
    prompt_tokens_details: { cached_tokens: CACHED },
  };
  return [
    chunk({ role: 'assistant', content: '', refusal: null }),
    ...(typeof turn.thinking === 'string' ? [chunk({ reasoning_content: turn.thinking })] : []),
    ...pieces.map((content) => chunk({ content })),
    ...calls.flatMap((call, at) => {
      const json = call.rawInput ?? JSON.stringify(call.input ?? {});
      const begun = {
        index: at,
        id: call.id ?? `call_${index}_${at}`,
        type: 'function',
        function: { name: call.name, arguments: '' },
      };
      return [
        chunk({ tool_calls: [begun] }),
        chunk({ tool_calls: [{ index: at, function: { arguments: json.slice(0, 7) } }] }),
        chunk({ tool_calls: [{ index: at, function: { arguments: json.slice(7) } }] }),
      ];
    }),
    chunk({}, stop === undefined ? (calls.length > 0 ? 'tool_calls' : 'stop') : (FINISH[stop] ?? stop)),
    ...(body.stream_options === undefined || turn.uncounted ? [] : [{ ...base, choices: [], usage }]),
  ];
}

/** Events of a response, and its items. */
export function responsesEvents(
  turn: ScriptedTurn,
  index: number,
  body: Fields,
): { events: Fields[]; items: Fields[] } {
  const { text, calls = [], stop, thinking = true } = turn;
  const isCut = stop === 'max_tokens';
  const status = isCut ? 'incomplete' : 'completed';
  const part =
    stop === 'refusal'
      ? { type: 'refusal', refusal: text ?? '' }
      : { type: 'output_text', text: text ?? '', annotations: [], logprobs: [] };
  const isAsked = Array.isArray(body.include);
  const reasoning = {
    id: `rs_${index}`,
    type: 'reasoning',
    summary: [],
    ...(isAsked ? { encrypted_content: `gAAAA${index}` } : {}),
  };
  const items: Fields[] = [
    ...(thinking !== false && isAsked ? [reasoning] : []),
    ...(text === undefined
      ? []
      : [
          {
            id: `msg_${index}`,
            type: 'message',
            role: 'assistant',
            status,
            phase: 'commentary',
            content: [part],
          },
        ]),
    ...calls.map((call, at) => ({
      id: `fc_${index}_${at}`,
      type: 'function_call',
      call_id: call.id ?? `call_${index}_${at}`,
      name: call.name,
      arguments: call.rawInput ?? JSON.stringify(call.input ?? {}),
      status,
    })),
  ];
  const response = { id: `resp_${index}`, object: 'response', model: body.model, status, error: null };
  const usage = {
    input_tokens: tokensOf(body.input),
    input_tokens_details: { cached_tokens: CACHED, cache_write_tokens: 2 },
    output_tokens: turn.outputTokens ?? tokensOf(items),
  };
  const ended = {
    ...response,
    incomplete_details: isCut ? { reason: 'max_output_tokens' } : null,
    output: items,
    ...(turn.uncounted ? {} : { usage }),
  };
  const events = [
    { type: 'response.created', response: { ...response, status: 'in_progress', output: [] } },
    ...items.flatMap((item, at): Fields[] => [
      { type: 'response.output_item.added', output_index: at, item: { id: item.id, type: item.type } },
      ...(item.type === 'message'
        ? [{ type: 'response.output_text.delta', output_index: at, delta: text ?? '' }]
        : []),
      { type: 'response.output_item.done', output_index: at, item },
    ]),
    { type: `response.${status}`, response: ended },
  ];
  return { events, items };
}
