/** The part of the result that says which changes made the patch. */

import type { Provenance } from '../../../domain/changes/provenance.ts';
import type { RunState } from '../../../domain/run/state.ts';
import type { Warning } from '../../../domain/warnings/warning.ts';
import type { ProvenPatch } from '../../../ports/workspace.ts';

/** Writes the history of the run. Null without a patch. The modules are loaded late, since a run without changes needs none of them. */
export async function attributedPart(
  { changes, interruption }: RunState,
  patch: ProvenPatch | null,
  gitDir: string,
): Promise<{ provenance: Provenance; warnings: Warning[] } | null> {
  const none = { provenance: { files: [], filesLeftOut: 0 }, warnings: [] };
  if (changes.history.length === 0) return patch && none;
  const { attributePatch, foreignPartsOf, keepHistory, provenanceOf } = await import('../attribution.ts');
  const takesIn = changes.takesIn.bind(changes);
  const history = await keepHistory({ changes: changes.history, takesIn, gitDir });
  if (patch === null || patch.files.length === 0) return patch && none;
  const inHurry = interruption !== null;
  const files = await attributePatch({ patch: patch.bytes, files: patch.files, history, inHurry });
  return { provenance: provenanceOf(files), warnings: foreignPartsOf(files) };
}
