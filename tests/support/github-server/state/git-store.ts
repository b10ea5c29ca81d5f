/** The bare repository behind a repository of the server. Whatever it holds was made by git. */

import { createHash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { outputElsewhere, runElsewhere } from '../../machine/elsewhere.ts';
import { unprocessable } from '../refusal.ts';

const ENV = {
  PATH: process.env.PATH ?? '',
  HOME: '/nonexistent',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_LITERAL_PATHSPECS: '1',
  TZ: 'UTC',
};

export interface Signature {
  readonly name: string;
  readonly email: string;
  /** ISO 8601. */
  readonly date: string;
}

export interface Commit {
  readonly sha: string;
  readonly tree: string;
  readonly parents: readonly string[];
  readonly author: Signature;
  readonly committer: Signature;
  readonly message: string;
  /** Null when it is not signed. */
  readonly signature: string | null;
  /** What a signature covers. */
  readonly payload: string;
  /** Signed by this server, and unchanged since. */
  readonly verified: boolean;
}

export interface TreeEntry {
  readonly mode: string;
  readonly type: string;
  readonly sha: string;
  /** Null for trees and submodules. */
  readonly size: number | null;
  readonly path: string;
}

/** `sha` null deletes what is at the path. */
export interface NewEntry {
  readonly path: string;
  readonly mode: string;
  readonly sha: string | null;
}

export class GitStore {
  readonly folder: string;
  /** An object never changes: what is known of one is not asked again. */
  readonly #types = new Map<string, string>();
  readonly #commits = new Map<string, Commit>();
  #indexes = 0;

  constructor(folder: string) {
    this.folder = folder;
  }

  /** Bytes that git printed. Throws when git fails. */
  async bytes(args: readonly string[], input: string | Buffer = '', env = {}): Promise<Buffer> {
    return outputElsewhere({ program: 'git', args, cwd: this.folder, env: { ...ENV, ...env }, input });
  }

  async text(args: readonly string[], input: string | Buffer = '', env = {}): Promise<string> {
    return (await this.bytes(args, input, env)).toString('utf8').trimEnd();
  }

  /** Whether git ends with 0. */
  async holds(...args: string[]): Promise<boolean> {
    const { exitCode } = await runElsewhere({ program: 'git', args, cwd: this.folder, env: ENV });
    return exitCode === 0;
  }

  /** `blob`, `tree`, `commit` or `tag`; null when there is no such object. */
  async typeOf(sha: string): Promise<string | null> {
    if (!/^[0-9a-f]{40}$/.test(sha)) return null;
    const known = this.#types.get(sha);
    if (known !== undefined) return known;
    const line = await this.text(['cat-file', '--batch-check=%(objecttype)'], `${sha}\n`);
    if (line.endsWith('missing')) return null;
    this.#types.set(sha, line);
    return line;
  }

  /** The commit of a branch, null when there is none. */
  async head(branch: string): Promise<string | null> {
    return this.ref(`refs/heads/${branch}`);
  }

  async ref(name: string): Promise<string | null> {
    const refs = await this.refs(name);
    return refs.find((one) => one.name === name)?.sha ?? null;
  }

  /** Refs below a prefix that ends at a slash, or the one of this name. */
  async refs(prefix: string): Promise<{ name: string; sha: string }[]> {
    const out = await this.text(['for-each-ref', '--format=%(objectname) %(refname)', prefix]);
    return out === ''
      ? []
      : out.split('\n').map((line) => ({ sha: line.slice(0, 40), name: line.slice(41) }));
  }

  writeBlob(content: Buffer): Promise<string> {
    return this.text(['hash-object', '-w', '--stdin'], content);
  }

  async entries(tree: string, recursive: boolean): Promise<TreeEntry[]> {
    const out = await this.bytes(['ls-tree', '-z', '--long', ...(recursive ? ['-r', '-t'] : []), tree]);
    return out
      .toString('utf8')
      .split('\0')
      .filter((line) => line !== '')
      .map((line) => {
        const [meta = '', path = ''] = [
          line.slice(0, line.indexOf('\t')),
          line.slice(line.indexOf('\t') + 1),
        ];
        const [mode = '', type = '', sha = '', size = '-'] = meta.split(/ +/);
        return { mode, type, sha, size: size === '-' ? null : Number(size), path };
      });
  }

  /** Entries laid over a base tree. Throws the 422 of GitHub when one is deleted that is not there. */
  async writeTree(base: string | null, entries: readonly NewEntry[]): Promise<string> {
    this.#indexes += 1;
    const index = join(this.folder, `server-index-${this.#indexes}`);
    const env = { GIT_INDEX_FILE: index };
    try {
      await this.text(['read-tree', ...(base === null ? ['--empty'] : [base])], '', env);
      for (const { path } of entries.filter(({ sha }) => sha === null)) {
        const listed = await this.bytes(['ls-files', '--stage', '-z', '--', path], '', env);
        if (listed.length === 0) throw unprocessable('GitRPC::BadObjectState');
        await this.#removeBelow(path, env);
      }
      for (const entry of entries.filter(({ sha, mode }) => sha !== null && mode === '040000')) {
        await this.#removeBelow(entry.path, env);
        await this.text(['read-tree', `--prefix=${entry.path}/`, entry.sha ?? ''], '', env);
      }
      const lines = entries
        .filter(({ sha, mode }) => sha !== null && mode !== '040000')
        .map(({ mode, sha, path }) => `${mode} ${sha}\t${path}\0`);
      await this.text(['update-index', '--replace', '-z', '--index-info'], lines.join(''), env);
      return await this.text(['write-tree'], '', env);
    } finally {
      await rm(index, { force: true });
    }
  }

  /** `sign` puts a signature of this server into it. */
  async writeCommit(
    commit: Pick<Commit, 'tree' | 'parents' | 'author' | 'committer' | 'message'>,
    sign: boolean,
  ): Promise<string> {
    const head = [
      `tree ${commit.tree}`,
      ...commit.parents.map((sha) => `parent ${sha}`),
      `author ${signatureLine(commit.author)}`,
      `committer ${signatureLine(commit.committer)}`,
    ].join('\n');
    const payload = `${head}\n\n${commit.message}`;
    const signed = `${head}\ngpgsig ${signatureOf(payload).replaceAll('\n', '\n ')}\n\n${commit.message}`;
    return this.text(['hash-object', '-w', '-t', 'commit', '--stdin'], sign ? signed : payload);
  }

  /** Throws when it is no commit. */
  async commit(sha: string): Promise<Commit> {
    const known = this.#commits.get(sha) ?? (await this.#readCommit(sha));
    this.#commits.set(sha, known);
    return known;
  }

  async #readCommit(sha: string): Promise<Commit> {
    const raw = (await this.bytes(['cat-file', 'commit', sha])).toString('utf8');
    const end = raw.indexOf('\n\n');
    const message = raw.slice(end + 2);
    // A line that begins with a space goes on with the header before it.
    const headers = raw.slice(0, end).replaceAll('\n ', '\u0000').split('\n');
    const values = (name: string): string[] =>
      headers
        .filter((line) => line.startsWith(`${name} `))
        .map((line) => line.slice(name.length + 1).replaceAll('\u0000', '\n'));
    const [signature = null] = values('gpgsig');
    const unsigned = headers.filter((line) => !line.startsWith('gpgsig ')).join('\n');
    const payload = `${unsigned.replaceAll('\u0000', '\n ')}\n\n${message}`;
    return {
      sha,
      tree: values('tree')[0] ?? '',
      parents: values('parent'),
      author: readSignature(values('author')[0] ?? ''),
      committer: readSignature(values('committer')[0] ?? ''),
      message: message.replace(/\n+$/, ''),
      signature,
      payload,
      verified: signature === signatureOf(payload),
    };
  }

  async #removeBelow(path: string, env: object): Promise<void> {
    const out = await this.bytes(['ls-files', '-z', '--', path], '', env);
    const paths = out.toString('utf8').split('\0').filter(Boolean);
    const lines = paths.map((one) => `0 ${'0'.repeat(40)}\t${one}\0`).join('');
    await this.text(['update-index', '-z', '--index-info'], lines, env);
  }
}

function signatureLine({ name, email, date }: Signature): string {
  const clean = (text: string): string => text.replace(/[<>\n]/g, '').trim();
  return `${clean(name)} <${clean(email)}> ${Math.floor(Date.parse(date) / 1000)} +0000`;
}

function readSignature(line: string): Signature {
  const [, name = '', email = '', seconds = '0'] = /^(.*) <(.*)> (\d+) [+-]\d{4}$/.exec(line) ?? [];
  return { name, email, date: new Date(Number(seconds) * 1000).toISOString().replace('.000Z', 'Z') };
}

/** Looks like a signature, and can only be made over the same bytes. */
function signatureOf(payload: string): string {
  const hash = createHash('sha256').update(payload).digest('base64');
  return `-----BEGIN PGP SIGNATURE-----\n\n${hash}\n-----END PGP SIGNATURE-----\n`;
}
