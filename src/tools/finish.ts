/** `finish`: the model's own claim that the work is done. The runner decides how to treat it. */

import * as z from 'zod';
import description from '../../prompts/tools/finish.md';
import answered from '../../prompts/tools/finish-with-answer.md';
import type { AnswerSchema, Tool } from '../ports.ts';
import { failedCall } from './result.ts';

const Input = z.strictObject({
  status: z.enum(['done', 'blocked']),
  summary: z.string().describe('A commit message, or why blocked'),
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

const InputWithAnswer = Input.extend({ answer: z.json().optional() });
type InputWithAnswer = z.infer<typeof InputWithAnswer>;

/** The same, with an answer that fits the run's schema; a model that is blocked need not give one. */
export function finishWithAnswer({ schema, problemIn }: AnswerSchema): Tool<InputWithAnswer> {
  const { $schema: _, $id: __, ...body } = schema;
  return {
    ...finishTool,
    description: answered,
    schema: InputWithAnswer,
    inputSchema: {
      type: 'object',
      properties: {
        status: { type: 'string', enum: ['done', 'blocked'] },
        summary: { type: 'string', description: 'What was found or changed, or why not' },
        answer: within(body, '#/properties/answer'),
      },
      required: ['status', 'summary'],
      additionalProperties: false,
    },
    async execute({ status, summary, answer }) {
      if (status === 'blocked') return { status: 'finished', verdict: status, summary };
      const problem = answer === undefined ? 'is missing' : problemIn(answer);
      if (problem !== null || answer === undefined)
        return failedCall(
          'invalid_input',
          `Not ended: the answer ${problem}. Call finish again with one that fits.`,
        );
      return { status: 'finished', verdict: status, summary, answer };
    },
  };
}

/** A schema moved to another place of a document, with references to its own parts adjusted. */
function within(schema: unknown, place: string): unknown {
  if (Array.isArray(schema)) return schema.map((part) => within(part, place));
  if (typeof schema !== 'object' || schema === null) return schema;
  return Object.fromEntries(
    Object.entries(schema).map(([key, value]) => {
      if (key === '$ref' && typeof value === 'string' && value.startsWith('#'))
        return [key, place + value.slice(1)];
      return [key, VALUES.includes(key) ? value : within(value, place)];
    }),
  );
}

/** Keywords whose contents are data, in which nothing is a reference. */
const VALUES = ['const', 'enum', 'default', 'examples'];
