/** Runs programs of the machine that set it up: for a bounded time, with nothing of this process's environment. */

import { raceAbort } from '../host/deadline.ts';

/** Programs of the machine, and how one of them gets root's rights. */
export interface Programs {
  /** The absolute path of a program, or null. */
  find(name: string): string | null;
  readonly isRoot: boolean;
}

/** A command of the machine. */
export interface MachineCommand {
  /** The first word is the name of a program, looked up by `Programs`. */
  readonly line: readonly string[];
  readonly asRoot?: boolean;
  /** Its stdin; default: nothing. */
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

  // Few jobs need their machine set up.
  const { execa } = await import('execa');
  const options = { env: ENVIRONMENT, extendEnv: false, reject: false, forceKillAfterDelay: false } as const;
  // Its own process group: sudo does not forward signals from its own group.
  const running = execa(program, words, { ...options, cwd: '/', detached: true, input, all: true });
  const giveUp = new AbortController();
  const giveUpAfter = (delayS: number) => setTimeout(() => giveUp.abort(), delayS * 1000).unref();
  giveUpAfter(seconds + 2 * GRACE_S);
  const end = () => {
    giveUpAfter(2 * GRACE_S);
    // Only root may signal what runs as root. timeout passes it on to the program and to what that has started.
    if (!viaSudo) running.kill('SIGTERM');
    else {
      const kill = ['-n', pathOf.kill ?? '', '-TERM', String(running.pid)];
      void execa(program, kill, { ...options, detached: true, stdio: 'ignore' });
    }
  };
  signal.addEventListener('abort', end, { once: true });
  const ended = await raceAbort(giveUp.signal, running);
  signal.removeEventListener('abort', end);
  if (ended === null) {
    running.unref();
    for (const stream of [running.stdin, running.stdout, running.stderr]) stream.destroy();
  }
  if (signal.aborted) return INTERRUPTED;
  if (ended === null || ended.exitCode === TIMED_OUT) return `it took longer than ${seconds} s`;
  if (ended.exitCode === 0) return null;
  const { exitCode, signal: killedBy, originalMessage } = ended;
  if (exitCode === undefined && killedBy === undefined) return originalMessage ?? 'it could not be started';
  return lastLine(ended.all) || `exit code ${exitCode ?? killedBy}`;
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

function lastLine(text: string): string {
  return text.trimEnd().split('\n').at(-1)?.trim() ?? '';
}
