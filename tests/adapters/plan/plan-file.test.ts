import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { type PlanRead, readPlan } from '../../../src/adapters/plan/plan-file.ts';
import { makePipe, tempFolder } from '../../support/files/temp-folder.ts';

const sha256 = (text: string | Uint8Array) => createHash('sha256').update(text).digest('hex');

/** Reads a plan file with this content. */
function planOf(content: string | Uint8Array): Promise<PlanRead> {
  const cwd = tempFolder({ 'plan.md': content });
  return readPlan({ plan: 'plan.md', message: null, stdin: Readable.from([]), cwd, root: cwd });
}

const failedWith = (message: string): PlanRead => ({ status: 'failed', message });

const fromFile = { kind: 'file', path: 'plan.md' } as const;
const bare = {
  verify: [],
  verifyBaseline: false,
  setup: [],
  allow: [],
  protect: [],
  source: fromFile,
};

test('a plan with front matter is its fields and the rest as the task', async () => {
  const text = [
    '---',
    'title: Count the quantity',
    'verify:',
    '  - npm test',
    '  - npm run lint',
    'verify_baseline: true',
    'setup: ["npm ci"]',
    'allow: ["src/**"]',
    'protect: [src/legacy/]',
    '---',
    '',
    '# Task',
    'Do it.',
    '',
  ].join('\n');
  expect(await planOf(text)).toEqual({
    status: 'ok',
    plan: {
      title: 'Count the quantity',
      task: '# Task\nDo it.',
      verify: ['npm test', 'npm run lint'],
      verifyBaseline: true,
      setup: ['npm ci'],
      allow: ['src/**'],
      protect: ['src/legacy/'],
      source: fromFile,
      sha256: sha256(text),
    },
  });
});

describe('the task is all of', () => {
  test.each([
    ['plain Markdown', '# Fix it\n\nNow.\n', 'Fix it', '# Fix it\n\nNow.'],
    ['a text with a rule further down', 'Fix it\n---\nNow.', 'Fix it', 'Fix it\n---\nNow.'],
    ['a text between two rules that is prose', '---\nFix it\n---\nNow.', '---', '---\nFix it\n---\nNow.'],
    ['a text that begins with an empty line and a rule', '\n---\ntitle: x', '---', '---\ntitle: x'],
    ['a text that begins with four dashes', '----\nFix it', '----', '----\nFix it'],
  ])('%s', async (_, text, title, task) => {
    expect(await planOf(text)).toEqual({
      status: 'ok',
      plan: { ...bare, title, task, sha256: sha256(text) },
    });
  });
});

test('a byte order mark and Windows line ends change nothing but the hash', async () => {
  const text = '\ufeff---\r\ntitle: T\r\nverify: [npm test]\r\n---\r\nDo it.\r\nNow.\r\n';
  expect(await planOf(text)).toEqual({
    status: 'ok',
    plan: { ...bare, title: 'T', task: 'Do it.\nNow.', verify: ['npm test'], sha256: sha256(text) },
  });
});

test('front matter can be empty, and can end with dots', async () => {
  for (const text of ['---\n---\nDo it.', '---\n# only a comment\n...\nDo it.']) {
    expect(await planOf(text)).toEqual({
      status: 'ok',
      plan: { ...bare, title: 'Do it.', task: 'Do it.', sha256: sha256(text) },
    });
  }
});

describe('front matter is refused, with the line,', () => {
  test.each([
    [
      'when nothing closes it',
      '---\ntitle: x\n\nDo it.\n',
      'The plan plan.md opens front matter with --- on line 1 and never closes it: add a closing --- line, or begin with an empty line if --- is meant as a horizontal rule.',
    ],
    [
      'when it has keys that do not exist',
      '---\ntitle: x\nverfy: [npm test]\nprotected: [a]\n---\nDo it.',
      'The plan plan.md: line 3: there is no key "verfy"; the nearest is verify; line 4: there is no key "protected"; the nearest is protect.',
    ],
    [
      'when it has the name of a limit',
      '---\ntitle: x\nmax_tokens: 5000\n---\nDo it.',
      'The plan plan.md: line 3: there is no key "max_tokens"; --max-output-tokens limits one answer, --max-total-tokens the whole run.',
    ],
    [
      'when a command cannot fail',
      '---\nverify:\n  - npm test\n  - "true"\n---\nDo it.',
      'The plan plan.md: line 4: verify.1: "true" cannot fail, so it verifies nothing; name a command that runs your tests.',
    ],
    [
      'when a value has the wrong type',
      '---\n\nverify: npm test\n---\nDo it.',
      'The plan plan.md: line 3: verify: Invalid input: expected array, received string.',
    ],
    [
      'when it is a list',
      '---\n- npm test\n---\nDo it.',
      'The plan plan.md: line 2: the front matter is a list; it needs keys, such as verify: ["npm test"].',
    ],
    [
      'when a key stands twice',
      '---\ntitle: a\ntitle: b\n---\nDo it.',
      'The plan plan.md: line 3: Map keys must be unique.',
    ],
    [
      'when it is no YAML',
      '---\ntitle: a: b\n---\nDo it.',
      'The plan plan.md: line 2: Nested mappings are not allowed in compact mappings.',
    ],
    [
      'when it uses aliases',
      '---\nallow: &a [x]\nprotect: *a\n---\nDo it.',
      'The plan plan.md: line 3: aliases (*name) are not allowed.',
    ],
    [
      'when it uses tags',
      '---\ntitle: !!js/function "x"\n---\nDo it.',
      'The plan plan.md: line 2: Unresolved tag: tag:yaml.org,2002:js/function.',
    ],
  ])('%s', async (_, text, message) => {
    expect(await planOf(text)).toEqual(failedWith(message));
  });
});

