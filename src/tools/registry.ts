/**
 * The tools of a run, and how they are described to the model. A new tool is a file here with its prompt, a line below, its lane
 * in `BUILT_IN_TOOLS` and a test.
 */

import { jsonSchemaOf, type ToolDefinition } from '../domain/conversation/conversation.ts';
import { type BuiltInTool, OPTIONAL_TOOLS } from '../domain/conversation/tool.ts';
import type { PageReader } from '../ports/network.ts';
import type { AnswerSchema, DocumentReader, Tool } from '../ports.ts';
import { editFileTool } from './edit-file.ts';
import { finishTool, finishWithAnswer } from './finish.ts';
import { listFilesTool } from './list-files.ts';
import { readFileTool } from './read-file.ts';
import { type CommandTimes, runCommandTool } from './run-command.ts';
import { searchTool } from './search.ts';
import { webFetchTool } from './web-fetch.ts';
import { writeFileTool } from './write-file.ts';

/** What the tools of a run depend on. */
export interface ToolChoice extends CommandTimes {
  /** The only ones besides `finish`; null for all. */
  readonly tools?: readonly string[] | null;
  /** Reads documents. Default: every file is text or nothing. */
  readonly documents?: DocumentReader;
  /** The working directory, relative to the root: what paths are relative to. Default: the root. */
  readonly folder?: string;
  /** Reads pages of the web; null where none may be read. */
  readonly pages?: PageReader | null;
  /** The answer that `finish` has to give; null if none was requested. */
  readonly answer?: AnswerSchema | null;
  /** Those that the program brings along, after the built-in ones but for `finish`. */
  readonly own?: readonly Tool[];
}

/** Always in the same order: the definitions come first in every request and are cached by their bytes. */
export function createTools({
  tools = null,
  answer = null,
  pages = null,
  documents,
  folder = '',
  own = [],
  ...times
}: ToolChoice): readonly Tool[] {
  const { finish, ...others }: Readonly<Record<BuiltInTool, Tool | null>> = {
    read_file: readFileTool(documents).in(folder),
    write_file: writeFileTool.in(folder),
    edit_file: editFileTool.in(folder),
    list_files: listFilesTool.in(folder),
    search: searchTool.in(folder),
    run_command: runCommandTool(times),
    web_fetch: pages === null ? null : webFetchTool(pages),
    finish: answer === null ? finishTool : finishWithAnswer(answer),
  };
  const names = tools ?? OPTIONAL_TOOLS;
  const chosen = Object.values(others).filter((tool) => tool === null || names.includes(tool.name));
  return [...chosen, ...own, finish].filter((tool) => tool !== null);
}

/** The tools as the model sees them, without JSON Schema's defaults. */
export function definitionsOf(tools: readonly Tool[]): ToolDefinition[] {
  return tools.map(({ name, description, schema, inputSchema = jsonSchemaOf(schema) }) => ({
    name,
    description: description.trimEnd(),
    inputSchema,
  }));
}
