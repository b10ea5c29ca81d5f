/** A process that a program can be given in place of its own. */

import { Readable, Writable } from 'node:stream';

/** What a command line came to. */
export interface CommandEnd {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** What such a process has, and who sees what it prints. */
export interface Given {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** On its stdin; default: nothing. */
  readonly input?: string;
  /** When this aborts, the process gets the signal that its reason names, by default SIGTERM. */
  readonly interrupt?: AbortSignal;
  /** Called with what is written, at the moment it is. */
  readonly onStdout?: (text: string) => void;
  readonly onStderr?: (text: string) => void;
}

/**
 * Carries out a program with such a process. It ends with an exception where a real process would end, which becomes the exit
 * code here.
 */
export async function endOf(
  { cwd, env, args, input, interrupt, onStdout, onStderr }: Given & { args: readonly string[] },
  program: (host: NodeJS.Process) => Promise<number>,
): Promise<CommandEnd> {
  const stdout = collector(onStdout);
  const stderr = collector(onStderr);
  const handlers = new Map<string, () => void>();
  const fake = {
    argv: [process.execPath, 'entry.js', ...args],
    env: Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined)),
    cwd: () => cwd,
    stdin: Readable.from(input === undefined ? [] : [Buffer.from(input)]),
    stdout: stdout.stream,
    stderr: stderr.stream,
    on(name: string, handler: () => void) {
      handlers.set(name, handler);
      return fake;
    },
    exit(code: number) {
      throw new Exit(code);
    },
  };
  const kill = () => handlers.get(interrupt?.reason?.signal ?? 'SIGTERM')?.();
  interrupt?.addEventListener('abort', kill);
  try {
    const running = exitCodeOf(() => program(fake as unknown as NodeJS.Process));
    if (interrupt?.aborted === true) kill();
    return { exitCode: await running, stdout: stdout.text(), stderr: stderr.text() };
  } finally {
    interrupt?.removeEventListener('abort', kill);
  }
}

class Exit extends Error {
  readonly code: number;

  constructor(code: number) {
    super(`The process ends with exit code ${code}`);
    this.code = code;
  }
}

async function exitCodeOf(program: () => Promise<number>): Promise<number> {
  try {
    return await program();
  } catch (error) {
    if (error instanceof Exit) return error.code;
    throw error;
  }
}

/** Collects what is written, and calls back at once with every piece of it. */
export function collector(onText: (text: string) => void = () => {}) {
  const pieces: string[] = [];
  const stream = new Writable({
    decodeStrings: false,
    write(chunk, _encoding, done) {
      pieces.push(String(chunk));
      // What throws here would leave whoever waits for the stream waiting for ever.
      try {
        onText(String(chunk));
        done();
      } catch (error) {
        done(Error('The test could not take what was printed.', { cause: error }));
      }
    },
  });
  return { stream, text: () => pieces.join('') };
}
