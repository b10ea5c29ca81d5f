/**
 * Ignore rules and attributes as they were at one moment. The rule files of the checkout are copied into a tree that holds
 * nothing else, where git itself can be asked without looking at the work tree.
 */

import {
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { hasCode } from '../../../files/failures.ts';
import { decodeName, encodeName } from '../../../files/names.ts';
import { askGit, runGit } from '../../../git/git.ts';
import { makeRepository } from '../../../git/store/bare-repository.ts';
import type { UserSettings } from '../../../git/user-settings.ts';
import { CONTENT_ATTRIBUTES, type ContentAttribute, type Conversion, conversionFor } from './conversion.ts';
import { SYSTEM_ATTRIBUTES, takeRules } from './machine-rules.ts';

/**
 * Answers which paths are ignored and how contents are converted, by running git on a copy of the rules: nothing of the work
 * tree is executed.
 */
export class BaselineRules {
  readonly #folder: string;
  readonly #settings: UserSettings;
  /** Rule files that the tree has otherwise; they are written before the next question, which may be under way. */
  readonly #due = new Map<string, Uint8Array | null>();
  #ignored = new Map<string, boolean>();
  #conversions = new Map<string, Conversion>();
  #hasAttributes: boolean;
  #hidesBytes: boolean;
  #frozen = false;
  /** Questions are asked one at a time, since each one reshapes the tree. */
  #lastAsked: Promise<void> = Promise.resolve();

  /**
   * Creates `folder` and copies the rules that live outside the work tree. `infoDir` is `info` of the common git dir; null
   * reuses the folder as an earlier process left it, with its frozen rules.
   */
  constructor(folder: string, infoDir: string | null, settings: UserSettings) {
    this.#folder = folder;
    this.#settings = settings;
    mkdirSync(this.#tree, { recursive: true, mode: 0o700 });
    makeRepository({
      gitDir: this.#git,
      objectFormat: 'sha1',
      alternate: null,
      head: 'ref: refs/heads/none',
      // Everything a copy of the checkout needs in order to be read in the same way.
      core: {
        bare: false,
        ignorecase: settings.ignoreCase,
        filemode: settings.fileMode,
        autocrlf: settings.autocrlf,
        eol: settings.eol,
      },
    });
    if (infoDir === null) {
      this.#frozen = true;
      this.#hasAttributes = true;
      this.#hidesBytes = true;
      for (const name of readdirSync(folder))
        if (name.startsWith(ASIDE)) rmSync(join(folder, name), { recursive: true });
      return;
    }
    takeRules(join(infoDir, 'exclude'), join(this.#git, 'info/exclude'));
    takeRules(settings.excludesFile, this.#excludes);
    const copied = [
      takeRules(join(infoDir, 'attributes'), join(this.#git, 'info/attributes')),
      takeRules(settings.attributesFile, this.#attributes),
    ];
    this.#hasAttributes = copied.includes(true) || SYSTEM_ATTRIBUTES.some((file) => existsSync(file));
    const files = [join(this.#git, 'info/attributes'), this.#attributes, ...SYSTEM_ATTRIBUTES];
    this.#hidesBytes = files.some((file) => existsSync(file) && HIDING.test(readFileSync(file, 'latin1')));
  }

  /** Rules in a folder of their own that are the same as `from`, to be changed; an earlier process may have left some there. */
  static copy(from: BaselineRules, folder: string, settings: UserSettings): BaselineRules {
    mkdirSync(join(folder, 'git/info'), { recursive: true, mode: 0o700 });
    for (const file of ['git/info/exclude', 'git/info/attributes', 'excludes', 'attributes']) {
      const kept = join(from.#folder, file);
      rmSync(join(folder, file), { force: true });
      if (existsSync(kept)) copyFileSync(kept, join(folder, file));
    }
    const rules = new BaselineRules(folder, null, settings);
    for (const path of rules.files()) rules.put(path, null);
    for (const path of from.files()) rules.put(path, from.bytesOf(path));
    return rules;
  }

  /** Copies one rule file of the work tree. Does nothing once the rules are frozen. */
  add(path: string, bytes: Uint8Array): void {
    if (this.#frozen) return;
    const copy = encodeName(`${this.#tree}/${path}`);
    mkdirSync(encodeName(dirname(`${this.#tree}/${path}`)), { recursive: true });
    writeFileSync(copy, bytes);
    if (!path.endsWith('.gitattributes')) return;
    this.#hasAttributes = true;
    this.#hidesBytes ||= HIDING.test(Buffer.from(bytes).toString('latin1'));
  }

  /** False when the bytes on disk always follow from the content git stores and the file's size. */
  get hidesBytes(): boolean {
    return this.#hidesBytes;
  }

  get isFrozen(): boolean {
    return this.#frozen;
  }

  /** From now on the rules stay as they are, but for what is put into them. */
  freeze(): void {
    this.#frozen = true;
  }

  /** Changes one rule file; null takes it out. What has been answered before is forgotten. */
  put(path: string, bytes: Uint8Array | null): void {
    this.#due.set(path, bytes);
    // Holders of earlier answers keep using them.
    this.#ignored = new Map();
    this.#conversions = new Map();
    this.#hasAttributes ||= path.endsWith('.gitattributes');
  }

  /** The bytes of one rule file as these rules have it; null when they have none. */
  bytesOf(path: string): Uint8Array | null {
    const due = this.#due.get(path);
    return due === undefined ? readIfThere(this.#placeOf(path)) : due;
  }

  /** Paths of the rule files of the work tree that these rules were made of. */
  files(): string[] {
    const found: string[] = [];
    const visit = (folder: Buffer, prefix: string) => {
      for (const entry of readdirSync(folder, { withFileTypes: true, encoding: 'buffer' })) {
        const path = `${prefix}${decodeName(entry.name)}`;
        const place = Buffer.concat([folder, Buffer.from('/'), entry.name]);
        if (entry.isDirectory()) visit(place, `${path}/`);
        else found.push(path);
      }
    };
    visit(Buffer.from(this.#tree), '');
    return found;
  }

  /** Whether git ignores this path; null when it has not been asked yet. */
  answered(path: string): boolean | null {
    return this.#ignored.get(path) ?? null;
  }

  /** Returns which of these untracked paths git would ignore; folders are given with a final slash. */
  async ignored(paths: readonly string[]): Promise<ReadonlySet<string>> {
    const answers = this.#ignored;
    const unknown = paths.filter((path) => !answers.has(path));
    if (unknown.length > 0) await this.#inTurn(() => this.#askIgnored(unknown, answers));
    return new Set(paths.filter((path) => answers.get(path)));
  }

  /** How git converts the content of each path when it stores it. */
  async conversions(paths: readonly string[]): Promise<ReadonlyMap<string, Conversion>> {
    if (!this.#hasAttributes) {
      const conversion = conversionFor(() => 'unspecified', this.#settings);
      return new Map(paths.map((path) => [path, conversion]));
    }
    const answers = this.#conversions;
    const unknown = paths.filter((path) => !answers.has(path));
    if (unknown.length > 0) await this.#inTurn(() => this.#askAttributes(unknown, answers));
    return answers;
  }

  #inTurn(ask: () => Promise<void>): Promise<void> {
    const asked = this.#lastAsked.then(() => {
      this.#writeDue();
      return ask();
    });
    this.#lastAsked = asked.catch(() => undefined);
    return asked;
  }

  /** What goes first makes room for what comes. */
  #writeDue(): void {
    const due = [...this.#due].sort(([, a], [, b]) => Number(a !== null) - Number(b !== null));
    this.#due.clear();
    for (const [path, bytes] of due) {
      const place = this.#placeOf(path);
      try {
        // Folders stay that earlier questions have made, or that held rule files.
        rmSync(place, { force: true, recursive: bytes !== null });
        if (bytes === null) continue;
        mkdirSync(encodeName(dirname(`${this.#tree}/${path}`)), { recursive: true });
        writeFileSync(place, bytes);
      } catch (error) {
        // A folder has the name of a rule file, or the path is too long for this place.
        if (!hasCode(error, 'ENOTDIR', 'EEXIST', 'EISDIR', 'ERR_FS_EISDIR', 'ENAMETOOLONG')) throw error;
      }
    }
  }

  #placeOf(path: string): Buffer {
    return encodeName(`${this.#tree}/${path}`);
  }

  async #askIgnored(paths: readonly string[], answers: Map<string, boolean>): Promise<void> {
    const restore = this.#shapeTree(paths);
    // The leading `./` prevents a colon at the start of a name from being read as pathspec magic.
    const names = paths.map((path) => encodeName(`./${path.replace(/\/$/, '')}`).toString('latin1'));
    const answer = await askGit({
      cwd: this.#tree,
      // Without --verbose, which prints the patterns: git 2.39 crashes on that more than 24 folders deep.
      args: [...this.#options, 'check-ignore', '--no-index', '--stdin', '-z'],
      env: this.#env,
      input: Buffer.from(names.map((name) => `${name}\0`).join(''), 'latin1'),
    }).finally(restore);
    if (answer.exitCode !== 0 && answer.exitCode !== 1) {
      throw new Error(`git check-ignore failed: ${answer.stderr}`);
    }
    const ignored = new Set(answer.stdout.toString('latin1').split('\0'));
    paths.forEach((path, at) => {
      answers.set(path, ignored.has(names[at] ?? ''));
    });
  }

  /**
   * Git checks whether a path is a folder. Creates the folders in question, and moves aside those that are files by now; the
   * returned function moves them back.
   */
  #shapeTree(paths: readonly string[]): () => void {
    const moved: [Buffer, string][] = [];
    for (const path of paths) {
      const place = encodeName(`${this.#tree}/${path.replace(/\/$/, '')}`);
      try {
        const found = lstatSync(place, { throwIfNoEntry: false });
        if (path.endsWith('/')) {
          if (!found) mkdirSync(place, { recursive: true });
        } else if (found?.isDirectory()) {
          const aside = join(this.#folder, `${ASIDE}${moved.length}`);
          renameSync(place, aside);
          moved.push([place, aside]);
        }
      } catch (error) {
        // A rule file from the start is where a folder is now, or the path is too long for this location.
        if (!hasCode(error, 'ENOTDIR', 'EEXIST', 'ENAMETOOLONG')) throw error;
      }
    }
    return () => {
      for (const [place, aside] of moved) renameSync(aside, place);
    };
  }

  async #askAttributes(paths: readonly string[], answers: Map<string, Conversion>): Promise<void> {
    const stdout = await runGit({
      cwd: this.#tree,
      args: [...this.#options, 'check-attr', '--stdin', '-z', ...CONTENT_ATTRIBUTES],
      env: { ...this.#env, GIT_ATTR_NOSYSTEM: undefined },
      input: Buffer.concat(paths.map((path) => encodeName(`${path}\0`))),
    });
    const values = stdout.toString('latin1').split('\0');
    paths.forEach((path, at) => {
      const attributeOf = (name: ContentAttribute) =>
        values[(at * CONTENT_ATTRIBUTES.length + CONTENT_ATTRIBUTES.indexOf(name)) * 3 + 2] ?? 'unspecified';
      answers.set(path, conversionFor(attributeOf, this.#settings));
    });
  }

  get #git(): string {
    return join(this.#folder, 'git');
  }

  get #tree(): string {
    return join(this.#folder, 'tree');
  }

  get #excludes(): string {
    return join(this.#folder, 'excludes');
  }

  get #attributes(): string {
    return join(this.#folder, 'attributes');
  }

  get #options(): string[] {
    return ['-c', `core.excludesFile=${this.#excludes}`, '-c', `core.attributesFile=${this.#attributes}`];
  }

  get #env() {
    return { GIT_DIR: this.#git, GIT_WORK_TREE: this.#tree };
  }
}

/** Prefix of folders that are moved out of the way while git is asked. */
const ASIDE = 'aside-';

function readIfThere(place: Buffer): Uint8Array | null {
  try {
    return readFileSync(place);
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR', 'EISDIR', 'ENAMETOOLONG')) return null;
    throw error;
  }
}

/** Attributes that convert content in ways its size does not reveal. */
const HIDING = /\b(?:ident|working-tree-encoding|filter)\b/;
