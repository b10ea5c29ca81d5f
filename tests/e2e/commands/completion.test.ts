/** What shells offer where their completion is turned on as README says. */

import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryFolder } from '../../support/files/repository.ts';
import { CLI } from '../../support/runs/cli.ts';
import { sampled } from '../../support/setup/sample.ts';
import { PATIENCE_MS } from '../../support/waiting/patience.ts';

const folder = temporaryFolder();
writeFileSync(join(folder, 'plan one.md'), '');
writeFileSync(join(folder, 'patchsmith'), `#!/bin/sh\nexec '${process.execPath}' '${CLI}' "$@"\n`, {
  mode: 0o755,
});
// Two runs, one of them elsewhere, and what no run is called.
const [RUN, OTHER] = ['20261121-101500-3f9a2c', '20261122-101500-3f9a2d'];
const STATE = join(folder, '.local/state/patchsmith');
for (const name of [RUN, 'checks', '$(touch pwned)', '20261122-101500-$(id)'])
  mkdirSync(join(STATE, name), { recursive: true });
mkdirSync(join(folder, 'other'));
writeFileSync(join(STATE, `${OTHER}.elsewhere`), join(folder, 'other'));
function answerOf(shell: string, args: readonly string[]): string {
  const env = { PATH: `${folder}:${process.env.PATH}`, HOME: folder, TERM: 'xterm', LC_ALL: 'C.UTF-8' };
  return execFileSync(shell, args, { cwd: folder, encoding: 'utf8', env, timeout: PATIENCE_MS });
}

const isThere = (shell: string) => spawnSync(shell, ['-c', 'true']).status === 0;

const ASK: Readonly<Record<string, (words: readonly string[]) => string>> = {
  bash: (words) => `
    COMP_WORDS=(patchsmith ${words.map((word) => `'${word}'`).join(' ')})
    COMP_CWORD=${words.length}
    _patchsmith
    printf '%s\\n' "\${COMPREPLY[@]}"`,
  fish: (words) => `complete -C 'patchsmith ${words.join(' ')}'`,
};

describe.each(sampled(['bash', 'fish'].filter(isThere), () => 'shell'))('%s', (shell) => {
  test('offers commands, flags, values and runs', () => {
    const lines: [string[], string[]][] = [
      [['un'], ['undo']],
      [['help', 'und'], ['undo']],
      [
        ['run', '--sandb'],
        ['--sandbox', '--sandbox-level'],
      ],
      [
        ['run', '--sandbox', ''],
        ['required', 'auto', 'off'],
      ],
      [
        ['publish', '--output', ''],
        ['json', 'none'],
      ],
      [
        ['undo', '2'],
        [RUN, OTHER],
      ],
      [
        ['completion', ''],
        ['bash', 'zsh', 'fish'],
      ],
      [['init', '--a'], ['--app']],
    ];
    const source = {
      bash: 'source <(patchsmith completion bash)',
      fish: 'patchsmith completion fish | source',
    };
    const asked = lines.map(([words]) => `${ASK[shell]?.(words)}\nprintf '\\1'`);
    const script = [source[shell as keyof typeof source], ...asked].join('\n');
    const answers = answerOf(shell, [shell === 'bash' ? '--norc' : '--no-config', '-c', script]);
    const offered = answers.split('\u0001').map((answer) =>
      answer
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => line.split('\t')[0] ?? ''),
    );
    lines.forEach(([words, expected], at) => {
      expect(offered[at]?.sort(), words.join(' ')).toEqual([...expected].sort());
    });
    expect(existsSync(join(folder, 'pwned'))).toBe(false);
  });
});

test('bash takes a value after = too, and files where nothing is known', () => {
  const words = ASK.bash?.(['run', '--sandbox', '=', 're']);
  const script = `source <(patchsmith completion bash); ${words}; complete -p patchsmith`;
  expect(answerOf('bash', ['--norc', '-c', script])).toBe(
    'required\ncomplete -o default -F _patchsmith patchsmith\n',
  );
});

test.skipIf(!isThere('fish'))('fish offers files where nothing is known', () => {
  const script = "patchsmith completion fish | source; complete -C 'patchsmith run --plan pl'";
  expect(answerOf('fish', ['--no-config', '-c', script])).toBe('plan one.md\n');
});

// zsh completes only in a terminal: in one, the words are typed, then Tab, then a key that shows the line.
const TYPED = [
  ['run --verify-i', 'run --verify-in '],
  ['run --sandbox req', 'run --sandbox required '],
  ['undo 20261121', `undo ${RUN} `],
  ['run --plan pl', 'run --plan plan\\ one.md '],
] as const;

test.skipIf(!isThere('zsh')).each(sampled(TYPED, () => 'typed', 1))('zsh completes %s', (words, expected) => {
  const script = `
    zmodload zsh/zpty
    zpty shell zsh -f -i
    zpty -w shell "PS1=; autoload -U compinit; compinit -u -d ${folder}/dump; source <(patchsmith completion zsh)"
    zpty -w shell 'show() { print -r -- "<$BUFFER>"; }; zle -N show; bindkey "^X" show; echo rea""dy'
    zpty -r shell out '*ready*'
    zpty -w -n shell $'patchsmith ${words}\\t\\x18'
    zpty -r shell out '*<*>*'
    print -r -- "$out"
    zpty -d shell`;
  expect(answerOf('zsh', ['-f', '-c', script])).toContain(`<patchsmith ${expected}>`);
});
