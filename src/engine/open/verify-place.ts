/** Where a run's verify commands run: out of reach of anything the model's commands could have prepared for them. */

import { mkdirSync, mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFreshCheckout, makeVerifyGit } from '../../adapters/workspace/verify-git-dir.ts';
import { CutShort } from '../../domain/errors/thrown.ts';
import type { VerifyIn } from '../../domain/run/model-settings.ts';
import { listed } from '../../domain/text/words.ts';
import { type Warning, warning } from '../../domain/warnings/warning.ts';
import type { Checkout } from '../../git/checkout-layout.ts';
import type { Workspace } from '../../ports/workspace.ts';
import type { OpenedPlace, Sandbox, VerifyPlace } from '../../ports.ts';
import type { OpenSibling } from './sandbox.ts';

/** What a place for verify commands is made from. */
export interface VerifyPlaceParts {
  readonly kind: VerifyIn;
  /** The plan's setup commands, which a fresh checkout needs again. */
  readonly setup: readonly string[];
  readonly checkout: Checkout;
  readonly workspace: Workspace;
  readonly shadowDir: string;
  /** One of our own folders, on the disk that has room for another checkout. Its owner empties it. */
  readonly scratchDir: string;
  /** Absolute path at which commands see the work tree. */
  readonly shownAs: string;
  readonly beside: OpenSibling;
}

/** Every verification has its own git dir, and so does every fresh checkout. */
export function verifyPlaceOf(parts: VerifyPlaceParts): VerifyPlace {
  const { kind, setup, scratchDir } = parts;
  const warnings = new Set<Warning>();
  return {
    kind,
    setup: kind === 'checkout' ? setup : [],
    async open(net, signal) {
      if (signal.aborted) return { status: 'interrupted' };
      mkdirSync(scratchDir, { recursive: true, mode: 0o700 });
      const folder = mkdtempSync(join(scratchDir, FOLDER));
      const warn: Warn = (code, text) => void warnings.add(warning(code, text));
      const opening =
        kind === 'worktree'
          ? openWorkTree(parts, folder)
          : openCheckout(parts, { folder, net, signal, warn });
      return opening.catch((error: unknown): OpenedPlace => {
        if (error instanceof CutShort) return { status: 'interrupted' };
        throw error;
      });
    },
    warnings: () => [...warnings],
  };
}

async function openWorkTree(
  { checkout, workspace, shadowDir, shownAs, beside }: VerifyPlaceParts,
  folder: string,
): Promise<OpenedPlace> {
  const gitDir = join(folder, 'git');
  await makeVerifyGit({ checkout, shadowDir }, gitDir);
  const sandboxGitDir = { ...workspace.sandboxGitDir, gitDir };
  const { root } = workspace;
  const contained = await beside({ root, shownAs, sandboxGitDir });
  return {
    status: 'ok',
    sandbox: renaming(contained, shownAs, root),
    close: () => end(contained, folder),
    otherwise: () => [],
  };
}

type Warn = (...warned: Parameters<typeof warning>) => void;

interface CheckoutParts extends Pick<Parameters<typeof makeFreshCheckout>[0], 'folder' | 'net' | 'signal'> {
  readonly warn: Warn;
}

async function openCheckout(
  { checkout, workspace, shadowDir, shownAs, beside }: VerifyPlaceParts,
  { folder, net, signal, warn }: CheckoutParts,
): Promise<OpenedPlace> {
  const root = join(folder, 'tree');
  const gitDir = join(folder, 'git');
  const base = workspace.base();
  const made = await makeFreshCheckout({ checkout, shadowDir, base, net, folder: root, gitDir, signal });
  if (made.status === 'failed') return made;
  if (made.submodules.length > 0)
    warn(
      'WARN_FRESH_CHECKOUT_LACKS',
      `Submodules are empty folders in the fresh checkout: ${listed(made.submodules, 5)}.`,
    );
  if (made.pointers.length > 0)
    warn(
      'WARN_FRESH_CHECKOUT_LACKS',
      `LFS files are pointers in the fresh checkout: ${listed(made.pointers, 5)}.`,
    );
  const sandboxGitDir = { gitDir, objects: checkout.objects, dotGitIsFile: false, nested: [] };
  const contained = await beside({ root, shownAs, sandboxGitDir });
  let otherwise: readonly string[] = [];
  return {
    status: 'ok',
    sandbox: renaming(contained, shownAs, root),
    otherwise: () => otherwise,
    async close() {
      await contained.close();
      otherwise = await made.otherwise();
      const changed = made.changed();
      if (changed.length > 0)
        warn(
          'WARN_FRESH_CHECKOUT_CHANGED',
          `Setup or verify commands changed files of the fresh checkout, which is gone: ${listed(changed, 5)}.`,
        );
      await end(contained, folder);
    },
  };
}

/** Prefix of the folders' names. */
const FOLDER = 'verify-';

/** A folder that cannot be removed is removed or reported when the run ends. */
async function end(sandbox: Sandbox, folder: string): Promise<void> {
  await sandbox.close();
  await rm(folder, { recursive: true, force: true }).catch(() => undefined);
}

/**
 * Without a mount namespace, `root` is visible at its own path. In scripts that name the work tree, `shownAs` is therefore replaced by
 * the checkout, and in their output the checkout by the work tree.
 */
export function renaming(sandbox: Sandbox, shownAs: string, root: string): Sandbox {
  const { level } = sandbox;
  if ((level !== 'none' && level !== 'landlock') || root === shownAs) return sandbox;
  const back = (text: string) => text.replaceAll(root, shownAs);
  return {
    ...sandbox,
    async run(command) {
      const { end, output } = await sandbox.run({
        ...command,
        script: command.script.replaceAll(shownAs, root),
      });
      return { end, output: { ...output, head: back(output.head), tail: back(output.tail) } };
    },
  };
}
