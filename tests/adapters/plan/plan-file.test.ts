import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { execa } from 'execa';
import { describe, expect, test } from 'vitest';
import { type PlanRead, readPlan } from '../../../src/adapters/plan/plan-file.ts';
import { makePipe, tempFolder } from '../../support/files/temp-folder.ts';

const sha256 = (text: string | Uint8Array) => createHash('sha256').update(text).digest('hex');

type Given = Partial<Parameters<typeof readPlan>[0]>;

const read = (plan: string | null, cwd: string, more: Given = {}) =>
  readPlan({ plan, message: null, stdin: Readable.from([]), cwd, root: cwd, ...more });

/** Reads a plan file with this content. */
const planOf = (content: string | Uint8Array) => read('plan.md', tempFolder({ 'plan.md': content }));

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

/** The plan of this text. */
const ok = (text: string | Uint8Array, plan: object) => ({
  status: 'ok',
  plan: { ...bare, ...plan, sha256: sha256(text) },
});

test('a plan with front matter is its fields and the rest as the task', async () => {
  const text = [
    '---',
    'title: Count the quantity',
    'verify:',
    '  - npm test',
    '  - npm run lint',
    'verify_baseline: true',
    'setup: ["npm ci"]',
    'working_directory: app',
    'allow: ["src/**"]',
    'protect: [src/legacy/]',
    '---',
    '',
    '# Task',
    'Do it.',
    '',
  ].join('\n');
  const plan = {
    title: 'Count the quantity',
    task: '# Task\nDo it.',
    verify: ['npm test', 'npm run lint'],
    verifyBaseline: true,
    setup: ['npm ci'],
    workingDirectory: 'app',
    allow: ['src/**'],
    protect: ['src/legacy/'],
  };
  expect(await planOf(text)).toEqual(ok(text, plan));
});

describe('the task is all of', () => {
  test.each([
    ['plain Markdown', '# Fix it\n\nNow.\n', 'Fix it', '# Fix it\n\nNow.'],
    ['a text with a rule further down', 'Fix it\n---\nNow.', 'Fix it', 'Fix it\n---\nNow.'],
    ['a text between two rules that is prose', '---\nFix it\n---\nNow.', '---', '---\nFix it\n---\nNow.'],
    ['a text that begins with an empty line and a rule', '\n---\ntitle: x', '---', '---\ntitle: x'],
    ['a text that begins with four dashes', '----\nFix it', '----', '----\nFix it'],
  ])('%s', async (_, text, title, task) => {
    expect(await planOf(text)).toEqual(ok(text, { title, task }));
  });
});

test('a byte order mark and Windows line ends change nothing but the hash', async () => {
  const text = '\ufeff---\r\ntitle: T\r\nverify: [npm test]\r\n---\r\nDo it.\r\nNow.\r\n';
  const plan = { title: 'T', task: 'Do it.\nNow.', verify: ['npm test'] };
  expect(await planOf(text)).toEqual(ok(text, plan));
});

const DO_IT = { title: 'Do it.', task: 'Do it.' };

test('front matter can be empty, and can end with dots', async () => {
  for (const text of ['---\n---\nDo it.', '---\n# only a comment\n...\nDo it.']) {
    expect(await planOf(text)).toEqual(ok(text, DO_IT));
  }
});

describe('front matter is refused, with the line,', () => {
  test.each([
    [
      'when it has keys that do not exist',
      'title: x\nverfy: [npm test]\nprotected: [a]',
      'plan.md:3: there is no key "verfy"; the nearest is verify; plan.md:4: there is no key "protected"; the nearest is protect',
    ],
    [
      'when it has the name of a limit',
      'title: x\nmax_tokens: 5000',
      'plan.md:3: there is no key "max_tokens"; there are title, verify, verify_baseline, setup, working_directory, allow, protect',
    ],
    [
      'when a command cannot fail',
      'verify:\n  - npm test\n  - "true"',
      'plan.md:4: verify, entry 2: "true" cannot fail, so it verifies nothing; name a command that runs your tests',
    ],
    [
      'when a value has the wrong type',
      '\nverify: 42',
      'plan.md:3: verify: expected a command, or a list of them; put text in quotes if YAML takes it for something else',
    ],
    [
      'when a value is missing',
      'verify:',
      'plan.md:2: verify: expected a command, or a list of them; put text in quotes if YAML takes it for something else',
    ],
    [
      'when a colon makes a mapping of a command',
      'verify:\n  - npm test\n  - npm run lint: fix',
      'plan.md:4: verify, entry 2: expected a command; put text in quotes if YAML takes it for something else',
    ],
    [
      'when several values are wrong',
      'title: ""\nverify_baseline: yes\nsetup: ""\nallow: [a]',
      'plan.md:2: title: must not be empty; leave it out to use the first heading of the task; plan.md:3: verify_baseline: expected true or false, without quotes; plan.md:4: setup: a command must not be empty',
    ],
    ['when it is a list', '- npm test', 'plan.md:2: not a mapping of keys to values (name: value)'],
    [
      'when a key stands twice',
      'title: a\nverify: x\ntitle: b',
      'plan.md:4: not valid YAML: Map keys must be unique',
    ],
    [
      'when a text needs quotes',
      'title: a: b',
      'plan.md:2: not valid YAML: Nested mappings are not allowed in compact mappings; put the text in quotes: "a: b"',
    ],
    [
      'when a text begins with a character of YAML',
      'title: @me # x\nsetup: `x`',
      'plan.md:2: not valid YAML: Plain value cannot start with reserved character @; put the text in quotes: "@me"; plan.md:3: not valid YAML: Plain value cannot start with reserved character `; put the text in quotes: "`x`"',
    ],
    ['when quotes are open', 'title: "x', 'plan.md:3: not valid YAML: Missing closing "quote'],
    [
      'when a glob reads as an alias',
      'allow: [*.ts, src]',
      'plan.md:2: aliases (*name) are not allowed; if a text begins with *, put it in quotes: "*.ts"',
    ],
    [
      'when it uses tags',
      'title: !!js/function x',
      'plan.md:2: not valid YAML: Unresolved tag: tag:yaml.org,2002:js/function; put the text in quotes: "!!js/function x"',
    ],
  ])('%s', async (_, yaml, problems) => {
    expect(await planOf(`---\n${yaml}\n---\nDo it.`)).toEqual(failedWith(`${problems}.`));
  });
});

