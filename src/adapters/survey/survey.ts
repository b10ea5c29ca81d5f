/**
 * Examines a repository: which project is in its root, and what a person has to decide about it. Executes nothing in
 * it.
 */

import { listed } from '../../domain/text/words.ts';
import { trackedPaths } from '../../git/checkout-layout.ts';
import { ECOSYSTEMS, makeTest } from './ecosystems.ts';
import { type Folder, openFolder } from './folder.ts';
import type { Ecosystem, Project } from './project.ts';

/** What `init` knows about a repository. `project` and its ecosystem are null if none was recognised. */
export interface Survey {
  readonly project: Project | null;
  readonly ecosystem: Ecosystem | null;
  /** A sentence each. */
  readonly decisions: readonly string[];
}

interface Recognised {
  readonly project: Project;
  readonly ecosystem: Ecosystem;
}

/** `root` is the absolute path of a checkout, `askTracked` gives the paths that are tracked there. */
export async function surveyRepository(root: string, askTracked = () => trackedFiles(root)): Promise<Survey> {
  const folder = openFolder(root);
  const shared = SHARED_DECISIONS.flatMap(([applies, said]) => (applies(folder) ? [said] : []));
  const [first, ...others] = await projectsIn(folder, askTracked);
  if (first === undefined) return { project: null, ecosystem: null, decisions: shared };
  const { project, ecosystem } = first;
  return {
    // If the project itself names no test, its makefile may.
    project: { ...project, test: project.test ?? makeTest(folder) },
    ecosystem,
    decisions: [
      ...project.decisions,
      ...others.map(alsoFound),
      ...notIgnored(folder, project.makes),
      ...shared,
    ],
  };
}

/** The one with most files comes first. */
async function projectsIn(folder: Folder, askTracked: () => Promise<string[]>): Promise<Recognised[]> {
  const all: Recognised[] = [];
  for (const ecosystem of ECOSYSTEMS) {
    const file = folder.first(...ecosystem.manifests);
    if (file !== null) all.push({ project: await ecosystem.look(folder, file), ecosystem });
  }
  if (all.length < 2) return all;
  // A makefile next to another project is a way to start its tools.
  const places = all.filter(({ ecosystem }) => ecosystem.name !== 'Make');
  const tracked = await askTracked();
  const sizes = new Map(
    places.map(({ ecosystem }) => [
      ecosystem,
      tracked.filter((path) => ecosystem.extensions.some((end) => path.endsWith(end))).length,
    ]),
  );
  return places.sort((one, other) => (sizes.get(other.ecosystem) ?? 0) - (sizes.get(one.ecosystem) ?? 0));
}

function alsoFound({ project: { setup, test }, ecosystem }: Recognised): string {
  const commands = [...setup, ...(test === null ? [] : [test])].map(({ text }) => text);
  const usual = commands.length === 0 ? '' : `, such as ${listed(commands, commands.length)}`;
  return `There is ${ecosystem.name} too: add what plans for it need to setup and verify${usual}.`;
}

function notIgnored(folder: Folder, makes: string | null): string[] {
  if (makes === null) return [];
  const [outer = '', name = outer] = makes.split('/');
  const isIgnored = folder
    .text('.gitignore')
    .split('\n')
    .some((line) => /^[^#!]/.test(line) && (line.includes(name) || line.replaceAll(/[/*]/g, '') === outer));
  return isIgnored
    ? []
    : [`Commands make ${makes}, and .gitignore does not name it: add it, or every run will scan its files.`];
}

/** What concerns a repository in any language. */
const SHARED_DECISIONS: readonly (readonly [applies: (folder: Folder) => boolean, decision: string])[] = [
  [
    ({ names }) => names.has('.gitmodules'),
    'There are submodules, which are empty folders in the checkout of the workflow: if tests need them, use the action in a workflow of your own (docs/action.md).',
  ],
  [
    ({ text }) => text('.gitattributes').includes('filter=lfs'),
    'There are files of Git LFS, which the checkout of the workflow leaves out: if tests need them, use the action in a workflow of your own (docs/action.md).',
  ],
];

/** Paths as git has them in its index, relative to `root`; empty when nothing is tracked, or git does not answer. */
export async function trackedFiles(root: string): Promise<string[]> {
  const paths = await trackedPaths(root);
  const all = paths === null ? [] : paths.toString('utf8').split('\0');
  return all.filter((path) => path !== '');
}
