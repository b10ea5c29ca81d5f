/** Distinguishes tests from other commands, in lists such as `[ -f x ] && rm x`. */

import type { PipelineNode } from 'unbash';

/** Whether the command is a test, so that what follows it after `&&` may be skipped on purpose. */
export function isTest(command: PipelineNode): boolean {
  if (command.type === 'TestCommand' || command.type === 'ArithmeticCommand') return true;
  if (command.type === 'Pipeline')
    return (
      command.prefixes.some(({ type }) => type === 'Negation') || command.commands.slice(-1).some(isTest)
    );
  if (command.type === 'Redirected') return isTest(command.command);
  if (command.type !== 'Command' || command.name === undefined) return false;
  const { value } = command.name;
  const words = command.args.map((word) => (word.type === 'Word' ? word.value : ''));
  if (value === 'command') return /^-[vV]/.test(words[0] ?? '');
  if (QUIET.has(value))
    return words.some((word) => /^(?:-(?=[A-Za-z]*$)[A-Za-z]*[qs]|--quiet$|--silent$)/.test(word));
  return TESTS.has(value);
}

const TESTS = new Set(['[', 'test', 'type', 'which', 'hash', 'pgrep']);

/** Programs that are tests only with an option that makes them print nothing. */
const QUIET = new Set(['grep', 'egrep', 'fgrep', 'rg', 'cmp', 'diff', 'git']);
