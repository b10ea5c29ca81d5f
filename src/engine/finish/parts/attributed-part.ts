/** The part of the result that says which changes made the patch. */

import type { Provenance } from '../../../domain/changes/provenance.ts';
import type { RunState } from '../../../domain/run/state.ts';
import type { Warning } from '../../../domain/warnings/warning.ts';
import type { ProvenPatch, ReadBlobs } from '../../../ports/workspace.ts';

/** Null without a patch. The modules that do the work are loaded late, since an empty patch needs none of them. */
export async function attributedPart(
  { changes, interruption }: RunState,
  patch: ProvenPatch | null,
  read: ReadBlobs,
): Promise<{ provenance: Provenance; warnings: Warning[] } | null> {
  if (patch === null) return null;
  if (patch.files.length === 0) return { provenance: { files: [], filesLeftOut: 0 }, warnings: [] };
  const { attributePatch, foreignPartsOf, provenanceOf } = await import('../attribution.ts');
  const files = await attributePatch({
    patch: patch.bytes,
    files: patch.files,
    changes: changes.history,
    takesIn: (source) => changes.takesIn(source),
    inHurry: interruption !== null,
    read,
  });
  return { provenance: provenanceOf(files), warnings: foreignPartsOf(files) };
}