test('a plan without a task is refused', async () => {
  const message = 'The plan plan.md has no task: describe the change below the front matter.';
  for (const text of ['', ' \n\n', '---\ntitle: x\n---\n \n']) {
    expect(await planOf(text)).toEqual(failedWith(message));
  }
});

test('bytes that are no text are refused', async () => {
  for (const bytes of [new Uint8Array([0x66, 0xfc, 0x72]), new Uint8Array([0x61, 0, 0x62])]) {
    expect(await planOf(bytes)).toEqual(failedWith('The plan plan.md is not UTF-8 text.'));
  }
});

test('a plan of a mebibyte is read and one byte more is refused', async () => {
  const most = 'x'.repeat(1_048_576);
  expect((await planOf(most)).status).toBe('ok');
  expect(await planOf(`${most}x`)).toEqual(failedWith('The plan plan.md is larger than 1,048,576 bytes.'));
});

test('a path that cannot be read is named with the reason', async () => {
  const cwd = tempFolder({ 'folder/a': '' });
  const read = (plan: string) => readPlan({ plan, message: null, stdin: Readable.from([]), cwd, root: cwd });
  expect(await read('nowhere.md')).toEqual(failedWith('The plan nowhere.md does not exist.'));
  expect(await read('folder/a/b')).toEqual(failedWith('The plan folder/a/b does not exist.'));
  expect(await read('folder')).toEqual(failedWith('The plan folder is a folder.'));
  expect(await read('/dev/null')).toEqual(failedWith('The plan /dev/null is not a file.'));
});

test('a plan can come through a named pipe', async () => {
  const cwd = tempFolder();
  const pipe = join(cwd, 'pipe');
  makePipe(pipe);
  const reading = readPlan({ plan: 'pipe', message: null, stdin: Readable.from([]), cwd, root: cwd });
  execFileSync('sh', ['-c', 'printf "Do it." > pipe'], { cwd });
  expect(await reading).toEqual({
    status: 'ok',
    plan: {
      ...bare,
      source: { kind: 'file', path: 'pipe' },
      title: 'Do it.',
      task: 'Do it.',
      sha256: sha256('Do it.'),
    },
  });
});

test('a dash reads stdin, whole characters even when they arrive in pieces', async () => {
  const bytes = Buffer.from('Grüße');
  const stdin = Readable.from([bytes.subarray(0, 3), bytes.subarray(3)]);
  expect(await readPlan({ plan: '-', message: null, stdin, cwd: '/', root: '/' })).toEqual({
    status: 'ok',
    plan: { ...bare, source: { kind: 'stdin' }, title: 'Grüße', task: 'Grüße', sha256: sha256(bytes) },
  });
  const empty = await readPlan({ plan: '-', message: null, stdin: Readable.from([]), cwd: '/', root: '/' });
  expect(empty).toEqual(
    failedWith('The plan on stdin has no task: describe the change below the front matter.'),
  );
});

test('waiting for a stdin that never ends stops with the run', async () => {
  const stop = new AbortController();
  const stdin = new PassThrough();
  stdin.write('Do');
  const reading = readPlan({ plan: '-', message: null, stdin, cwd: '/', root: '/', signal: stop.signal });
  stop.abort();
  expect(await reading).toEqual(
    failedWith('The plan on stdin was not read completely because the run was stopped.'),
  );
});

test('a message is a task as it stands', async () => {
  const stdin = Readable.from(['never read']);
  const message = '---\ntitle: x\n---\nDo it.\n';
  expect(await readPlan({ plan: null, message, stdin, cwd: '/', root: '/' })).toEqual({
    status: 'ok',
    plan: {
      ...bare,
      source: { kind: 'message' },
      title: '---',
      task: '---\ntitle: x\n---\nDo it.',
      sha256: sha256(message),
    },
  });
  expect(await readPlan({ plan: null, message: ' ', stdin, cwd: '/', root: '/' })).toEqual(
    failedWith('The message is empty: say what to change.'),
  );
  expect(await readPlan({ plan: null, message: null, stdin, cwd: '/', root: '/' })).toEqual(
    failedWith('There is no plan: give one with --plan FILE, --plan - (stdin) or --message TEXT.'),
  );
  expect(stdin.readableDidRead).toBe(false);
});

test('a file that is replaced between two runs has another hash', async () => {
  const cwd = tempFolder({ 'plan.md': 'One.' });
  const read = () => readPlan({ plan: 'plan.md', message: null, stdin: Readable.from([]), cwd, root: cwd });
  const first = await read();
  writeFileSync(join(cwd, 'plan.md'), 'One. ');
  const second = await read();
  expect([first, second]).toEqual([
    { status: 'ok', plan: { ...bare, title: 'One.', task: 'One.', sha256: sha256('One.') } },
    { status: 'ok', plan: { ...bare, title: 'One.', task: 'One.', sha256: sha256('One. ') } },
  ]);
});

test("the source of a file's plan is its path in the repository, or as given where it lies outside", async () => {
  const root = tempFolder({ 'app/plans/tidy.md': 'Do it.' });
  const outside = tempFolder({ 'plan.md': 'Do it.' });
  const sourceOf = async (plan: string) => {
    const read = await readPlan({
      plan,
      message: null,
      stdin: Readable.from([]),
      cwd: join(root, 'app'),
      root,
    });
    return read.status === 'ok' ? read.plan.source : read;
  };
  expect(await sourceOf('plans/tidy.md')).toEqual({ kind: 'file', path: 'app/plans/tidy.md' });
  const path = join(outside, 'plan.md');
  expect(await sourceOf(path)).toEqual({ kind: 'file', path });
});
