/** Runs programs of the machine that set it up: for a bounded time, with nothing of this process's environment. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { raceAbort } from '../../host/deadline.ts';

/** Programs of the machine, and how one of them gets root's rights. */
export interface Programs {
  /** The absolute path of a program; null when there is none. */
  find(name: string): string | null;
  readonly isRoot: boolean;
}

/** A command of the machine. */
export interface MachineCommand {
  /** The first word is the name of a program, looked up by `Programs`. */
  readonly line: readonly string[];
  readonly asRoot?: boolean;
  /** What it reads from stdin; default: nothing. */
  readonly input?: string;
  readonly seconds: number;
  readonly signal: AbortSignal;
}

/** Null when it succeeded, otherwise why it did not: the last line that it printed, where it printed something. */
export async function runOnMachine(programs: Programs, command: MachineCommand): Promise<string | null> {
  const { line, asRoot = false, input = '', seconds, signal } = command;
  const [name = '', ...args] = line;
  const viaSudo = asRoot && !programs.isRoot;
  const paths = ['timeout', name, ...(viaSudo ? ['sudo', 'kill'] : [])].map((one) => [
    one,
    programs.find(one),
  ]);
  const missing = paths.find(([, path]) => path === null);
  if (missing !== undefined) return `there is no ${missing[0]}`;
  if (signal.aborted) return INTERRUPTED;
  const pathOf = Object.fromEntries(paths) as Record<string, string>;
  const before = viaSudo ? [pathOf.sudo ?? '', '-n'] : [];
  const limit = [pathOf.timeout ?? '', `--kill-after=${GRACE_S}`, String(seconds)];
  const [program = '', ...words] = [...before, ...limit, pathOf[name] ?? '', ...args];

  // Its own process group: sudo does not forward signals from its own group.
  const child = spawn(program, words, { env: ENVIRONMENT, cwd: '/', detached: true });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      said = `${said}${chunk}`.slice(-MOST_SAID);
    });
  // It may end without reading.
  child.stdin.on('error', () => undefined).end(input);
  const giveUp = new AbortController();
  const giveUpAfter = (delayS: number) => setTimeout(() => giveUp.abort(), delayS * 1000).unref();
  giveUpAfter(seconds + 2 * GRACE_S);
  const end = () => {
    giveUpAfter(2 * GRACE_S);
    // Only root may signal what runs as root. timeout passes it on to the program and to what that has started.
    if (!viaSudo) child.kill('SIGTERM');
    else {
      const kill = ['-n', pathOf.kill ?? '', '-TERM', String(child.pid)];
      spawn(program, kill, { env: ENVIRONMENT, detached: true, stdio: 'ignore' }).on(
        'error',
        () => undefined,
      );
    }
  };
  signal.addEventListener('abort', end, { once: true });
  const closed = once(child, 'close').catch((error: Error) => error.message);
  const ended = await raceAbort(giveUp.signal, closed);
  signal.removeEventListener('abort', end);
  if (ended === null) {
    child.unref();
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
  }
  if (signal.aborted) return INTERRUPTED;
  if (typeof ended === 'string') return ended;
  if (ended === null || ended[0] === TIMED_OUT) return `it took longer than ${seconds} s`;
  return ended[0] === 0 ? null : lastLine(said) || `exit code ${ended[0] ?? ended[1]}`;
}

/** Keys and tokens are not in it, and nothing that could lead to other programs. */
const ENVIRONMENT = {
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  LC_ALL: 'C.UTF-8',
};

const INTERRUPTED = 'the step was cancelled';

/** Seconds until a program that ignores the signal to end is killed. */
const GRACE_S = 2;

/** The exit code of `timeout` when it had to end the program. */
const TIMED_OUT = 124;

const MOST_SAID = 4_000;

function lastLine(text: string): string {
  return text.trimEnd().split('\n').at(-1)?.trim() ?? '';
}
