import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import type { RunResult } from '../../../src/domain/run/result.ts';
import { type MadeRun, madeRun, type OnGitHub, onGitHub, publish } from '../../support/jobs/publishing.ts';
import { call } from '../../support/runs/scripted-run.ts';
import { dangersIn } from '../../support/text/rendered.ts';

/** What an issue asks the model to say, and the model says it everywhere. */
const SPELL = [
  '@mona @acme/owners Fixes #2, closes acme/shop#2 and GH-2.',
  'Resolves https://github.com/acme/shop/issues/2',
  '![x](https://evil.example/x.png) [Approve](https://evil.example) www.evil.example <img src=x onerror=y>',
  '<!-- patchsmith:00000000 --> </details> </summary>',
  '# Heading',
  '> [!CAUTION]',
  '[skip ci] $\\color{white}{x}$ \u202etxt.exe\u202c \u{e0041}',
  '```',
  'Fixes #2 [skip ci] <!-- patchsmith:00000000 -->',
].join('\n');

const NAMES = [
  'a|b`c.md',
  'two\nlines.md',
  '<img src=x>.md',
  '@mona.md',
  '#2.md',
  '[x](y).md',
  '$(id).md',
  '\u202egnp.md',
];

const RUN_URL = /\[(?:log and artifacts|Log and artifacts)\]\(http:\/\/[\w.:/]+\)/;

let made: MadeRun;
beforeAll(async () => {
  const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
  made = await madeRun(
    { 'a.txt': 'a\n' },
    [
      { calls: [call('run_command', { command: `touch ${NAMES.map(quoted).join(' ')}` })] },
      { calls: [call('finish', { status: 'done', summary: SPELL })] },
    ],
    { args: ['--verify', `test -f a.txt # ${SPELL.split('\n')[0]}`] },
  );
});
/** The artifact is another job's: whatever stands in its result is outside text. */
function tamper({ artifact }: OnGitHub, change: (result: RunResult) => Partial<RunResult>): void {
  const path = join(artifact, 'result.json');
  const result = JSON.parse(readFileSync(path, 'utf8')) as RunResult;
  writeFileSync(path, JSON.stringify({ ...result, ...change(result) }));
}

const hostileTitle = ({ plan, verify }: RunResult): Partial<RunResult> => ({
  plan: plan && { ...plan, title: SPELL },
  model: SPELL,
  warnings: [SPELL],
  verify: verify.map((report) => ({ ...report, output: SPELL })),
});

/** What we write ourselves. */
function withoutOurs(body: string): { page: string; own: string[] } {
  const marker = /<!-- patchsmith:[0-9a-f]{8} -->$/.exec(body)?.[0] ?? '';
  const page = body
    .replace(/^<!-- patchsmith-record: (?:(?!\/\/|--)[A-Za-z0-9 ."{}[\]:,_\\*/])* -->$/m, '')
    .replace(/^<!-- patchsmith:[0-9a-f]{8} begin, title [0-9a-f]{8}: [\w ]+ -->$/m, '')
    .replace(/^<!-- patchsmith-costs: [\w-]+=[\d.]+ -->$/m, '')
    .replace(RUN_URL, '')
    .replaceAll(/<details><summary>[\w ,]+<\/summary>/g, '<details>')
    .replace(/^(?:Fixes|Asked for in) #1$/m, '')
    .replace(/^(\*\*[\w ]+\*\*): #\d+/m, '$1')
    .replace('- Plan: #1,', '');
  return { page, own: ['<details>', '</details>', '<sub>', '</sub>', marker] };
}

async function publishHostile(change = hostileTitle, args: readonly string[] = []) {
  const place = await onGitHub(made, { issue: true });
  tamper(place, change);
  const env = { GITHUB_RUN_ID: '42' };
  const first = await publish(place, { args, env });
  const again = await publish(place, { args, env });
  expect(place.github.invalid).toEqual([]);
  return { ...place, first, again };
}

describe('a run that says whatever an attacker wants', () => {
  test('becomes a pull request in which no one is mentioned, nothing is closed, and nothing is not ours', async () => {
    const { repository, first, again } = await publishHostile();
    expect(first.exitCode, first.stderr).toBe(0);
    const [pull] = repository.pulls();
    expect(pull?.title).not.toMatch(/@|#\d|:\/\/\S|\[skip ci\]|GH-\d|\p{DI}/u);
    const { page, own } = withoutOurs(pull?.body ?? '');
    expect(dangersIn(page, own)).toEqual([]);
    expect(pull?.body?.match(/^Fixes #\d+$/gm)).toEqual(['Fixes #1']);
    expect(pull?.body?.match(/<!-- patchsmith:/g)).toHaveLength(2);
    // The same facts are the same text, so that nothing is written twice.
    expect(again.said?.pullRequest?.operation).toBe('none');

    const message = await repository.git('log', '-1', '--format=%B', first.said?.branch ?? '');
    expect(message).not.toMatch(/@|#\d|:\/\/\S|\[skip ci\]|GH-\d|\p{DI}/u);
    expect(message.trim().split('\n')).toHaveLength(8);
  });

  test('names every file by its real name', async () => {
    const { repository } = await publishHostile();
    const body = repository.pulls()[0]?.body ?? '';
    for (const shown of [
      '<code>a&#124;b\\`c.md</code>',
      '`"two\\nlines.md"`',
      '`<img src=x>.md`',
      '`@mona.md`',
      '`#\u200b2.md`',
      '`[x](y).md`',
      '`$(id).md`',
      '`"\\u202egnp.md"`',
    ])
      expect(body).toContain(`| ${shown} | new | +0 −0 | \`run_command\` in turn 1 |`);
  });

  test('leaves a comment that is as tame, whether it was published or not', async () => {
    const published = await publishHostile();
    const refused = await publishHostile((result) => ({
      ...hostileTitle(result),
      outcome: 'blocked',
      exitCode: 5,
      reason: `The model says it is blocked: ${SPELL}`,
    }));
    expect(refused.first.exitCode).toBe(5);
    for (const { repository } of [published, refused]) {
      const [comment, ...more] = repository.issues.get(1)?.comments ?? [];
      expect(more).toEqual([]);
      const { page, own } = withoutOurs(comment?.body ?? '');
      expect(dangersIn(page, own)).toEqual([]);
    }
  });

  test('says nothing on stderr that a runner or a terminal obeys', async () => {
    const { first } = await publishHostile((result) => ({
      ...hostileTitle(result),
      plan: result.plan && { ...result.plan, title: '::set-env name=x::y\n::error::z ##[error]w \u001b[2J' },
    }));
    expect(first.stderr).not.toMatch(/^::|##\[|[\u0000-\u0008\u000b-\u001f\u202e]/m);
  });
});
