import { describe, expect, test } from 'vitest';
import type { RunOutcome } from '../../src/domain/run/outcome.ts';
import { type StepFacts, stepSummary } from '../../src/texts/step.ts';
import { finishedRun, report } from '../support/runs/finished-run.ts';
import { sampled } from '../support/setup/sample.ts';

const done: RunOutcome = {
  name: 'done',
  exitCode: 0,
  errorCode: null,
  reason: '2 files changed, 1 verify command passed.',
};
const facts = (part: Partial<StepFacts> = {}): StepFacts => ({
  outcome: done,
  pullRequest: null,
  warnings: [],
  ...part,
});

describe('the summary of a step', () => {
  test('says the outcome first, and then what it rests on', () => {
    expect(stepSummary(finishedRun(), facts())).toBe(`### patchsmith: done (exit 0)

2 files changed, 1 verify command passed.

**2 files changed** (+42 −3) · **verified:** 1 command passed · 6 turns, USD 0.0812

| Verified with | Result |
| --- | --- |
| \`npm test\` | passed after 8.1 s |

<details><summary>Changed files, and what made them</summary>

| File |  | Lines | Made by |
| --- | --- | --- | --- |
| \`src/money.ts\` | changed | +12 −3 | \`edit_file\` in turns 2, 4 |
| \`tests/money.test.ts\` | new | +30 −0 | \`write_file\` in turn 3 |

</details>

In the model's own words:

> Amounts are rounded to the cent, half to even, and a test says so.

<sub>claude-sonnet-5-5, 46,600 tokens, 88% of the prompts from the cache, USD 0.0812, 94.3 s · patch sha256 \`${'c'.repeat(64)}\` on base \`111111111111\` · run \`20261121-164500-3f9a\`</sub>
`);
  });

  test('names what was denied, by kind, call and reason, and counts what the result only counts', () => {
    const run = finishedRun({
      denied: [
        { kind: 'policy', what: 'LICENSE', calls: ['t1'], why: 'Not allowed.' },
        { kind: 'missing_tool', what: 'eslint', calls: ['t2', 't3'], why: 'eslint: not found' },
        { kind: 'network', what: 'a.org', calls: [], commands: ['npm ci'], why: 'Refused.' },
      ],
      deniedCount: 5,
    });
    expect(stepSummary(run, facts())).toContain(`**Denied to the run**

- \`LICENSE\` (policy, call \`t1\`): Not allowed.
- \`eslint\` (not found, one of the calls \`t2\`, \`t3\`): eslint: not found
- \`a.org\` (network, command \`npm ci\`): Refused.
- … 2 more denials that the result only counts
`);
  });

  test('does not say that nothing was changed where that is not known', () => {
    const run = finishedRun({ outcome: 'internal_error', treeSha: null, patch: null, changedFiles: [] });
    const summary = stepSummary(run, facts());
    expect(summary).toContain('**changes unknown** · ');
    expect(summary).not.toContain('0 files changed');
  });

  test('says where a secret is, and what else is to be looked at', () => {
    const run = finishedRun({
      secrets: [
        { path: 'src/a.ts', line: 3, what: 'a GitHub token' },
        { path: 'key', line: 0, what: 'a known secret value' },
      ],
      warnings: ['Not in the patch: x'],
    });
    const text = stepSummary(run, facts({ warnings: ['no label'] }));
    expect(text).toContain('- `src/a.ts`, line 3: a GitHub token\n- `key`: a known secret value\n');
    expect(text).toContain('**Warnings**\n\n- Not in the patch: x\n- no label\n');
  });

  const FILLERS = ['é', '$', '|', '`', '#1 ', '\ufffd', '😀'];

  test.each(sampled(FILLERS, (one) => String(Buffer.byteLength(one))))(
    'stays below 1 MiB, however much of %j there is',
    (filler) => {
      const text = filler.repeat(100_000);
      const path = filler.repeat(2_000);
      const many = <Value>(value: Value) => Array.from({ length: 1_000 }, () => value);
      const run = finishedRun({
        summary: text,
        model: text,
        runId: text,
        verify: many(report(text, 1, text)).slice(0, 60),
        changedFiles: many({ path, kind: 'modify', additions: 1, deletions: 0 }),
        secrets: many({ path, line: 1, what: text }),
        flags: many({ path, flag: 'workflow', detail: text }),
        warnings: many(text),
      });
      const page = stepSummary(run, facts({ outcome: { ...done, reason: text }, warnings: many(text) }));
      expect(Buffer.byteLength(page)).toBeLessThan(1024 * 1024);
    },
  );
});
