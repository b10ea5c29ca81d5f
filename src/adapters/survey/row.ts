/** Ecosystems whose commands are always the same, as data. */

import { MANAGERS, type ManagerName } from '../../domain/packages/managers.ts';
import type { Folder } from './folder.ts';
import { cacheOf, type Ecosystem, type Said } from './project.ts';
import type { WorkflowInputs } from './workflow-inputs.ts';

/** A command, and the files that name it: one of these is there, and shows the sign. */
export type CommandRule = readonly [
  command: string,
  files: string,
  sign?: RegExp | ((folder: Folder, file: string) => boolean),
];

/** An ecosystem whose commands are always the same. */
export interface EcosystemRow extends Omit<Ecosystem, 'look'> {
  readonly manager: string;
  readonly lockfile?: string;
  /** Where packages come from; those of `ManagerName`, unless named. */
  readonly hosts?: readonly string[];
  readonly packages?: ManagerName;
  /** What loads packages before the work; nothing is loaded at all unless one of these holds. */
  readonly setup?: readonly CommandRule[];
  readonly test: readonly CommandRule[];
  readonly lint?: readonly CommandRule[];
  readonly build: readonly CommandRule[];
  readonly makes?: string;
  readonly decision?: string;
  installs?(folder: Folder): WorkflowInputs | Promise<WorkflowInputs>;
}

/** The first that holds. */
export function saidBy(folder: Folder, rules: readonly CommandRule[]): Said | null {
  for (const [text, files, sign] of rules) {
    const from = files.split(' ').find((one) => {
      const file = folder.first(one);
      if (file === null || sign === undefined) return file !== null;
      return typeof sign === 'function' ? sign(folder, file) : sign.test(folder.text(file));
    });
    if (from !== undefined) return { text, from: folder.first(from) ?? from };
  }
  return null;
}

/** What its files say by the rules of the row. */
export function ecosystemOf(row: EcosystemRow): Ecosystem {
  const { name, extensions, manifests, packages, hosts = packages ? MANAGERS[packages].hosts : [] } = row;
  return {
    ...{ name, extensions, manifests },
    async look(folder, file) {
      const said = saidBy(folder, row.setup ?? []);
      const test = saidBy(folder, row.test);
      const downloads = row.setup === undefined || said !== null;
      const filledBy = row.setup === undefined ? test?.text : undefined;
      return {
        manager: { text: row.manager, from: file },
        lockfile: row.lockfile === undefined ? null : folder.first(row.lockfile),
        setup: said === null ? [] : [said],
        test,
        lint: saidBy(folder, row.lint ?? []),
        build: saidBy(folder, row.build),
        domains: downloads ? hosts : [],
        cache: downloads && packages !== undefined ? cacheOf(folder, packages, filledBy) : null,
        installs: (await row.installs?.(folder)) ?? {},
        makes: row.makes ?? null,
        decisions: row.decision === undefined ? [] : [row.decision],
      };
    },
  };
}
