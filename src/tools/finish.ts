/** `finish`: the model's own claim that the work is done. The runner decides what to make of it. */

import * as z from 'zod';
import description from '../../prompts/tools/finish.md';
import type { Tool } from '../ports.ts';

const Input = z.strictObject({
  status: z.enum(['done', 'blocked']),
  summary: z.string().describe('What changed and why, or why not'),
});
type Input = z.infer<typeof Input>;

/** Ends the work, with the model's verdict and summary. */
export const finishTool: Tool<Input> = {
  name: 'finish',
  description,
  schema: Input,
  lane: 'finish',
  async execute({ status, summary }) {
    return { status: 'finished', verdict: status, summary };
  },
};
