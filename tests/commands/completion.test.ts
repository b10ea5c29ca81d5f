import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { SCRIPTS } from '../../src/commands/completion/scripts.ts';
import { completedCommands, SHELLS } from '../../src/commands/completion/words.ts';
import { COMMANDS } from '../../src/commands/registry.ts';
import { settingEntries } from '../../src/config/schema.ts';
import { removeFolders, temporaryFolder } from '../support/files/repository.ts';
import { PATIENCE_MS } from '../support/waiting/patience.ts';

const folder = temporaryFolder();
writeFileSync(join(folder, 'plan one.md'), '');
mkdirSync(join(folder, 'docs'));
// Two runs, one of them elsewhere, and what no run is called.
const RUN = '20261121-101500-3f9a2c';
const OTHER = '20261122-101500-3f9a2d';
const STATE = join(folder, '.local/state/patchsmith');
for (const name of [RUN, 'checks', '$(touch pwned)', '20261122-101500-$(id)'])
  mkdirSync(join(STATE, name), { recursive: true });
writeFileSync(join(STATE, `${OTHER}.elsewhere`), '/runs/other');
afterAll(removeFolders);

const commands = completedCommands(COMMANDS);
const FILES = Object.fromEntries(
  SHELLS.map((shell) => {
    const path = join(folder, `completion.${shell}`);
    writeFileSync(path, SCRIPTS[shell](commands));
    return [shell, path];
  }),
);

const ASK: Readonly<Record<string, (words: readonly string[]) => string>> = {
  bash: (words) => `
    COMP_WORDS=(patchsmith ${words.map((word) => `'${word}'`).join(' ')})
    COMP_CWORD=${words.length}
    _patchsmith
    printf '%s\\n' "\${COMPREPLY[@]}"`,
  fish: (words) => `complete -C 'patchsmith ${words.join(' ')}'`,
};

/** What a shell offers for the last of the words of each line. */
function offered(shell: string, lines: readonly (readonly string[])[]): string[][] {
  const args = shell === 'bash' ? ['--norc', '-c'] : ['--no-config', '-c'];
  const asked = lines.map((words) => `${ASK[shell]?.(words)}\nprintf '\\1'`);
  const answers = answerOf(shell, [...args, [`source ${FILES[shell]}`, ...asked].join('\n')]);
  return answers.split('\u0001').map((answer) =>
    answer
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => line.split('\t')[0] ?? ''),
  );
}

function answerOf(shell: string, args: readonly string[]): string {
  const env = { PATH: process.env.PATH, HOME: folder, TERM: 'xterm', LC_ALL: 'C.UTF-8' };
  return execFileSync(shell, args, { cwd: folder, encoding: 'utf8', env, timeout: PATIENCE_MS });
}

const isThere = (shell: string) => spawnSync(shell, ['-c', 'true']).status === 0;

describe.each(['bash', 'fish'].filter(isThere))('%s', (shell) => {
  test('knows every command, and the flags of each', () => {
    const lines = [[''], ...COMMANDS.map(({ name }) => [name, '--'])];
    const [names = [], ...flags] = offered(shell, lines);
    expect(names.sort()).toEqual([...COMMANDS.map(({ name }) => name), 'help'].sort());
    COMMANDS.forEach(({ name, settings, settingsWith = {}, switches }, at) => {
      const taken = [...settings, ...Object.values(settingsWith).flat()];
      const own = settingEntries().flatMap(({ key, flag }) => (taken.includes(key) ? [`--${flag}`] : []));
      const expected = [...own, ...Object.keys(switches).map((flag) => `--${flag}`), '--help'];
      const long = (flags[at] ?? []).filter((word) => word.startsWith('--'));
      expect([...new Set(long)].sort(), name).toEqual(expected.sort());
    });
  });

  test('offers the values that a word can have', () => {
    const values: [string[], string[]][] = [
      [
        ['run', '--sandbox', ''],
        ['required', 'auto', 'off'],
      ],
      [
        ['run', '--output', 'js'],
        ['json', 'jsonl'],
      ],
      [
        ['publish', '--output', ''],
        ['json', 'none'],
      ],
      [['help', 'und'], ['undo']],
      [
        ['undo', '2'],
        [RUN, OTHER],
      ],
      [['resume', 'l'], ['last']],
      [['show', 'do'], shell === 'fish' ? ['docs'] : []],
      [['report', './do'], ['./docs']],
      [['run', '--repo', 'do'], ['docs']],
      [['run', '--plan', 'pl'], ['plan one.md']],
      [['run', '--model', ''], []],
      [
        ['completion', ''],
        ['bash', 'zsh', 'fish'],
      ],
    ];
    const shown = offered(
      shell,
      values.map(([words]) => words),
    );
    values.forEach(([words, expected], at) => {
      const bare = (shown[at] ?? []).map((word) => word.replace(/\/$/, '').replaceAll('\\ ', ' '));
      expect(bare.sort(), words.join(' ')).toEqual([...expected].sort());
    });
    expect(existsSync(join(folder, 'pwned'))).toBe(false);
  });
});

describe.skipIf(!isThere('zsh'))('zsh', () => {
  // It completes only in a terminal: in one, the words are typed, then Tab, then a key that shows the line.
  test.each([
    ['und', 'undo '],
    ['run --sandb', 'run --sandbox '],
    ['run --sandbox req', 'run --sandbox required '],
    ['help publ', 'help publish '],
    ['undo 20261121', `undo ${RUN} `],
    ['undo la', 'undo last '],
    ['run --plan pl', 'run --plan plan\\ one.md '],
  ])('completes %s', (words, expected) => {
    const script = `
      zmodload zsh/zpty
      zpty shell zsh -f -i
      zpty -w shell "PS1=; autoload -U compinit; compinit -u -d ${folder}/dump; source ${FILES.zsh}"
      zpty -w shell 'show() { print -r -- "<$BUFFER>"; }; zle -N show; bindkey "^X" show; echo rea""dy'
      zpty -r shell out '*ready*'
      zpty -w -n shell $'patchsmith ${words}\\t\\x18'
      zpty -r shell out '*<*>*'
      print -r -- "$out"
      zpty -d shell`;
    expect(answerOf('zsh', ['-f', '-c', script])).toContain(`<patchsmith ${expected}>`);
  });

  test('reads the script without a complaint, and knows every flag', () => {
    expect(spawnSync('zsh', ['-n', FILES.zsh ?? ''], { encoding: 'utf8' })).toMatchObject({
      status: 0,
      stderr: '',
    });
    const script = SCRIPTS.zsh(commands);
    for (const { flags } of commands) for (const { flag } of flags) expect(script).toContain(`${flag}[`);
  });
});
