/** The records of servers and their tools, and their part of the result. */

import * as z from 'zod';

/** A tool of a server, as a run has it. Recorded with the run, so that it is known without the server. */
export const ServerTool = z.strictObject({
  /** By which the model calls it. */
  name: z.string(),
  server: z.string(),
  /** The server's own name of it. */
  tool: z.string(),
});
export type ServerTool = z.infer<typeof ServerTool>;

/** A server in the result. */
export const ServerUse = z.strictObject({
  name: z.string(),
  by: z.enum(['stdio', 'http']),
  contained: z.boolean().describe('Started in the sandbox of commands; false for http'),
  required: z.boolean(),
  status: z
    .enum(['connected', 'failed', 'ended'])
    .describe('failed: it never started; ended: it exited, was cut off, or was not reached by its last call'),
  reason: z.string().nullable().describe('Why it failed or ended; null for one that is connected'),
  version: z.string().nullable().describe('The name and version that the server reports'),
  tools: z.array(z.string()).describe('Names of its tools as the model sees them'),
});
export type ServerUse = z.infer<typeof ServerUse>;
