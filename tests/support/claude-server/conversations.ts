/** Several conversations at a time, each with a script of its own, as runs side by side have them. */

import type { ScriptedTurn } from './script.ts';

/**
 * The conversation that begins first plays the first script, and so on. Each one goes on by the id of its first call, which it
 * is given here.
 */
export function conversations(
  ...scripts: readonly (readonly ScriptedTurn[])[]
): (request: Record<string, unknown>) => ScriptedTurn {
  let begun = 0;
  return (request) => {
    const messages = request.messages as readonly { content: unknown }[];
    const sent = JSON.stringify(messages);
    const ongoing = scripts.findIndex((_, at) => sent.includes(`"toolu_of_${at}_0"`));
    const at = messages.length === 1 ? begun++ : ongoing;
    const turn = scripts[at]?.[(messages.length - 1) / 2];
    if (turn === undefined) throw new Error(`The script of conversation ${at} ends here.`);
    const calls = turn.calls?.map((call, index) =>
      messages.length === 1 ? { ...call, id: `toolu_of_${at}_${index}` } : call,
    );
    return calls === undefined ? turn : { ...turn, calls };
  };
}
