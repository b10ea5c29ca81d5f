/** A run whose models may be of two vendors, each on a server of its own. */

import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Script } from '../claude-server/script.ts';
import { startClaudeServer } from '../claude-server/server.ts';
import { makeRepository, temporaryFolder } from '../files/repository.ts';
import { startOpenAiServer } from '../openai-server/server.ts';
import { resultOf } from '../published.ts';
import { cliHere } from './in-process.ts';

const CLAUDE_KEY = 'sk-ant-test-0123456789abcdef';
/** The only key that the server of OpenAI takes. */
export const OPENAI_KEY = 'sk-test-0123456789abcdef';

/** The call that writes this file. */
export const write = (path: string) => ({ name: 'write_file', input: { path, content: 'new\n' } });

/** `run` carries out a plan in a repository with `a.txt` and these files. */
export async function twoVendors(
  claudeTurns: Script,
  openAiTurns: Script,
  files: Readonly<Record<string, string>> = {},
) {
  const claude = await startClaudeServer({ turns: claudeTurns, apiKey: CLAUDE_KEY });
  const openAi = await startOpenAiServer({ turns: openAiTurns, apiKey: OPENAI_KEY });
  onTestFinished(async () => void (await Promise.all([claude.close(), openAi.close()])));
  const { root } = await makeRepository({ 'a.txt': 'old\n', ...files });
  const folder = temporaryFolder();
  const runDir = join(folder, 'run');
  const env = {
    PATH: process.env.PATH,
    HOME: folder,
    ANTHROPIC_API_KEY: CLAUDE_KEY,
    ANTHROPIC_BASE_URL: claude.url,
    OPENAI_API_KEY: OPENAI_KEY,
    OPENAI_BASE_URL: `${openAi.url}/responses`,
  };
  const cli = (...args: string[]) => cliHere(args, { cwd: root, env });
  const run = async (...flags: string[]) => {
    const fixed = ['--sandbox', 'off', '--run-dir', runDir, '--outage-wait', '1s'];
    const end = await cli('run', '-m', 'Write it', ...fixed, ...flags);
    return { ...end, result: resultOf(runDir) };
  };
  return { claude, openAi, root, runDir, run, cli, folder };
}
