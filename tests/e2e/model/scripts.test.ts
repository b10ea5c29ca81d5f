import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeRepository, temporaryFolder } from '../../support/files/repository.ts';
import { runCli } from '../../support/runs/cli.ts';

/** The first block of a language in the page. */
function block(language: string): string {
  const page = readFileSync('docs/scripts.md', 'utf8');
  const found = new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, 'ms').exec(page)?.[1];
  if (found === undefined) throw new Error(`The page has no block of ${language}.`);
  return found;
}

const files = {
  'plan.md': block('markdown'),
  'script.yml': block('yaml'),
  'greeting.txt': 'Hello\n',
  LICENSE: 'x\n',
};

async function play(name: string, content: string, ...args: string[]) {
  const { root } = await makeRepository({ ...files, [name]: content });
  const given = ['run', '--plan', 'plan.md', '--provider', 'replay', '--recording', name, ...args];
  return runCli([...given, '--run-dir', join(temporaryFolder(), 'run')], { cwd: root });
}

test('the example of the page runs as it stands, without a key', async () => {
  const { root } = await makeRepository(files);
  const [program, ...words] = block('sh').trim().replace(' > change.patch', '').split(' ');
  expect(program).toBe('patchsmith');
  const end = await runCli([...words, '--run-dir', join(temporaryFolder(), 'run')], { cwd: root });
  expect(end.lastLine, end.stderr).toBe(
    'patchsmith: done (exit 0): 1 file changed, 1 verify command passed; denied: LICENSE (policy).',
  );
  expect(end.stdout).toContain('-Hello\n+Hello, world\n');
  expect(end.stderr).toContain('write_file LICENSE → failed: policy');
  expect(end.stderr).toContain('$0.0000');
});

test('the lines of the page play as well, and a script that edits nothing fails verification', async () => {
  const end = await play('script.jsonl', block('json'), '--fix-rounds', '0');
  expect(end.exitCode, end.stderr).toBe(9);
});

test('a run that needs more turns than there are ends with provider_error', async () => {
  const end = await play('script.jsonl', block('json'));
  expect(end.lastLine).toMatch(
    /^patchsmith: provider_error \(exit 4\) \[ERR_PROVIDER_RECORDING\]: The recording .* has only 2 model turns/,
  );
});

test.each([
  [
    'a.yml',
    '- text: a\n- txet: b\n',
    'turn 2: Unrecognized key: "txet"; turn 2: a turn needs text, calls, stop, summary or review',
  ],
  ['a.yml', '- calls:\n    - name: ""\n', 'turn 1: calls.0.name: Too small'],
  ['a.yml', '- text: a\n- calls:\n    - { input: {} }\n', 'turn 2: calls.0.name: Invalid input'],
  ['a.yml', '- &a { text: x }\n- *a\n', 'aliases (*name) are not allowed'],
  ['a.yml', '- text: "\n', 'line 2: Missing closing "quote'],
  ['a.yaml', '[]', 'holds no turn'],
  ['a.jsonl', '{"text":"a"}\n{"stop":"never"}\n{x\n', 'turn 2: stop: Invalid option'],
  ['a.jsonl', '{"text":"a"}\n{x\n', 'turn 2: Invalid input: expected object'],
])('mistakes in %s %j are told with their turns', async (name, content, message) => {
  const end = await play(name, content);
  expect(end.lastLine).toMatch(
    /^patchsmith: usage_error \(exit 2\) \[ERR_PROVIDER_UNUSABLE\]: The script .*\.$/,
  );
  expect(end.lastLine).toContain(message);
});
