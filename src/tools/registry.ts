/**
 * The tools of a run, and how they are described to the model. A new tool is a file here with its prompt, a line below and a
 * test.
 */

import * as z from 'zod';
import type { ToolDefinition } from '../domain/conversation/conversation.ts';
import { render } from '../domain/text/template.ts';
import type { Tool } from '../ports.ts';
import { editFileTool } from './edit-file.ts';
import { finishTool } from './finish.ts';
import { listFilesTool } from './list-files.ts';
import { readFileTool } from './read-file.ts';
import { type CommandTimes, runCommandTool } from './run-command.ts';
import { searchTool } from './search.ts';
import { writeFileTool } from './write-file.ts';

/** Always in the same order: the definitions come first in every request and are cached by their bytes. */
export function createTools(settings: CommandTimes): readonly Tool[] {
  return [
    readFileTool,
    writeFileTool,
    editFileTool,
    listFilesTool,
    searchTool,
    runCommandTool(settings),
    finishTool,
  ];
}

/** Makes the tools of a run, always in the same order. */
export type ToolMaker = (settings: CommandTimes) => readonly Tool[];

/** The tools of a run, made by `makeTools` if given. */
export function toolsOf({ makeTools = createTools }: { makeTools?: ToolMaker }, times: CommandTimes) {
  return makeTools(times);
}

/** The tools as the model sees them, without JSON Schema's defaults. */
export function definitionsOf(tools: readonly Tool[]): ToolDefinition[] {
  return tools.map(({ name, description, schema }) => {
    const { $schema: _, ...inputSchema } = z.toJSONSchema(schema, {
      io: 'input',
      override({ jsonSchema }) {
        // Every number in JSON is within the bounds of a safe integer anyway.
        if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      },
    });
    return { name, description: render(description, {}), inputSchema };
  });
}
