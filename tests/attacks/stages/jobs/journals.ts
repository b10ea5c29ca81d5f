/** What `resume` gets as the artifact of another job: a run directory that was changed on its way. */

import { cpSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startClaudeServer } from '../../../support/claude-server/server.ts';
import { runCli } from '../../../support/runs/cli.ts';
import { KEY, scriptedRun } from '../../../support/runs/scripted-run.ts';
import { attacksIn, type Goal, type Stage } from '../../attack.ts';
import { call, toDo } from '../../goals.ts';
import type { Hold } from '../../held-by.ts';
import type { Victim } from '../../victim.ts';

const heldBy = (...heldBy: Hold[]) => attacksIn('Policy', 'journal', ...heldBy);
const byToday = heldBy('today');

/** A run that was cut off before its end; the work tree is as it was before it. */
async function cutOff(victim: Victim): Promise<string> {
  const runDir = join(victim.folder, 'journal');
  await scriptedRun({
    repository: victim,
    runDir,
    turns: [{ calls: [call('write_file', { path: 'b.txt', content: 'b\n' })] }, { text: 'Done.' }],
    args: ['--protect', 'a.txt'],
  });
  rmSync(join(runDir, 'result.json'));
  const journal = join(runDir, 'events.jsonl');
  const lines = readFileSync(journal, 'utf8').trimEnd().split('\n');
  const turn = lines.findLastIndex((line) => line.includes('"turn.completed"'));
  writeFileSync(journal, `${lines.slice(0, turn).join('\n')}\n`);
  rmSync(join(victim.root, 'b.txt'));
  return runDir;
}

/** What an attacker does to a copy of it. */
type Change = (run: string) => void;

/** Changes what the journal says of its beginning. */
function began(change: (start: Record<string, unknown>) => object): Change {
  return (run) => {
    const journal = join(run, 'events.jsonl');
    const [first = '', ...rest] = readFileSync(journal, 'utf8').split('\n');
    const start = JSON.parse(first);
    writeFileSync(journal, [JSON.stringify({ ...start, ...change(start) }), ...rest].join('\n'));
  };
}

function linked(victim: Victim, path: string): Change {
  return (run) => {
    rmSync(join(run, path), { recursive: true });
    symlinkSync(join(victim.outside, 'secret'), join(run, path));
  };
}

/** Resumed as `mode: resume` does it, in the checkout of this job, with its settings. */
async function resumeIn(
  victim: Victim,
  { run, change, root, url }: { run: string; change: Change; root: string; url: string },
): Promise<void> {
  const copy = join(victim.folder, `journal-${victim.notes.length}`);
  cpSync(run, copy, { recursive: true });
  change(copy);
  const end = await runCli(['resume', copy, '--repo', root, '--protect', 'a.txt', '--deadline', '600s'], {
    cwd: root,
    env: { ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: url, XDG_STATE_HOME: join(victim.folder, 'state') },
  });
  victim.notes.push(`exit ${end.exitCode}: ${end.stderr}`);
}

/** To end in any other way than refused for this reason, to be sent the key, or to have something outside read. */
function toGoOn(at: number, refusal: string): Goal {
  return toDo(({ victim }) => {
    const note = victim.notes[at] ?? '';
    const isRefused =
      note.startsWith('exit 2: ') && note.includes(refusal) && !note.includes(victim.canary('journal'));
    return isRefused && victim.listeners.heard() === '' ? null : `${note} ${victim.listeners.heard()}`;
  });
}

const toChangeWhatIsProtected = toDo(({ victim }) => {
  const note = victim.notes.at(-1) ?? '';
  const text = readFileSync(join(victim.folder, 'other', 'a.txt'), 'utf8');
  return note.startsWith('exit 0: ') && text === 'a\n' ? null : `${note}${text}`;
});

export const JOURNALS: Stage = {
  name: 'a journal that was changed between two jobs',
  async prepare(victim) {
    victim.put(join(victim.outside, 'secret'), victim.canary('journal'));
    const run = await cutOff(victim);
    const url = `http://127.0.0.1:${victim.listeners.port}`;
    const refused = (change: Change) => resumeIn(victim, { run, change, root: victim.root, url });
    await refused(
      began((start) => ({
        allowedDomains: ['example.com'],
        acceptSecrets: ['**'],
        includeForeign: true,
        toolSettings: { ...(start.toolSettings as object), webFetch: ['*'] },
        limits: { ...(start.limits as object), maxIterations: 1_000_000, maxCostUsd: 1_000_000 },
      })),
    );
    await refused(began(() => ({ provider: 'openai', model: 'gpt-5', sandbox: 'none' })));
    await refused(linked(victim, 'events.jsonl'));
    await refused(linked(victim, 'shadow.git/objects'));
    const other = join(victim.folder, 'other');
    await victim.git('clone', '--quiet', victim.root, other);
    const write = { ...call('write_file', { path: 'a.txt', content: 'taken\n' }), id: 'swapped' };
    const server = await startClaudeServer({
      turns: (_, at) => (at === 0 ? { calls: [write] } : { text: 'Done.' }),
      apiKey: KEY,
    });
    const swapped = began((start) => ({
      plan: {
        ...(start.plan as object),
        title: 'Take over',
        sha256: '0'.repeat(64),
        allow: ['**'],
        protect: [],
      },
      paths: { allow: [], protect: [] },
    }));
    await resumeIn(victim, { run, change: swapped, root: other, url: server.url }).finally(() =>
      server.close(),
    );
  },
  attacks: [
    byToday(
      'wider',
      'A journal that was changed between two jobs requests hosts, secrets, web pages and limits from `resume`',
      toGoOn(0, "--allow-domain example.com --web-fetch '*'"),
    ),
    byToday(
      'settings',
      'Changed settings of the run in it name another provider and no sandbox',
      toGoOn(1, '--provider openai --sandbox off'),
    ),
    heldBy('regular')(
      'link',
      'A link in its place leads to a file outside',
      toGoOn(2, 'events.jsonl is a link'),
    ),
    heldBy('regular')(
      'objects',
      'A link in the place of its contents leads outside',
      toGoOn(3, 'objects is a link'),
    ),
    byToday('plan', 'Its plan is replaced by one that protects nothing', toChangeWhatIsProtected),
  ],
};
