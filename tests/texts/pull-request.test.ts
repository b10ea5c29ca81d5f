import { describe, expect, test } from 'vitest';
import type { Finding } from '../../src/domain/findings/review.ts';
import { askedIn } from '../../src/domain/github/publishing/identity.ts';
import type { Flag } from '../../src/domain/review/flag.ts';
import type { RunResult } from '../../src/domain/run/result.ts';
import { type PullRequestFacts, pullRequestText } from '../../src/texts/pull-request.ts';
import { finishedRun, report, reviewed, TWO_ATTEMPTS } from '../support/runs/finished-run.ts';
import { sampled } from '../support/setup/sample.ts';
import { readableText } from '../support/text/rendered.ts';

const MARKER = '<!-- patchsmith:1a2b3c4d -->';
const RECORD = `<!-- patchsmith-record: {"version":1,"source":{"kind":"issue","repository":"acme/shop","number":7,"url":"https:\\u002f/github.com/acme/shop/issues/7","author":"mona"},"sha256":"${'a'.repeat(64)}","rules":[{"allow":[],"protect":[]},{"allow":[],"protect":[]}]} -->`;
const RUN_URL = 'https://github.com/acme/shop/actions/runs/42';

const UNSET = { reportUrl: null, titlePrefix: null, title: null, bodyHeader: null, bodyFooter: null };

function facts(result: RunResult, part: Partial<PullRequestFacts> = {}): PullRequestFacts {
  return {
    result,
    askedIn: result.plan && askedIn(result.plan, 'acme/shop'),
    base: { branch: 'main', sha: '1'.repeat(40) },
    merged: [],
    flags: result.flags,
    drafts: [],
    isDraft: false,
    unfinished: false,
    runUrl: RUN_URL,
    isByWorkflow: true,
    settings: UNSET,
    marker: MARKER,
    ...part,
  };
}
const bodyOf = (result: RunResult, part: Partial<PullRequestFacts> = {}) =>
  pullRequestText(facts(result, part)).body;

