/** The first message's text about the repository, so that the model need not spend its first turns on finding this out. */

import { shortened } from '../text/shorten.ts';
import { withinLine } from '../text/terminal.ts';
import { formatNumber, pluralize } from '../text/words.ts';

/** Maximum characters of an orientation: 300 tokens of four characters each. */
export const MAX_ORIENTATION_CHARS = 1_200;

/** What is known about a repository before the model is asked. Any text in it may come from the repository. */
export interface KnownRepository {
  /** Tracked files, relative to the working directory. */
  readonly files: readonly string[];
  /** Null when no ecosystem was recognised. */
  readonly project: RecognisedProject | null;
  /** Programs that commands find. */
  readonly programs: readonly string[];
  /** Hosts that commands reach; null without a sandbox, where all of them are reached. */
  readonly hosts: readonly string[] | null;
}

/** A project, and the commands that are usual in it. */
export interface RecognisedProject {
  /** Such as `Node.js`. */
  readonly ecosystem: string;
  readonly manager: string;
  /** Command lines; null where none was found. */
  readonly test: string | null;
  readonly lint: string | null;
  readonly build: string | null;
}

/** Some lines of at most `MAX_ORIENTATION_CHARS` characters together; empty when nothing is known. */
export function orientation({ files, project, programs, hosts }: KnownRepository): string {
  if (files.length === 0 && programs.length === 0) return '';
  const around = [
    project === null ? '' : projectLine(project),
    programs.length === 0 ? '' : `Commands find: ${programs.join(', ')}.`,
    networkLine(hosts),
  ].filter((line) => line !== '');
  const room = MAX_ORIENTATION_CHARS - around.join('\n').length - 1;
  const tree = files.length === 0 ? '' : treeLine(files, room);
  return [tree, ...around].filter((line) => line !== '').join('\n');
}

function projectLine({ ecosystem, manager, test, lint, build }: RecognisedProject): string {
  const commands = Object.entries({ test, lint, build }).flatMap(([kind, command]) =>
    command === null || command.length > MAX_COMMAND_CHARS ? [] : [`${kind}: ${plain(command)}`],
  );
  return `${[`Project: ${plain(ecosystem)} (${plain(manager)})`, ...commands].join('; ')}.`;
}

const MAX_COMMAND_CHARS = 100;

/** Hosts that do not fit are in the system prompt anyway. */
function networkLine(hosts: readonly string[] | null): string {
  if (hosts === null) return '';
  const names = hosts.join(', ');
  if (names === '') return 'Network: none.';
  return names.length > 200 ? `Network: ${pluralize(hosts.length, 'allowed host')}.` : `Network: ${names}.`;
}

/** The folders with most files, then the files beside them, each as far as they fit into `room` characters. */
function treeLine(files: readonly string[], room: number): string {
  const counts = new Map<string, number>();
  const beside: string[] = [];
  for (const path of files) {
    const slash = path.indexOf('/');
    if (slash === -1) beside.push(path);
    else counts.set(path.slice(0, slash), (counts.get(path.slice(0, slash)) ?? 0) + 1);
  }
  const folders = [...counts].sort(([a, most], [b, other]) => other - most || (a < b ? -1 : 1));
  const head = `Tracked: ${pluralize(files.length, 'file')}. `;
  const left = room - head.length - REST_CHARS;
  const shown = fitting(
    folders.map(([name, count]) => `${shownName(name)}/ ${formatNumber(count)}`),
    beside.length === 0 ? left : Math.floor(left * FOLDERS_SHARE),
  );
  const names = fitting([...beside].sort().map(shownName), left - sizeOf(shown.text));
  const folderPart = partOf(shown, 'more folder');
  return `${head}${[folderPart, partOf(names, 'more file')].filter((part) => part !== '').join('; ')}.`;
}

/** Characters reserved for a note on omitted parts. */
const REST_CHARS = 60;
const FOLDERS_SHARE = 0.6;

function fitting(names: readonly string[], room: number) {
  let length = 0;
  const fit = names.findIndex((name) => {
    length += sizeOf(name) + ', '.length;
    return length > room;
  });
  const shown = fit === -1 ? names : names.slice(0, fit);
  return { text: shown.join(', '), left: names.length - shown.length };
}

/** In characters of a quarter token, as which letters outside ASCII count for four. */
function sizeOf(text: string): number {
  return text.length + 3 * (text.match(/[^\0-\x7f]/g)?.length ?? 0);
}

function partOf({ text, left }: { text: string; left: number }, noun: string): string {
  if (left === 0) return text;
  return text === '' ? pluralize(left, noun) : `${text} and ${pluralize(left, noun)}`;
}

/** A name with anything unusual in it is quoted, and a long one is cut: `list_files` shows it as it is. */
function shownName(name: string): string {
  const short = name.length > MAX_NAME_CHARS ? `${name.slice(0, MAX_NAME_CHARS)}…` : name;
  return /^[\w.@+-]+…?$/.test(short) ? short : JSON.stringify(plain(short));
}

const MAX_NAME_CHARS = 60;

const MAX_TEXT_CHARS = 100;

function plain(text: string): string {
  return shortened(withinLine(text), MAX_TEXT_CHARS).replace(/\p{Surrogate}/gu, '\ufffd');
}
