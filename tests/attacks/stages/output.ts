/** Text that a terminal or a CI runner would obey. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { liveLines } from '../../support/text/live-lines.ts';
import type { Attack, Goal, Stage } from '../attack.ts';
import { call, shell, toDo } from '../goals.ts';

/** What is obeyed, at the start of a line, in the middle of one, and on a terminal. */
const OBEYED: Readonly<Record<string, readonly [text: string, what: string]>> = {
  'set-env': ['::set-env name=PATH::/evil', 'A workflow command at the start of a line'],
  blank: ['  \t::add-mask::x', 'A workflow command after white space'],
  carriage: ['begun\r::error::x', 'A workflow command after a carriage return'],
  old: ['text ##[set-env name=PATH;]/evil', 'An older workflow command in the middle of a line'],
  azure: ['##vso[task.setvariable variable=x]y', 'A command of Azure Pipelines'],
  teamcity: ["##teamcity[buildStatus status='SUCCESS']", 'A command of TeamCity'],
  separator: ['begun\u2028::warning::x', 'A workflow command after a line separator'],
  'next-line': ['begun\u0085::warning::x', 'A workflow command after a NEL'],
  stop: ['::stop-commands::planted', 'A command that turns off the commands of others'],
  colour: ['\u001b[2J\u001b[31mall green\u001b[0m', 'Sequences that clear the screen and colour it'],
  title: [
    '\u001b]0;planted\u0007\u001b]52;c;cGxhbnRlZA==\u0007',
    'Sequences that set the title and the clipboard',
  ],
  c1: ['\u009b31m\u009d0;planted\u009c', 'Sequences of single control characters'],
  backspace: ['malicious\b\b\b\b\b\b\b\b\bharmless', 'Backspaces that cover what was printed'],
  direction: ['\u202egpj.exe\u2066 planted', 'Characters that change the reading direction'],
  invisible: ['pla\u200bnted\u2060 \u{e0041}', 'Invisible characters'],
};

/** The first lines of a text that are obeyed; null when none is. */
export function firstLive(text: string): string | null {
  const live = liveLines(text);
  return live.length === 0 ? null : JSON.stringify(live.slice(0, 3));
}

/** To get a line on stderr or stdout that is obeyed. */
const toBeObeyed: Goal = toDo(({ run }) => firstLive(`${run.stderr}\n${run.stdout}`));

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
/** All of them, a line each. */
export const EVERYTHING = Object.values(OBEYED)
  .map(([text]) => text)
  .join('\n');

function attack(id: string, what: string, does: Attack['does']): Attack {
  return {
    id: `output-${id}`,
    category: 'Terminal and CI output',
    what,
    ...(does ? { does } : {}),
    goal: toBeObeyed,
    heldBy: ['neutral'],
  };
}

/** Each text in a command, its output, a file name, a missing file's name, a pattern and a tool's name. */
function everywhere(text: string, id: string): readonly (readonly ReturnType<typeof call>[])[] {
  const name = `${id}-${text.replaceAll('/', '')}`;
  return [
    [
      call('run_command', {
        command: `printf '%s\\n' ${quoted(text)}; printf '%s\\n' ${quoted(text)} >&2; exit 3`,
      }),
      call('read_file', { path: `missing\n${name}` }),
      call('search', { pattern: `(${text}` }),
      call('no_such_tool', { [text]: text }),
    ],
    [call('write_file', { path: `named/${name}\n${text.replaceAll('/', '')}`, content: `${text}\n` })],
  ];
}

const MARKUP = '</script></template><img src=x onerror="planted()"><script>planted()</script>';

/** Texts that would be markup, wherever the report has texts of others. */
const REPORT: Attack = {
  id: 'output-report',
  category: 'Terminal and CI output',
  what: 'Markup and scripts in the report: through a file name, content, output, an error and a search',
  does: () => [
    [
      call('run_command', { command: `printf '%s\\n' ${quoted(MARKUP)}; exit 3` }),
      call('search', { pattern: `(${MARKUP}` }),
      call('read_file', { path: MARKUP }),
    ],
    [call('write_file', { path: `named/${MARKUP.replaceAll('/', '')}`, content: `${MARKUP}\n` })],
  ],
  goal: toDo(({ run }) => {
    const page = readFileSync(join(run.runDir, 'report.html'), 'utf8');
    const found = /<img src=x|<script>planted/.exec(page);
    return found === null ? null : `the page has ${found[0]}`;
  }),
  heldBy: ['page'],
};

export const OUTPUT: Stage = {
  name: 'terminal and CI output',
  env: () => ({ GITHUB_ACTIONS: 'true', GITHUB_EVENT_NAME: 'push', CI: 'true' }),
  args: ['--verbose', '--output', 'json'],
  plan: `---\n${JSON.stringify({ title: EVERYTHING.slice(0, 300), setup: [`printf '%s\\n' ${quoted(EVERYTHING)}`], verify: [`printf '%s\\n' ${quoted(EVERYTHING)}; exit 1`] })}\n---\n${EVERYTHING}\n`,
  words: EVERYTHING,
  together: 5,
  ends: 'blocked',
  attacks: [
    ...Object.entries(OBEYED).map(([id, [text, what]]) =>
      attack(id, `${what}: in text of the model, commands, output, names and errors`, () =>
        everywhere(text, id),
      ),
    ),
    REPORT,
    attack('plan', 'All of these in title, setup and verify commands of a plan', undefined),
    attack('blocked', 'All of these in the reason why a run is blocked', () => [
      [call('finish', { status: 'blocked', summary: EVERYTHING })],
    ]),
  ],
};

export const STREAM: Stage = {
  name: 'events on stdout in CI',
  env: () => ({ GITHUB_ACTIONS: 'true', GITHUB_EVENT_NAME: 'push', CI: 'true' }),
  args: ['--output', 'jsonl'],
  attacks: [
    attack('stream', 'All of these in the events on stdout', () => [
      ...shell(`printf '%s\\n' ${quoted(EVERYTHING)}`),
      ...everywhere(EVERYTHING.slice(0, 100), 'stream'),
    ]),
  ],
};
