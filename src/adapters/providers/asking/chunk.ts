/** Checks one event of an API whose chunks all have the same form. */

import type * as z from 'zod';
import { saidIn } from './refusal-said.ts';
import type { ReadStep } from './stream-attempt.ts';

/** The chunk, or the step that ends the stream. */
type ChunkRead<Chunk> = { status: 'ok'; chunk: Chunk } | Extract<ReadStep, { status: 'refused' | 'broken' }>;

/** The server may send an error instead of a chunk. */
export function readChunk<Chunk>(schema: z.ZodType<Chunk>, event: object): ChunkRead<Chunk> {
  const said = 'error' in event && event.error ? saidIn(event.error) : null;
  if (said !== null) return { status: 'refused', said };
  const chunk = schema.safeParse(event);
  if (!chunk.success) return { status: 'broken', why: 'A chunk of the answer has an unknown form' };
  return { status: 'ok', chunk: chunk.data };
}
