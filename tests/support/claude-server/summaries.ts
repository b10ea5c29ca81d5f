/** A scripted model that is asked for summaries between its turns, and knows by them how far it has come. */

import type { ScriptedTurn } from './script.ts';

interface Said {
  readonly role: string;
  readonly content: readonly {
    readonly type: string;
    readonly text?: string;
    readonly [field: string]: unknown;
  }[];
}

/** The messages of a request. */
export function messagesOf(request: Readonly<Record<string, unknown>>): readonly Said[] {
  return request.messages as readonly Said[];
}

/** Whether a request asks for a summary, in words or by the API's own means. */
export function asksForSummary(request: Readonly<Record<string, unknown>>): boolean {
  if (request.compaction !== undefined) return true;
  const last = messagesOf(request).at(-1)?.content.at(-1)?.text ?? '';
  return last.includes('about to be replaced by a summary that you write now');
}

/** How many answers of the model a request has, those included that a summary of `summaryOf` stands for. */
export function answersIn(request: Readonly<Record<string, unknown>>): number {
  const messages = messagesOf(request);
  const gone = /answers that are gone: (\d+)/.exec(JSON.stringify(messages.slice(0, 1)))?.[1] ?? 0;
  const isBlock = (message: Said) =>
    message.content[0]?.type === 'compaction' && message.content.length === 1;
  return Number(gone) + messages.filter((one) => one.role === 'assistant' && !isBlock(one)).length;
}

/** The summary of a request that asks for one. */
export function summaryOf(request: Readonly<Record<string, unknown>>): ScriptedTurn {
  return { text: `Notes. answers that are gone: ${answersIn(request)}` };
}
