/** What others have left for the user's next commands: run directories, and a repository in which to run `doctor`. */

import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { makePipe } from '../../../support/files/temp-folder.ts';
import { KEY } from '../../../support/runs/scripted-run.ts';
import { type Aftermath, attacksIn, type Evidence, type Goal, type Stage } from '../../attack.ts';
import { formFound } from '../../canaries.ts';
import { call } from '../../goals.ts';
import type { Victim } from '../../victim.ts';

const CATEGORY = 'Files';
const attack = attacksIn(CATEGORY, 'foreign', 'foreign');

const WORD = 'heard-from-a-journal';
const PRIVATE = 'private.txt';

/** A run directory as someone else might pass it on, and the commands of an unsuspecting user. */
interface Handed {
  readonly make: (folder: string, victim: Victim) => void | Promise<void>;
  readonly commands: readonly (readonly string[])[];
  /** What a refusal says. */
  readonly because: string;
}

const rewrite = (folder: string, change: (text: string) => string) => {
  const journal = join(folder, 'events.jsonl');
  writeFileSync(journal, change(readFileSync(journal, 'utf8')));
};

/** Makes the tree of the user's other repository the base, and has a setup command print a file from it. */
async function claimTree(folder: string, victim: Victim): Promise<void> {
  const tree = (await victim.gitIn(join(victim.outside, 'other'), 'rev-parse', 'HEAD^{tree}')).trim();
  rewrite(folder, (text) => text.replace(/"tree":"[0-9a-f]{40}"/g, `"tree":"${tree}"`));
  beginWith(folder, `cat ${PRIVATE}; false`);
}

/** Puts a setup command at the beginning of the journal. */
function beginWith(folder: string, command: string): void {
  const end = {
    exitCode: 0,
    signal: null,
    timedOut: false,
    interrupted: false,

    durationMs: 1,
  };
  const report = JSON.stringify([{ command, end, output: '' }]);
  rewrite(folder, (text) => text.replace('"setup":[]', () => `"setup":${report}`));
}

const HANDED: Readonly<Record<string, Handed>> = {
  links: {
    async make(folder, victim) {
      await claimTree(folder, victim);
      rmSync(join(folder, 'shadow.git/objects'), { recursive: true });
      symlinkSync(join(victim.outside, 'other/.git/objects'), join(folder, 'shadow.git/objects'));
    },
    commands: [['replay'], ['undo', '--force']],
    because: 'shadow.git/objects is a link',
  },
  objects: {
    async make(folder, victim) {
      await claimTree(folder, victim);
      const alternates = join(folder, 'shadow.git/objects/info/alternates');
      writeFileSync(alternates, `${join(victim.outside, 'other/.git/objects')}\n`);
    },
    commands: [['replay']],
    because: 'does not have the base of the run',
  },
  network: {
    make(folder, { listeners }) {
      rewrite(folder, (text) =>
        text
          .replace(/"sandbox":"[^"]*"/, '"sandbox":"none"')
          .replace('"allowedDomains":[]', '"allowedDomains":["*.example.com"]'),
      );
      beginWith(
        folder,
        `for host in 127.0.0.1 localhost; do curl -s --max-time 2 http://$host:${listeners.port}/${WORD}; done; true`,
      );
    },
    commands: [['replay']],
    because: 'could reach *.example.com, and this replay cannot',
  },
  pipe: {
    make(folder) {
      rmSync(join(folder, 'result.json'));
      const alternates = join(folder, 'shadow.git/objects/info/alternates');
      rmSync(alternates);
      makePipe(alternates);
    },
    commands: [['resume']],
    because: 'alternates is neither a file nor a folder',
  },
  endless: {
    make(folder) {
      truncateSync(join(folder, 'events.jsonl'), 2 ** 40);
      rmSync(join(folder, 'result.json'));
      symlinkSync('/dev/zero', join(folder, 'result.json'));
    },
    commands: [['blame'], ['show']],
    because: 'result.json is a link',
  },
  'many-events': {
    make(folder) {
      hideOften(folder, 100_000);
    },
    commands: [['undo']],
    because: 'has more than 100,000 events',
  },
};

/** A journal with this many events, each of which copies all earlier ones when folded. */
function hideOften(folder: string, count: number): void {
  const journal = join(folder, 'events.jsonl');
  const events = readFileSync(journal, 'utf8').trimEnd().split('\n');
  const hidden = Array.from({ length: count }, (_, at) =>
    JSON.stringify({ type: 'files.hidden', paths: [`x${at}`], seq: events.length + 1 + at, at }),
  );
  writeFileSync(journal, `${[...events, ...hidden].join('\n')}\n`);
}

/** What the commands over the run directory of this name said, each with its exit code; none where it did not end. */
const notesOf = ({ notes }: Victim, id: string) => notes.filter((note) => note.startsWith(`${id} `));

