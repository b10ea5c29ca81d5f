/** A workspace whose baseline is still being taken: reads, searches and noted writes go ahead, everything else waits for it. */

import type { BaseCommit } from '../../../domain/run/events.ts';
import type { SandboxGitDir, Workspace } from '../../../ports/workspace.ts';
import type { EarlyFiles } from './early-files.ts';
import type { EarlyWrites } from './early-writes.ts';

/** What there is before the baseline, and the baseline to come. */
interface PendingParts {
  readonly root: string;
  readonly base: BaseCommit;
  /** `nested` is filled when the baseline has been taken. */
  readonly sandboxGitDir: SandboxGitDir;
  readonly files: EarlyFiles;
  readonly writes: EarlyWrites;
  /** Rejects when the baseline cannot be taken; so does then whatever needs it. */
  readonly taken: Promise<Workspace>;
}

/** Only noted paths change before the baseline is there, so there is nothing else to tell until then. */
export function pendingWorkspace({
  root,
  base,
  sandboxGitDir,
  files,
  writes,
  taken,
}: PendingParts): Workspace {
  let whole: Workspace | null = null;
  let isAskedFor = false;
  /** Paths that were written when the baseline was known, but may not have been found usable yet. */
  const late = new Set<string>();
  void taken.then(
    (workspace) => {
      whole = workspace;
    },
    () => undefined,
  );
  return {
    root,
    sandboxGitDir,
    // The base stays as it was first recorded until the caller that records it asks for the rest.
    base: () => (isAskedFor ? (whole?.base() ?? base) : base),
    async baseline() {
      const workspace = await taken;
      isAskedFor = true;
      return workspace.baseline();
    },
    early: writes,

    readFile: (path) => (whole ?? files).readFile(path),
    listFiles: (path, glob) => (whole ?? files).listFiles(path, glob),
    search: (query) => (whole ?? files).search(query),

    async writeFile(path, bytes, by) {
      const early = writes.write(path, bytes);
      if (early !== null) return early;
      const write = await (await taken).writeFile(path, bytes, by);
      late.add(path);
      return write;
    },
    async capture(scope) {
      if (typeof scope !== 'string' && writes.covers(scope)) return writes.capture(scope);
      const changes = await (await taken).capture(scope);
      for (const change of changes) writes.follow(change, late.delete(change.path));
      return changes;
    },
    repositoriesAround: async (paths, added = []) =>
      writes.covers([...paths, ...added])
        ? writes.repositoriesAround(paths, added)
        : (await taken).repositoriesAround(paths, added),

    checkpoint: async (...given) => (await taken).checkpoint(...given),
    putBack: async (...given) => (await taken).putBack(...given),
    rebase: async (...given) => (await taken).rebase(...given),
    ignoredWrites: async (...given) => (await taken).ignoredWrites(...given),
    ignoredChanges: async (...given) => (await taken).ignoredChanges(...given),
    nestedChanges: async (...given) => (await taken).nestedChanges(...given),
    uncommitted: async (...given) => (await taken).uncommitted(...given),
    makePatch: async (...given) => (await taken).makePatch(...given),
    // Without a baseline only noted paths have been written, so there is nothing to clean up.
    sweep: async () => (await taken.catch(() => null))?.sweep(),
    keepEssentials: async (...given) => (await taken.catch(() => null))?.keepEssentials(...given) ?? null,

    writerOf: (path) => whole?.writerOf(path) ?? null,
    removedGitDirs: () => whole?.removedGitDirs() ?? [],
    gitDirsInDoubt: () => whole?.gitDirsInDoubt() ?? [],
    hidden: () => whole?.hidden() ?? [],
    exposed: () => whole?.exposed() ?? [],
    exceeded: () => whole?.exceeded() ?? null,
    warnings: () => whole?.warnings() ?? [],
  };
}