describe('a pull request', () => {
  test('names what was denied to the run, and only where something was', () => {
    const denied = [{ kind: 'policy' as const, what: 'kept.txt', calls: ['t1'], why: 'It may not change.' }];
    const body = bodyOf(finishedRun({ denied, deniedCount: 1 }));
    expect(body).toMatch(/\*\*Denied to the run\*\*\n\n.*kept\.txt.*It may not change/);
    expect(bodyOf(finishedRun())).not.toContain('Denied');
  });

  test('says what was measured, what the model says, and where all that came from', () => {
    expect(pullRequestText(facts(finishedRun()))).toEqual({
      title: 'Round amounts half to even',
      body: `Fixes #7

**2 files changed** (+42 −3) · **verified:** 1 command passed · 6 turns, USD 0.0812

In the model's own words:

> Amounts are rounded to the cent, half to even, and a test says so.

| Verified with | Result |
| --- | --- |
| \`npm test\` | passed after 8.1 s |

<details><summary>Changed files, and what made them</summary>

| File |  | Lines | Made by |
| --- | --- | --- | --- |
| \`src/money.ts\` | changed | +12 −3 | \`edit_file\` in turns 2, 4 |
| \`tests/money.test.ts\` | new | +30 −0 | \`write_file\` in turn 3 |

</details>

<details><summary>How it was made</summary>

- Plan: #7, written by \`mona\`, sha256 \`aaaaaaaaaaaa\`
- Model: claude-sonnet-5-5, 46,600 tokens, 88% of the prompts from the cache, USD 0.0812, 94.3 s
- Base: \`main\` at \`111111111111\`
- Commands ran in a sandbox (namespaces+seccomp)
- Patch: sha256 \`${'c'.repeat(64)}\`
- Run: \`20261121-164500-3f9a\`, [log and artifacts](${RUN_URL}), patchsmith \`0.1.0\`

</details>

<sub>No checks here? GitHub does not run workflows for a pull request opened with \`GITHUB_TOKEN\`: close and reopen it, or publish with a GitHub App token.</sub>

${RECORD}

${MARKER}`,
    });
  });

  test('says which of several attempts it was made of', () => {
    expect(bodyOf(finishedRun({ attempts: TWO_ATTEMPTS }))).toContain(
      '\n- Attempt: number 2 of 3 (2 begun): 1 of 2 made the smallest change (45 lines in 2 files)\n- Base: ',
    );
  });

  test('says who reviewed it, and what was found', () => {
    const finding = { severity: 'blocking', path: 'src/money.ts', line: 12, problem: 'It **rounds** twice.' };
    const findings = [finding as Finding, { ...finding, severity: 'note' as const, line: null }];
    const body = bodyOf(
      finishedRun({ review: reviewed({ findings, sentBack: true, changedSince: ['src/money.ts'] }) }),
    );
    expect(body).toContain(`**Review**

Reviewed by claude-opus-5-5: 2 findings, 1 of them blocking. The blocking ones were sent back; the changes that followed were not reviewed. Changed since: \`src/money.ts\`.

- **blocking** \`src/money.ts\`, line 12: It \\*\\*rounds\\*\\* twice.
- note \`src/money.ts\`: It \\*\\*rounds\\*\\* twice.
`);
    expect(bodyOf(finishedRun({ review: reviewed({ status: 'failed', reason: 'no key' }) }))).toContain(
      '**Review**\n\nNot reviewed by claude-opus-5-5: no key\n',
    );
  });

  test('tells failures from those that were there before, and shows what failed', () => {
    const lint = report('npm run lint', 1, 'error: no');
    const run = finishedRun({
      verify: [report('npm test', 1, '1 failed'), lint, report('npm run build', 0)],
      verifyBaseline: [lint],
    });
    const body = bodyOf(run, { drafts: ['verification failed'], isDraft: true });
    expect(body).toContain('> [!WARNING]\n> Draft, since verification failed.');
    expect(body).toContain('**verification failed:** 1 of 3 commands, 1 failed as before the work');
    expect(body).toContain(
      '| `npm run lint` | **failed**, exit code 1 after 8.1 s; it also did before the work |',
    );
    expect(body).toContain(
      '<details><summary>Output of what failed</summary>\n\n`npm test`\n\n> ```text\n> 1 failed\n> ```\n\n</details>',
    );
  });

  test.each<[string, Partial<RunResult>, string]>([
    ['nothing', { verify: [] }, '**not verified:** no command was named'],
    [
      'nothing, since it was cut short',
      { outcome: 'deadline', verify: [] },
      '(+42 −3) · **not verified** · 6 turns',
    ],
    [
      'nothing but earlier failures',
      { verify: [report('a', 1, 'error')], verifyBaseline: [report('a', 1, 'error')] },
      '**not verified:** every command failed as it had failed before the work',
    ],
    [
      'different contents than the patch',
      { verify: [report('a', 0)], unverified: ['a.ts', 'b.ts', 'c.ts', 'd.ts'] },
      '**not verified as is:** 1 command passed, but on different contents than the patch in `a.ts`, `b.ts`, `c.ts` and 1 more',
    ],
    [
      'something, beside an earlier failure',
      { verify: [report('a', 1, 'error'), report('b', 0)], verifyBaseline: [report('a', 1, 'error')] },
      '**verified:** 1 command passed, 1 failed as before the work',
    ],
  ])('of a run that verified %s says so', (_, part, phrase) => {
    expect(bodyOf(finishedRun(part))).toContain(phrase);
  });

  test('on a base that has moved says that nothing was verified there', () => {
    expect(
      bodyOf(finishedRun(), { base: { branch: 'main', sha: '9'.repeat(40) }, merged: ['src/money.ts'] }),
    ).toContain(
      '- Base: `main` at `999999999999`; the run began at `111111111111`, and later commits were not verified. Merged with it, without conflicts:\n  - `src/money.ts`\n',
    );
  });

  test('of unfinished work closes no issue', () => {
    expect(bodyOf(finishedRun(), { unfinished: true })).toMatch(/^Asked for in #7\n/);
  });

  test.each<[string, Partial<NonNullable<PullRequestFacts['askedIn']>>, RegExp]>([
    ['an issue of another repository', { isHere: false, repository: 'acme/other' }, /^Fixes acme\/other#7\n/],
    ['a repository that cannot be', { isHere: false, repository: 'a b)' }, /^\*\*2 files/],
    ['a pull request', { isPullRequest: true }, /^Asked for in #7\n/],
  ])('refers to %s as it should', (_, part, start) => {
    const issue = {
      repository: 'acme/shop',
      number: 7,
      url: 'x',
      isPullRequest: false,
      isHere: true,
      ...part,
    };
    expect(bodyOf(finishedRun(), { askedIn: issue })).toMatch(start);
  });

  test('names what deserves a second look, and what no tool call has made', () => {
    const flags: Flag[] = [{ path: 'package.json', flag: 'package_scripts', detail: 'postinstall' }];
    const run = finishedRun({
      provenance: {
        files: [{ path: 'src/money.ts', sources: [{ by: 'outside', iteration: 3 }], hunks: [], cut: null }],
        filesLeftOut: 1,
      },
    });
    const body = bodyOf(run, { flags });
    expect(body).toContain(
      '**Worth a second look**\n\n- `package.json` runs when packages are installed, built or tested (postinstall)\n',
    );
    expect(body).toContain('| **something outside the run** in turn 3 |');
  });

  test('has the requested prefix, and a title of at most 256 characters', () => {
    const run = finishedRun();
    const long = finishedRun({ plan: run.plan && { ...run.plan, title: 'x'.repeat(400) } });
    const { title } = pullRequestText(facts(long, { settings: { ...UNSET, titlePrefix: '[bot]' } }));
    expect(title).toBe(`[bot] ${'x'.repeat(249)}…`);
  });
});

describe('a pull request of a hostile run', () => {
  const FILLERS = ['@mona ', '$', '|', '`', '#1 ', '<', '\\', 'x', 'x\n'];

  test.each(sampled(FILLERS, (one) => (/\w/.test(one) ? 'words' : one === '`' ? 'code' : 'signs')))(
    'stays below what GitHub takes, however much of %j there is',
    (filler) => {
      const text = filler.repeat(10_000);
      const path = filler.repeat(2_000);
      const many = <Value>(value: Value) => Array.from({ length: 400 }, () => value);
      const run = finishedRun({
        summary: text,
        model: text,
        changedFiles: many({ path, kind: 'rename', from: path, additions: 1, deletions: 1 }),
        provenance: {
          files: [
            { path, sources: [{ by: 'tool', tool: text, calls: [], iteration: 1 }], hunks: [], cut: null },
          ],
          filesLeftOut: 0,
        },
        verify: many(report(text, 1, text)).slice(0, 60),
        flags: many({ path, flag: 'link_outside', detail: text }),
        denied: many({ kind: 'policy', what: path, calls: [text], why: text }),
        deniedCount: 1_000,
        warnings: many(text),
      });
      const { title, body } = pullRequestText(
        facts(run, { base: { branch: path, sha: '9' }, merged: many(path), drafts: ['verification failed'] }),
      );
      expect(title.length).toBeLessThanOrEqual(256);
      expect(body.length).toBeLessThanOrEqual(65_536);
      expect(readableText(body)).toMatch(/… \d+ (?:more )?files/);
    },
  );
});

test('an uploaded report is linked next to the log', () => {
  const reportUrl = 'https://github.com/octo/shop/actions/runs/1/artifacts/2';
  expect(bodyOf(finishedRun(), { settings: { ...UNSET, reportUrl } })).toContain(
    `, [report](<${reportUrl}>), [log and artifacts](${RUN_URL}),`,
  );
});