/** To have the commands go on with a run directory, show a canary, or not end. */
function toBeTaken(id: string, canary?: string): Goal {
  return {
    ...(canary === undefined ? {} : { canary }),
    reached({ victim }: Evidence) {
      const said = notesOf(victim, id);
      const shown = canary === undefined ? null : formFound(said.join('\n'), victim.canary(canary));
      if (shown !== null) return `the canary was shown, ${shown}`;
      const { commands, because } = HANDED[id] as Handed;
      const refused = said.filter((note) => note.startsWith(`${id} exit 2:`) && note.includes(because));
      return refused.length === commands.length ? null : said.join('\n');
    },
  };
}

/** Tools that the machine might have, which read the same files in the working directory as Maven. */
function putTools(victim: Victim): string {
  const folder = join(victim.folder, 'tools');
  const settings = '.mvn/jvm.config';
  victim.put(join(folder, 'mvn'), `#!/bin/sh\n[ ! -f ${settings} ] || . ./${settings}\necho 3.9.9\n`, 0o755);
  victim.put(join(victim.root, settings), `: > ${join(victim.folder, 'marks-maven')}; : > sprung\n`);
  mkdirSync(join(victim.root, 'bin'));
  victim.put(join(victim.root, 'bin/java'), `#!/bin/sh\n. ${join(victim.root, settings)}\n`, 0o755);
  return `${join(victim.root, 'bin')}:${folder}:/usr/bin:/bin`;
}

/** Nothing answers there: refusals come before any request to a model. */
const MODEL = { ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: 'http://127.0.0.1:9' };

async function goOn({ victim, mode, run, cli }: Aftermath): Promise<void> {
  const sandbox = ['--sandbox', mode === 'none' ? 'off' : 'required'];
  for (const [id, { make, commands }] of Object.entries(HANDED)) {
    const folder = join(victim.folder, 'foreign', id);
    cpSync(run.runDir, folder, { recursive: true });
    await make(folder, victim);
    for (const [name = '', ...args] of commands) {
      const settings = ['replay', 'resume'].includes(name) ? sandbox : [];
      const end = await cli([name, folder, ...args, ...settings], MODEL);
      victim.notes.push(`${id} exit ${end.exitCode}: ${name}: ${end.stdout}${end.stderr}`);
    }
  }
  const end = await cli(['doctor', ...sandbox], { PATH: putTools(victim) });
  victim.notes.push(`doctor exit ${end.exitCode}: ${end.stdout}${end.stderr}`);
}

const byPrograms = attacksIn('Known incidents', 'incident', 'programs');

export const HANDED_ON: Stage = {
  name: 'files planted for the next command',
  async prepare(victim) {
    const other = join(victim.outside, 'other');
    victim.put(join(other, PRIVATE), `${victim.canary('linked')} ${victim.canary('stored')}\n`);
    await victim.gitIn(other, 'init', '--quiet');
    await victim.gitIn(other, 'add', '--all');
    await victim.gitIn(other, 'commit', '--quiet', '--message', 'Private');
  },
  afterwards: goOn,
  attacks: [
    attack(
      'links',
      'A run directory with a link to the object store of the user’s other repository, for `replay` and `undo` to show',
      toBeTaken('links', 'linked'),
      () => [[call('edit_file', { path: 'a.txt', find: 'a', replace: 'b' })]],
    ),
    attack('objects', 'The same by its alternates, for `replay`', toBeTaken('objects', 'stored')),
    attack(
      'network',
      'A run directory with its own setup command, hosts to reach and no sandbox in the journal, for `replay`',
      {
        reached: ({ victim }) => (victim.listeners.heard().includes(WORD) ? `${WORD} arrived` : null),
      },
      undefined,
      { none: 'open' },
    ),
    attack(
      'pipe',
      'A run directory with a named pipe as `objects/info/alternates`, for `resume` to block on',
      toBeTaken('pipe'),
    ),
    attack(
      'endless',
      'A run directory with a journal of a terabyte and a link to an endless device, for `blame` and `show`',
      toBeTaken('endless'),
    ),
    attack(
      'many-events',
      'A run directory with a journal of so many events that folding them takes hours, for `undo`',
      toBeTaken('many-events'),
    ),
    byPrograms(
      'doctor',
      'Files of the repository that tools read at once (`.mvn/jvm.config`), and programs in it, for `doctor`',
      {
        reached({ victim }) {
          const [said] = notesOf(victim, 'doctor');
          const marks = [join(victim.folder, 'marks-maven'), join(victim.root, 'sprung')];
          const sprung = marks.filter((path) => existsSync(path));
          if (sprung.length > 0) return `${sprung.join(', ')} was made`;
          return said?.includes('mvn  3.9.9') ? null : `doctor did not try the tool: ${said}`;
        },
      },
    ),
  ],
};
