/** `patchsmith completion SHELL`: the script with which a shell asks patchsmith itself what can follow on a command line. */

import { findRuns } from '../../adapters/storage/run-places.ts';
import type { Environment } from '../../domain/environment.ts';
import { done, usageError } from '../../domain/run/outcome.ts';
import type { CommandOutcome, HostContext } from '../../host/context.ts';
import { sayEnd } from '../../host/say.ts';
import { type Command, commandFlags, type Given } from '../command.ts';
import { fitted } from '../help-screen.ts';
import { handOver } from '../work.ts';

/** The words typed so far follow, the last of them unfinished (`command-line.ts`). */
const ASKED = 'patchsmith --complete';

/** Where patchsmith knows nothing, shells offer files. */
const SCRIPTS = {
  bash: `_patchsmith() {
  mapfile -t COMPREPLY < <(${ASKED} "\${COMP_WORDS[@]:1:COMP_CWORD}" 2> /dev/null)
  COMPREPLY=("\${COMPREPLY[@]%%$'\\t'*}")
}
complete -o default -F _patchsmith patchsmith
`,
  zsh: `#compdef patchsmith
_patchsmith() {
  local -a found=("\${(@f)$(${ASKED} "\${(@)words[2,CURRENT]}" 2> /dev/null)}")
  if [[ -z $found[1] ]]; then _files; else _describe patchsmith "(\${(@q)\${found//:/\\\\:}/$'\\t'/:})"; fi
}
if [[ $funcstack[1] == _patchsmith ]]; then _patchsmith "$@"; else compdef _patchsmith patchsmith; fi
`,
  fish: `function __patchsmith
  set -l words (commandline -opc) (commandline -ct)
  set -l found (${ASKED} $words[2..] 2> /dev/null)
  if set -q found[1]; printf '%s\\n' $found; else; __fish_complete_path (commandline -ct); end
end
complete -c patchsmith -f -a '(__patchsmith)'
`,
} as const;

/** Starts `patchsmith completion SHELL`. */
export async function startCompletion(
  context: HostContext,
  { operands: [shell = ''], problems }: Given,
): Promise<CommandOutcome> {
  if (problems.length > 0) return { status: 'refused', problems: [...problems] };
  const [, script] = Object.entries(SCRIPTS).find(([name]) => name === shell) ?? [];
  const unknown = `No completion for ${JSON.stringify(shell)}. Supported shells: ${Object.keys(SCRIPTS).join(', ')}.`;
  if (script === undefined) return sayEnd(context, usageError('ERR_UNKNOWN_SHELL', unknown));
  const unwritten = await handOver(context, script);
  // A shell that reads it at each start has nothing to say.
  if (unwritten === null) return { status: 'printed', outcome: done(`The completion for ${shell}.`) };
  return sayEnd(context, unwritten);
}

/** A word and what it means, which is empty for values. */
type Candidate = readonly [word: string, meaning: string];

/** What can stand in place of the last word, one a line, each with its meaning after a tab. */
export function completionsOf(
  typed: readonly string[],
  commands: readonly Command[],
  env: Environment,
): string {
  // bash takes --flag=value apart.
  const words = typed.filter((word) => word !== '=');
  const current = typed.at(-1) === '=' ? '' : (words.pop() ?? '');
  const at = words.findIndex((word) => commands.some(({ name }) => name === word) || word === 'help');
  const command = commands.find(({ name }) => name === words[at]);
  return candidates(command, { words, at, current }, commands, env)
    .filter(([word]) => word.startsWith(current))
    .map(([word, meaning]) => `${meaning === '' ? word : `${word}\t${fitted(meaning, MEANING)}`}\n`)
    .join('');
}

/** Characters of a meaning: shells show it beside the word. */
const MEANING = 60;

function candidates(
  command: Command | undefined,
  { words, at, current }: { words: readonly string[]; at: number; current: string },
  commands: readonly Command[],
  env: Environment,
): Candidate[] {
  const names = commands.map(({ name, summary }): Candidate => [name, summary]);
  if (command === undefined) {
    if (current.startsWith('-')) return [HELP, ['--version', 'Show the version']];
    return at === -1 ? [...names, ['help', 'Show all flags of a command']] : names;
  }
  const flags = commandFlags(command);
  const last = words.at(-1) ?? '';
  const given = flags.find(({ flag, short }) => last === `--${flag}` || last === `-${short}`);
  if (given?.value !== undefined) return valuesIn(given.value);
  if (current.startsWith('-')) {
    const own = Object.entries(command.switches).map(([name, help]): Candidate => [`--${name}`, help]);
    return [...flags.map(({ flag, help }): Candidate => [`--${flag}`, help]), ...own, HELP];
  }
  const operand = command.operands[words.slice(at + 1).filter((word) => !word.startsWith('-')).length];
  switch (operand?.replace(/[[\]]/g, '')) {
    case 'RUN':
      return [['last', 'The last run'], ...findRuns(env).found.map(({ runId }): Candidate => [runId, ''])];
    case 'SHELL':
      return Object.keys(SCRIPTS).map((name): Candidate => [name, '']);
    default:
      return [];
  }
}

const HELP: Candidate = ['--help', 'Show the most used flags'];

/** `a|b` are words to choose from; names in capitals stand for something. */
function valuesIn(value: string): Candidate[] {
  return /^[a-z][a-z0-9-]*(?:\|[a-z][a-z0-9-]*)*$/.test(value)
    ? value.split('|').map((word): Candidate => [word, ''])
    : [];
}
