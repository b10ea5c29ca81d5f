/**
 * The writes among the changes to ignored files: which files were written, by whom, and their current state. Contents are not
 * stored, and the earlier state is not known.
 */

import { closeSync } from 'node:fs';
import type { FileState, FoundChange, Writer } from '../../../domain/changes/change.ts';
import { CutShort } from '../../../domain/run/cut-short.ts';
import type { BaseRevision } from '../../../domain/run/events.ts';
import { openRegularIn, readWhole } from '../../../files/opened-file.ts';
import type { FileStat } from '../../../files/stat.ts';
import { Breath } from '../../../files/time-limit.ts';
import { TreeView } from '../../../files/tree-view.ts';
import { blobId } from '../../../git/store/object-store.ts';
import type { IgnoredWrite, IgnoredWrites } from '../../../ports/workspace.ts';
import type { WalkedTree } from '../snapshot/walked-tree.ts';
import type { WriteLog } from './write-log.ts';

/** How many files are named, by who wrote them. */
const MAX_OWN = 500;
const MAX_OUTSIDE = 50;
/** Maximum size of files that are read: larger ones get no id. */
const MAX_FILE_BYTES = 16 * 1024 * 1024;
const MAX_BYTES = 64 * 1024 * 1024;

interface Seen {
  readonly path: string;
  readonly size: number;
  readonly by: Writer | 'outside';
}

/** Collects files that were written since the work began, without keeping them all. */
export class IgnoredWriteList {
  readonly #log: Pick<WriteLog, 'writerOf'>;
  readonly #own: Seen[] = [];
  readonly #outside: Seen[] = [];
  #ownCount = 0;
  #outsideCount = 0;
  #bytes = 0;

  constructor(log: Pick<WriteLog, 'writerOf'>) {
    this.#log = log;
  }

  /** Call once per file. */
  add(path: string, { kind, size, ctimeNs }: FileStat): void {
    const by = this.#log.writerOf(path, ctimeNs);
    if (by === null || (kind !== 'file' && kind !== 'link')) return;
    const list = by === 'outside' ? this.#outside : this.#own;
    if (by === 'outside') this.#outsideCount += 1;
    else this.#ownCount += 1;
    if (list.length >= (by === 'outside' ? MAX_OUTSIDE : MAX_OWN)) return;
    if (size > MAX_FILE_BYTES || this.#bytes + size > MAX_BYTES) return;
    this.#bytes += size;
    list.push({ path, size, by });
  }

  /** Reads the current files. If time runs out, only their names are returned. */
  async writes(
    { root, rules, closed, folders }: WalkedTree,
    format: BaseRevision['objectFormat'],
  ): Promise<IgnoredWrites> {
    const seen = [...this.#own, ...this.#outside];
    const atStart = rules.differ ? await rules.ignoredAtStart(seen.map(({ path }) => path)) : null;
    const view = new TreeView(root, folders);
    const breath = new Breath();
    const found: IgnoredWrite[] = [];
    try {
      for (const { path, by, size } of seen) {
        await breath.after(1, size);
        const after = stateAt({ view, closed, format }, path);
        if (after === null) continue;
        // A file that the original rules do not hide was seen to be absent.
        const isNew = atStart !== null && !atStart.has(path);
        const change: FoundChange = {
          ...{ path, before: null, after, excluded: 'ignored' },
          ...(isNew ? { kind: 'create', ignored: 'from_now' } : { kind: 'modify' }),
        };
        found.push({ change, by });
      }
    } catch (error) {
      if (!(error instanceof CutShort)) throw error;
    } finally {
      view.close();
    }
    const own = this.#ownCount - this.#own.length;
    return { found, leftOut: { own, outside: this.#outsideCount - this.#outside.length } };
  }
}

interface FileReading extends Pick<WalkedTree, 'closed'> {
  readonly view: TreeView;
  readonly format: BaseRevision['objectFormat'];
}

/** Null if the file is gone or cannot be read. */
function stateAt({ view, closed, format }: FileReading, path: string): FileState | null {
  const link = closed.insist(path, () => view.readLink(path));
  if (link.status === 'seen')
    return { mode: '120000', blob: blobId(link.target, format), size: link.target.length };
  const opening = closed.insist(path, () => openRegularIn(view, path));
  if (opening.status !== 'open') return null;
  try {
    if (opening.file.stat.size > MAX_FILE_BYTES) return null;
    const bytes = readWhole(opening.file);
    const mode = opening.file.stat.executable ? '100755' : '100644';
    return { mode, blob: blobId(bytes, format), size: bytes.length };
  } finally {
    closeSync(opening.file.descriptor);
  }
}
