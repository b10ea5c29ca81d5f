/**
 * The floor: what the same work costs at the least. The SDK, the same seven tools, a plain loop; no sandbox, no journal,
 * no snapshot, no check of anything. `node floor.js TASK` works in the current folder.
 */

import { spawn } from 'node:child_process';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import Anthropic from '@anthropic-ai/sdk';

type Input = Record<string, string>;
type Run = (input: Input) => Promise<string>;

const tools: Record<string, { fields: string[]; run: Run }> = {
  read_file: { fields: ['path'], run: ({ path = '' }) => readFile(path, 'utf8') },
  write_file: {
    fields: ['path', 'content'],
    run: async ({ path = '', content = '' }) => writeFile(path, content).then(() => 'Written.'),
  },
  edit_file: {
    fields: ['path', 'find', 'replace'],
    run: async ({ path = '', find = '', replace = '' }) => {
      const text = await readFile(path, 'utf8');
      if (text.split(find).length !== 2) return 'Not edited: find does not occur exactly once.';
      return writeFile(
        path,
        text.replace(find, () => replace),
      ).then(() => 'Edited.');
    },
  },
  list_files: {
    fields: ['path'],
    run: async ({ path = '' }) => (await readdir(path, { recursive: true })).join('\n'),
  },
  search: { fields: ['pattern'], run: ({ pattern = '' }) => shell(`grep -rnE -- '${pattern}' .`) },
  run_command: { fields: ['command'], run: ({ command = '' }) => shell(command) },
  finish: { fields: ['status', 'summary'], run: async () => 'Work ended.' },
};

const client = new Anthropic();
const messages: Anthropic.MessageParam[] = [{ role: 'user', content: process.argv[2] ?? '' }];
for (;;) {
  const stream = client.messages.stream({
    model: 'claude-sonnet-5-5',
    max_tokens: 32_000,
    system: 'You are a coding agent. Carry out the plan with the tools.',
    tools: Object.entries(tools).map(([name, { fields }]) => ({
      name,
      description: name,
      input_schema: {
        type: 'object',
        properties: Object.fromEntries(fields.map((field) => [field, { type: 'string' }])),
      },
    })),
    messages,
  });
  const { content } = await stream.finalMessage();
  messages.push({ role: 'assistant', content });
  const calls = content.filter((block) => block.type === 'tool_use');
  if (calls.length === 0 || calls.some((call) => call.name === 'finish')) break;
  const results = await Promise.all(calls.map((call) => tools[call.name]?.run(call.input as Input) ?? ''));
  messages.push({
    role: 'user',
    content: calls.map(({ id }, at) => ({
      type: 'tool_result',
      tool_use_id: id,
      content: (results[at] || '(no output)').slice(0, 40_000),
    })),
  });
}

function shell(command: string): Promise<string> {
  const child = spawn('/bin/sh', ['-c', `exec 2>&1; ${command}`], { stdio: ['ignore', 'pipe', 'ignore'] });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    if (output.length < 40_000) output += text;
  });
  return new Promise((resolve) => child.once('close', () => resolve(output)));
}
