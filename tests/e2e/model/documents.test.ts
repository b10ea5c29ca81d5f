import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { pdfOf } from '../../support/documents/pdf.ts';
import { makeRepository } from '../../support/files/repository.ts';
import { call, scriptedRun } from '../../support/runs/scripted-run.ts';

test('a document is read by the model as text is, and cannot be edited as such', async () => {
  const repository = await makeRepository({ 'a.txt': 'old\n' });
  writeFileSync(join(repository.root, 'spec.pdf'), pdfOf(['Name it beta.']));
  writeFileSync(join(repository.root, 'other.pdf'), pdfOf(['One\nTwo']));
  const { exitCode, stderr, events } = await scriptedRun({
    repository,
    turns: [
      {
        calls: [
          call('read_file', { path: 'spec.pdf' }),
          call('read_file', { path: 'other.pdf', offset: 4, limit: 1 }),
          call('edit_file', { path: 'other.pdf', find: 'One', replace: 'Three' }),
        ],
      },
      { calls: [call('finish', { status: 'done', summary: 'Looked.' })] },
    ],
  });
  expect(exitCode, stderr).toBe(0);
  const said = events.flatMap((event) => (event.type === 'tool.completed' ? [event.outcome] : []));
  expect(said[0]).toMatchObject({
    status: 'ok',
    text: '[Text of a PDF document, without layout and pictures]\n[Page 1 of 1]\nName it beta.\n',
  });
  expect(said[1]).toMatchObject({ status: 'ok', text: 'Two\n[Lines 4-4 of 4]' });
  expect(said[2]).toMatchObject({ status: 'failed', reason: 'not_text' });
});
