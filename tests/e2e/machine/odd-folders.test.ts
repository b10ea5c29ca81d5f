import { expect, test } from 'vitest';
import { makeRepository } from '../../support/files/repository.ts';
import { scriptedRun } from '../../support/runs/scripted-run.ts';
import { sampled } from '../../support/setup/sample.ts';

const FOLDERS = [
  'HOME',
  'XDG_CACHE_HOME',
  'XDG_CONFIG_HOME',
  'XDG_DATA_HOME',
  'XDG_STATE_HOME',
  'TMPDIR',
  'RUNNER_TEMP',
];

test.each(sampled(['/dev/null', '/etc/passwd', 'relative', ''], (place) => String(place.startsWith('/'))))(
  'a run needs no folder of an environment that names %j for all of them',
  async (place) => {
    const repository = await makeRepository({ 'a.txt': 'a\n' });
    const env = Object.fromEntries(FOLDERS.map((name) => [name, place]));
    const { result, stderr } = await scriptedRun({
      repository,
      built: true,
      turns: [{ text: 'Done.' }],
      env,
    });
    expect(result.outcome, stderr).toBe('no_change');
  },
);
