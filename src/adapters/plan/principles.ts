/**
 * The principles: how changes are made here. Files given explicitly, otherwise AGENTS.md or CLAUDE.md from the root down.
 */

import { realpath } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { StringDecoder } from 'node:string_decoder';
import { type Failed, failed } from '../../domain/failed.ts';
import type { Principles, PrinciplesFile } from '../../domain/run/plan.ts';
import { type Warning, warning } from '../../domain/warnings/warning.ts';
import { sha256Of } from '../../files/hash.ts';
import { isInWorkTree, pathBelow, realpathOrNull } from '../../files/path-within.ts';
import { textOf } from '../../files/regular-file.ts';
import { readRuleFile } from '../../git/checkout-layout.ts';
import type { Revision } from '../../ports/workspace.ts';

/** Real principles are never this large; a longer file is something else under that name. */
const MAX_FILE_BYTES = 16 * 1_048_576;

/** The principles, or why they cannot be read. */
export type PrinciplesRead = { status: 'ok'; principles: Principles; warnings: Warning[] } | Failed;

/** Where to look for principles, and how much of them to use. */
export interface PrinciplesQuery {
  /** Paths relative to `cwd`; null for the default. Given files must exist and may be anywhere. */
  readonly files: readonly string[] | null;
  /** The repository's work tree, absolute. */
  readonly root: string;
  /** Relative to `root`. */
  readonly workingDirectory: string;
  readonly cwd: string;
  /** Files inside the repository are read from here; null or absent means from the work tree. */
  readonly revision?: Revision | null;
  /** Maximum bytes of all texts together. The last files are cut first, at whole characters. */
  readonly maxBytes: number;
}

/**
 * Reads the principles, from the nearest file to the root or from the files named. Links that lead out of the work
 * tree are refused.
 */
export async function readPrinciples(query: PrinciplesQuery): Promise<PrinciplesRead> {
  const root = await realpath(query.root);
  const cwd = await realpath(query.cwd);
  const revision = query.revision ?? null;
  const found =
    query.files === null
      ? await findDefaults({ root, revision }, query.workingDirectory)
      : { paths: query.files.map((file) => resolve(cwd, file)), warnings: [] };

  const principles: PrinciplesFile[] = [];
  let left = query.maxBytes;
  for (const path of found.paths) {
    const shown = shownPath(root, path);
    const file = await readOne({ root, path, revision }, shown, left);
    if (typeof file === 'string') return failed(`The principles ${shown} ${file}.`);
    principles.push(file);
    left -= Buffer.byteLength(file.text);
    if (file.truncated) {
      const kept = `${Buffer.byteLength(file.text)} of ${file.bytes} bytes`;
      found.warnings.push(
        warning(
          'WARN_PRINCIPLES_CUT',
          `Only ${kept} of ${shown} is used as principles; raise --max-principles-bytes to use more.`,
        ),
      );
    }
  }
  return { status: 'ok', principles, warnings: found.warnings };
}

/** Every AGENTS.md from the root down, nearest last; if there is none on the way, every CLAUDE.md. */
async function findDefaults(
  { root, revision }: { root: string; revision: Revision | null },
  workingDirectory: string,
): Promise<{ paths: string[]; warnings: Warning[] }> {
  const parts = workingDirectory.split('/').filter((part) => part !== '');
  const folders = [root, ...parts.map((_, depth) => join(root, ...parts.slice(0, depth + 1)))];
  const warnings: Warning[] = [];
  for (const name of ['AGENTS.md', 'CLAUDE.md']) {
    const paths: string[] = [];
    for (const folder of folders) {
      const path = join(folder, name);
      if (revision !== null) {
        if ((await revision.read(relative(root, path))) !== null) paths.push(path);
        continue;
      }
      const target = await realpathOrNull(path);
      if (target === null) continue;
      // The author of the repository could link to any file of the machine and have it sent to the model.
      if (isInWorkTree(root, target)) paths.push(path);
      else
        warnings.push(
          warning(
            'WARN_PRINCIPLES_OUTSIDE',
            `${shownPath(root, path)} links to a place outside the repository and is not used.`,
          ),
        );
    }
    if (paths.length > 0) return { paths, warnings };
  }
  return { paths: [], warnings };
}

/** Returns a string to say why it cannot be used. */
async function readOne(
  { path, ...place }: { root: string; path: string; revision: Revision | null },
  shown: string,
  maxBytes: number,
): Promise<PrinciplesFile | string> {
  const read = await readRuleFile(path, { ...place, maxBytes: MAX_FILE_BYTES });
  if (read.status === 'failed') return read.why;
  const { bytes } = read;
  const text = textOf(bytes);
  if (text === null) return 'is not UTF-8 text';
  // Of a character that does not fit, nothing is kept.
  const kept = new StringDecoder('utf8').write(Buffer.from(text).subarray(0, maxBytes));
  return {
    path: shown,
    text: kept,
    sha256: sha256Of(bytes),
    bytes: bytes.length,
    truncated: kept.length < text.length,
  };
}

function shownPath(root: string, path: string): string {
  return path === root ? '.' : (pathBelow(root, path) ?? path);
}
