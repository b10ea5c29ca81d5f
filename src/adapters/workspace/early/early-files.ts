/** How files are read, listed and searched while the baseline is being taken. */

import type { Workspace } from '../../../ports/workspace.ts';
import { readableFiles } from '../work-tree-files.ts';
import type { EarlyParts, EarlyRules } from './early-rules.ts';

/** What a run may do before its baseline is known. */
export type EarlyFiles = Pick<Workspace, 'readFile' | 'listFiles' | 'search'>;

/** Changes neither the work tree nor what the baseline comes to. */
export function earlyFiles({ checkout, tree }: EarlyParts, rules: () => Promise<EarlyRules>): EarlyFiles {
  const filesBy = async (path: string): Promise<EarlyFiles> => {
    const { live, onRuleFile, takeAbove } = await rules();
    // Those below are taken by the walk.
    takeAbove(path);
    return readableFiles({ ...tree, rules: live, onRuleFile }, checkout.objectFormat);
  };
  return {
    readFile: readableFiles(tree, checkout.objectFormat).readFile,
    listFiles: async (path, glob) => (await filesBy(path)).listFiles(path, glob),
    search: async (query) => (await filesBy(query.path)).search(query),
  };
}
