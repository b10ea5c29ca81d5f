/** The programs that setup and verify commands name, and whether the sandbox has them. For `check`, which reports this. */

import type { Sandbox } from '../../ports.ts';

/** Names without a path. */
export interface NamedPrograms {
  readonly found: readonly string[];
  /** Without these, a command is certain to fail. */
  readonly missing: readonly string[];
  /** Only a part of a command names them, which may be left out, as behind `test -d node_modules ||`. */
  readonly perhapsMissing: readonly string[];
}

/** Milliseconds for the shell to look names up. */
const LOOKUP_MS = 30_000;

/** Null where the lookup was cut short. Nothing of the commands is executed. */
export async function namedProgramsIn(
  sandbox: Pick<Sandbox, 'run'>,
  commands: readonly string[],
  signal: AbortSignal,
): Promise<NamedPrograms | null> {
  const { namedPrograms, neededPrograms } = await import('../../adapters/plan/needed-programs.ts');
  const names = [...new Set(commands.flatMap(namedPrograms))].filter((name) => PLAIN.test(name));
  if (names.length === 0) return { found: [], missing: [], perhapsMissing: [] };
  const { end, output } = await sandbox.run({
    script: `for one in ${names.join(' ')}; do command -v "$one" > /dev/null 2>&1 && echo "has $one"; done; :`,
    timeoutMs: LOOKUP_MS,
    signal,
  });
  if (end.exitCode !== 0) return null;
  const there = new Set(`${output.head}${output.tail}`.split('\n'));
  const [found, lacking] = [true, false].map((has) =>
    names.filter((name) => there.has(`has ${name}`) === has),
  );
  const needed = new Set(commands.flatMap((command) => neededPrograms(command).map(({ name }) => name)));
  return {
    found: found ?? [],
    missing: (lacking ?? []).filter((name) => needed.has(name)),
    perhapsMissing: (lacking ?? []).filter((name) => !needed.has(name)),
  };
}

/** Other names would need quoting, and no one uses them for programs. */
const PLAIN = /^[\w.+-]+$/;
