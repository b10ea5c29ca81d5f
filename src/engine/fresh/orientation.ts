/** Finds out what the first message says about the repository, while other things are waited for. */

import { languagesOf, orientation } from '../../domain/conversation/orientation.ts';
import type { Sandbox } from '../../ports.ts';
import type { Session } from '../session.ts';

/** Programs that are worth naming when commands find them. */
const PROGRAMS =
  'git node npm pnpm yarn bun deno python3 pip uv go cargo java mvn gradle ruby bundle php composer dotnet make cmake gcc';

/** What prints the version of a language's program. Those that take long to start, such as npm and gradle, are not asked. */
const VERSION_OF: Readonly<Record<string, string>> = {
  TypeScript: 'node --version',
  JavaScript: 'node --version',
  Python: 'python3 --version',
  Go: 'go version',
  Rust: 'cargo --version',
  Java: 'java --version',
  Kotlin: 'java --version',
  Ruby: 'ruby --version',
  PHP: 'php --version',
  C: 'gcc --version',
  'C++': 'gcc --version',
};

/** Of the files in all languages that are named. */
const LEAST_SHARE = 1 / 4;

/** Time limit for what is executed, in milliseconds; answers that come later are left out. */
const LOOK_MS = 2_000;

/** Milliseconds without any answer after which programs that have not printed their version are abandoned. */
const ANSWER_MS = 1_500;

/** Absolute path of the working directory, and of the work tree that it is part of. */
interface LookedAt {
  readonly root: string;
  readonly folder: string;
}

/** An examination of the repository that has begun. */
interface BegunOrientation {
  /** What to ask the shell of the sandbox, once the repository is known. */
  lookup(): Promise<string | null>;
  /** The text of `orientation`; empty if nothing is known. Runs now what was not asked with `lookup`. */
  end(found: Found): Promise<string>;
}

interface Found {
  readonly sandbox: Sandbox;
  /** The shell's answer; null if it was not asked. */
  readonly lookedUp: string | null;
  readonly hosts: readonly string[];
}

/** Begins to examine the repository, without executing anything from it. */
export function beginOrientation(session: Session, { root, folder }: LookedAt): BegunOrientation {
  const looking = lookAt(folder);
  const asking = looking.then(({ files }) => lookupScript(root, versionCommands(files)));
  asking.catch(() => undefined);
  return {
    // Errors are reported at the end.
    lookup: () => asking.catch(() => null),
    async end({ sandbox, lookedUp, hosts }) {
      const { survey, files } = await looking;
      const said = lookedUp ?? (await ask(sandbox, await asking, session.interrupt));
      return orientation({
        files,
        project: survey.project && {
          ecosystem: survey.ecosystem?.name ?? '',
          manager: survey.project.manager.text,
          test: survey.project.test?.text ?? null,
          lint: survey.project.lint?.text ?? null,
          build: survey.project.build?.text ?? null,
        },
        programs: programsIn(said),
        hosts: sandbox.level === 'none' ? null : hosts,
      });
    },
  };
}

/** Loaded while the sandbox is being opened. */
async function lookAt(folder: string) {
  const { surveyRepository, trackedFiles } = await import('../../adapters/survey/survey.ts');
  const tracked = trackedFiles(folder);
  const [survey, files] = await Promise.all([surveyRepository(folder, () => tracked), tracked]);
  return { survey, files };
}

async function ask(sandbox: Pick<Sandbox, 'run'>, script: string, signal: AbortSignal): Promise<string> {
  const { output } = await sandbox.run({ script, timeoutMs: LOOK_MS, signal });
  return `${output.head}${output.tail}`;
}

/** That of git, and of the languages that much is written in: a launcher such as pyenv's takes 0.2 s to answer. */
function versionCommands(files: readonly string[]): string[] {
  const languages = languagesOf(files);
  const least = LEAST_SHARE * languages.reduce((sum, language) => sum + language.files, 0);
  const ofLanguages = languages.map(({ name, files: count }) =>
    count >= least ? (VERSION_OF[name] ?? null) : null,
  );
  const commands = ['git --version', ...ofLanguages].filter((command) => command !== null);
  return [...new Set(commands)];
}

/**
 * Only programs outside the work tree are executed, and not from within it. Its own programs only run when the model asks for
 * them.
 */
function lookupScript(root: string, commands: readonly string[]): string {
  return [
    'cd /',
    `for name in ${PROGRAMS}; do command -v "$name" >/dev/null 2>&1 && echo "has $name"; done`,
    `root='${root.replaceAll("'", "'\\''")}'`,
    // Other shells could not even parse it.
    `case \${BASH_VERSION:+yes} in yes) eval '${versionScript(commands)}' ;; esac`,
  ].join('\n');
}

function programsIn(said: string) {
  const versions = new Map(
    [...said.matchAll(/^version (\S+) (.*)$/gm)].map(([, name, text = '']) => [
      name,
      /\d{1,9}(?:\.\d{1,9}){1,3}/.exec(text)?.[0] ?? null,
    ]),
  );
  return [...said.matchAll(/^has (.*)$/gm)].map(([, name = '']) => ({
    name,
    version: versions.get(name) ?? null,
  }));
}

/** All are asked at the same time. One that does not answer in time is abandoned, and ends with the sandbox. */
function versionScript(commands: readonly string[]): string {
  const asked = commands.map((command) => `"${command}"`).join(' ');
  return [
    `while IFS= read -r -t ${ANSWER_MS / 1_000} said; do echo "$said"; done < <(`,
    'exec 2> /dev/null < /dev/null',
    `for asked in ${asked}; do`,
    '  set -- $asked',
    '  case $(command -v $1) in "" | "$root"/*) continue ;; esac',
    '  (IFS= read -r said < <($asked) && echo "version $1 $said") &',
    'done',
    'wait)',
  ].join('\n');
}
