/** A copy of a checkout's rule files in a tree of their own, where git can be asked without access to the work tree. */

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
import { decodeName, encodeName, encodePath } from '../../../files/names.ts';
import { makeRepository } from '../../../git/store/bare-repository.ts';
import type { UserSettings } from '../../../git/user-settings.ts';
import { takeRules } from './machine-rules.ts';

/** How git is asked in the tree. */
export interface RuleQuestion {
  readonly cwd: string;
  /** Come before the command of git. */
  readonly options: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** Prefix of folders that are moved out of the way while git is asked. */
const ASIDE = 'aside-';

/** The files that rules outside the work tree are copied to. */
const MACHINE_RULES = ['git/info/exclude', 'git/info/attributes', 'excludes', 'attributes'];

/** Rule files, and a repository that has them as its work tree. */
export class RuleTree {
  readonly #folder: string;
  /** Rule files that the tree has otherwise; they are written before the next query, which may be in progress. */
  readonly #due = new Map<string, Uint8Array | null>();
  /** Questions are asked one at a time, since each one reshapes the tree. */
  #lastAsked: Promise<void> = Promise.resolve();

  /** Creates `folder`, or takes it as an earlier process left it. */
  constructor(folder: string, settings: UserSettings) {
    this.#folder = folder;
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
  }

  /** Copies the rules that live outside the work tree; `infoDir` is `info` of the common git dir. True when there are attributes. */
  takeMachineRules(infoDir: string, settings: UserSettings): boolean {
    // People keep their own rules where they like, and link to them.
    const own = { follow: true };
    takeRules(join(infoDir, 'exclude'), join(this.#git, 'info/exclude'), {});
    takeRules(settings.excludesFile, this.#excludes, own);
    const [ofRepository, ofUser] = this.attributesFiles;
    const taken = [
      takeRules(join(infoDir, 'attributes'), ofRepository, {}),
      takeRules(settings.attributesFile, ofUser, own),
    ];
    return taken.includes(true);
  }

  /** Gives another folder the same rules from outside the work tree. */
  copyMachineRules(to: string): void {
    mkdirSync(join(to, 'git/info'), { recursive: true, mode: 0o700 });
    for (const file of MACHINE_RULES) {
      const kept = join(this.#folder, file);
      rmSync(join(to, file), { force: true });
      if (existsSync(kept)) copyFileSync(kept, join(to, file));
    }
  }

  /** Where attributes from outside the work tree are, if there are any: the repository's and the user's. */
  get attributesFiles(): readonly [ofRepository: string, ofUser: string] {
    return [join(this.#git, 'info/attributes'), this.#attributes];
  }

  /** Removes what an earlier process has moved out of the way of a question. */
  tidy(): void {
    for (const name of readdirSync(this.#folder))
      if (name.startsWith(ASIDE)) rmSync(join(this.#folder, name), { recursive: true });
  }

  /** Writes one rule file at once. */
  write(path: string, bytes: Uint8Array): void {
    mkdirSync(encodeName(dirname(`${this.#tree}/${path}`)), { recursive: true });
    writeFileSync(this.#placeOf(path), bytes);
  }

  /** Changes one rule file before the next question; null takes it out. */
  put(path: string, bytes: Uint8Array | null): void {
    this.#due.set(path, bytes);
  }

  /** The bytes of one rule file, or null. */
  bytesOf(path: string): Uint8Array | null {
    const due = this.#due.get(path);
    return due === undefined ? readIfThere(this.#placeOf(path)) : due;
  }

  /** Paths of all rule files in the tree. */
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

  /** Asks git when all earlier questions have been answered. */
  ask(question: (asked: RuleQuestion) => Promise<void>): Promise<void> {
    const asked = this.#lastAsked.then(() => {
      this.#writeDue();
      return question({
        cwd: this.#tree,
        options: [
          '-c',
          `core.excludesFile=${this.#excludes}`,
          '-c',
          `core.attributesFile=${this.#attributes}`,
        ],
        env: { GIT_DIR: this.#git, GIT_WORK_TREE: this.#tree },
      });
    });
    this.#lastAsked = asked.catch(() => undefined);
    return asked;
  }

  /**
   * Git checks whether a path is a folder. Creates the folders in question, and moves aside those that are files by now; the
   * returned function moves them back.
   */
  shape(paths: readonly string[]): () => void {
    const moved: [Buffer, string][] = [];
    for (const path of paths) {
      const place = this.#placeOf(path.replace(/\/$/, ''));
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

  /** Removals come first, to make room for additions. */
  #writeDue(): void {
    const due = [...this.#due].sort(([, a], [, b]) => Number(a !== null) - Number(b !== null));
    this.#due.clear();
    for (const [path, bytes] of due) {
      try {
        // Folders stay that earlier questions have made, or that held rule files.
        rmSync(this.#placeOf(path), { force: true, recursive: bytes !== null });
        if (bytes !== null) this.write(path, bytes);
      } catch (error) {
        // A folder has the name of a rule file, or the path is too long for this place.
        if (!hasCode(error, 'ENOTDIR', 'EEXIST', 'EISDIR', 'ERR_FS_EISDIR', 'ENAMETOOLONG')) throw error;
      }
    }
  }

  #placeOf(path: string): Buffer {
    return encodePath(this.#tree, path);
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
}

function readIfThere(place: Buffer): Uint8Array | null {
  try {
    return readFileSync(place);
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR', 'EISDIR', 'ENAMETOOLONG')) return null;
    throw error;
  }
}