test('front matter that nothing closes is refused', async () => {
  const message =
    'The plan plan.md opens front matter with --- on line 1 and never closes it: add a closing --- line, or begin with an empty line if --- is meant as a horizontal rule.';
  expect(await planOf('---\ntitle: x\n\nDo it.\n')).toEqual(failedWith(message));
});

test('a list of front matter can be a single text, with an entry a line', async () => {
  const text = '---\nverify: npm test\nsetup: |\n  npm ci\n\n  npm run build\nallow: src\n---\nDo it.';
  const lists = { verify: ['npm test'], setup: ['npm ci', 'npm run build'], allow: ['src'] };
  expect(await planOf(text)).toEqual(ok(text, { ...DO_IT, ...lists }));
});

test('a plan without a task is refused', async () => {
  const message = 'The plan plan.md has no task: describe the change below the front matter.';
  for (const text of ['', ' \n\n', '---\ntitle: x\n---\n \n']) {
    expect(await planOf(text)).toEqual(failedWith(message));
  }
});

test('bytes that are not text are refused', async () => {
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
  expect(await read('nowhere.md', cwd)).toEqual(failedWith('The plan nowhere.md does not exist.'));
  expect(await read('folder/a/b', cwd)).toEqual(failedWith('The plan folder/a/b does not exist.'));
  expect(await read('folder', cwd)).toEqual(failedWith('The plan folder is a folder.'));
  expect(await read('/dev/null', cwd)).toEqual(failedWith('The plan /dev/null is not a file.'));
});

test('a plan can come through a named pipe', async () => {
  const cwd = tempFolder();
  const pipe = join(cwd, 'pipe');
  makePipe(pipe);
  const reading = read('pipe', cwd);
  await execa('sh', ['-c', 'printf "Do it." > pipe'], { cwd });
  expect(await reading).toEqual(ok('Do it.', { ...DO_IT, source: { kind: 'file', path: 'pipe' } }));
});

test('a dash reads stdin, whole characters even when they arrive in pieces', async () => {
  const bytes = Buffer.from('Grüße');
  const stdin = Readable.from([bytes.subarray(0, 3), bytes.subarray(3)]);
  const plan = { source: { kind: 'stdin' }, title: 'Grüße', task: 'Grüße' };
  expect(await read('-', '/', { stdin })).toEqual(ok(bytes, plan));
  expect(await read('-', '/')).toEqual(
    failedWith('The plan on stdin has no task: describe the change below the front matter.'),
  );
});

test('waiting for a stdin that never ends stops with the run', async () => {
  const stop = new AbortController();
  const stdin = new PassThrough();
  stdin.write('Do');
  const reading = read('-', '/', { stdin, signal: stop.signal });
  stop.abort();
  expect(await reading).toEqual(
    failedWith('The plan on stdin was not read completely because the run was stopped.'),
  );
});

test('a message is used as the task unchanged', async () => {
  const stdin = Readable.from(['never read']);
  const message = '---\ntitle: x\n---\nDo it.\n';
  const plan = { source: { kind: 'message' }, title: '---', task: message.trim() };
  expect(await read(null, '/', { message, stdin })).toEqual(ok(message, plan));
  expect(await read(null, '/', { message: ' ', stdin })).toEqual(
    failedWith('The message is empty: say what to change.'),
  );
  expect(await read(null, '/', { stdin })).toEqual(
    failedWith('There is no plan: give one with --plan FILE, --plan - (stdin) or --message TEXT.'),
  );
  expect(stdin.readableDidRead).toBe(false);
});

test('a file that is replaced between two runs has another hash', async () => {
  const cwd = tempFolder({ 'plan.md': 'One.' });
  const plan = { title: 'One.', task: 'One.' };
  expect(await read('plan.md', cwd)).toEqual(ok('One.', plan));
  writeFileSync(join(cwd, 'plan.md'), 'One. ');
  expect(await read('plan.md', cwd)).toEqual(ok('One. ', plan));
});

test("the source of a file's plan is its path in the repository, or as given where it lies outside", async () => {
  const root = tempFolder({ 'app/plans/tidy.md': 'Do it.' });
  const outside = tempFolder({ 'plan.md': 'Do it.' });
  const sourceOf = async (plan: string) => {
    const found = await read(plan, join(root, 'app'), { root });
    return found.status === 'ok' ? found.plan.source : found;
  };
  expect(await sourceOf('plans/tidy.md')).toEqual({ kind: 'file', path: 'app/plans/tidy.md' });
  const path = join(outside, 'plan.md');
  expect(await sourceOf(path)).toEqual({ kind: 'file', path });
});
