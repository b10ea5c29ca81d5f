/** Parses the script of a command, which anyone may have written, in bounded time and without exhausting the stack. */

import { type AndOr, type PipelineNode, parse, type Statement } from 'unbash';
import { formatNumber } from '../../domain/text/words.ts';

const MAX_CHARS = 65_536;
/** No command of a plan has more. Functions and lists nest readers as deeply, and here-documents take the square of the time. */
const MAX_OPENED = 1_000;

/** Why a script is not parsed, to follow its text; null if it is. */
export function whyUnparsed(text: string): string | null {
  const advice = 'put it into a file of the repository, and run that';
  if (text.length > MAX_CHARS) return `is longer than ${formatNumber(MAX_CHARS)} characters: ${advice}.`;
  const opened = text.match(/<<|&&|[({]/g)?.length ?? 0;
  return opened > MAX_OPENED
    ? `has more than ${formatNumber(MAX_OPENED)} of (, {, && and <<: ${advice}.`
    : null;
}

/** Null if it cannot be parsed, or is not. */
export function parsedScript(text: string): readonly Statement[] | null {
  if (whyUnparsed(text) !== null) return null;
  const { commands, errors = [] } = parse(text);
  return errors.length > 0 ? null : commands;
}

/** A list of statements inside a command, as `listsIn` finds it. */
interface InnerList {
  readonly statements: readonly Statement[];
  /** Its last statement determines an exit code that counts: that of the script, or of a shell of its own. */
  readonly isLast: boolean;
  /** The command can end with it. */
  readonly isEnd: boolean;
}

/** The lists in a command, at the first level. `at` says it of the command itself. Conditions are left out. */
export function listsIn(node: PipelineNode | AndOr, at: Omit<InnerList, 'statements'>): InnerList[] {
  const inner = { isLast: false, isEnd: false };
  switch (node.type) {
    case 'AndOr':
      return node.commands.flatMap((one, index) =>
        listsIn(one, index === node.commands.length - 1 ? at : inner),
      );
    case 'Pipeline':
      // Each part has its own shell.
      return node.commands.flatMap((one, index) =>
        listsIn(one, { isLast: true, isEnd: at.isEnd && index === node.commands.length - 1 }),
      );
    case 'Redirected':
      return listsIn(node.command, at);
    case 'Subshell':
      return [{ ...at, statements: node.body.commands, isLast: true }];
    case 'BraceGroup':
      return [{ ...at, statements: node.body.commands }];
    case 'If':
      return [...[node, ...node.elif].map(({ then }) => then), ...(node.else ? [node.else] : [])].map(
        ({ commands }) => ({ ...at, statements: commands }),
      );
    case 'Case':
      return node.items.map(({ body }) => ({ ...at, statements: body.commands }));
    case 'For':
    case 'ArithmeticFor':
    case 'While':
    case 'Select':
      // Only the last round determines the exit code.
      return [{ ...at, statements: node.body.commands, isLast: false }];
    case 'Function':
      return node.body.type === 'CompoundList'
        ? [{ ...inner, statements: node.body.commands }]
        : listsIn(node.body, inner);
    default:
      return [];
  }
}

/** Whether the command is a test, such as `[ -f x ]` in `[ -f x ] && rm x`, so that what follows it after `&&` may be skipped on purpose. */
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
