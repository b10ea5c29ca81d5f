/**
 * Examines a repository: which projects are in it, and what a person has to decide about them. Executes nothing in
 * it.
 */

import { listed } from '../../domain/text/words.ts';
import { trackedPaths } from '../../git/checkout-layout.ts';
import { ECOSYSTEMS, makeTest } from './ecosystems.ts';
import { openFolder, readWorkflows, type Workflows } from './folder.ts';
import type { Ecosystem, Folder, Project, Said } from './project.ts';

/** What `init` knows about a repository. `project` and its ecosystem are null if none was recognised. */
export interface Survey {
  readonly project: Project | null;
  readonly ecosystem: Ecosystem | null;
  /** The folder of the project, relative to the root; empty for the root. */
  readonly folder: string;
  /** Paths of the workflows that are there. */
  readonly workflows: readonly string[];
  /** A sentence each. */
  readonly decisions: readonly string[];
}

/** A folder must hold this share of the tracked files to be taken for the project when the root has none. */
const LEAST_SHARE = 1 / 3;
/** Folders with other names would need quoting in too many places. */
const PLAIN_FOLDER = /^[A-Za-z0-9_][\w.-]{0,60}(?:\/[A-Za-z0-9_][\w.-]{0,60})?$/;

/** `root` is the absolute path of a checkout, `askTracked` gives the paths that are tracked there. */
export async function surveyRepository(root: string, askTracked = () => trackedFiles(root)): Promise<Survey> {
  const workflows = readWorkflows(root);
  const top = openFolder(root, '', workflows);
  const [first, ...others] = await placesIn(root, workflows, askTracked);
  const shared = top === null ? [] : sharedDecisions(top, workflows);
  const paths = [...workflows.keys()];
  if (first === undefined)
    return { project: null, ecosystem: null, folder: '', workflows: paths, decisions: shared };
  const { project, folder, ecosystem } = first;
  const isSure = project.test !== null && 'found' in project.test.basis;
  return {
    // If the project itself names no test, or only a likely one, its makefile may.
    project: inFolder(
      { ...project, test: (isSure ? null : makeTest(folder)) ?? project.test },
      folder.prefix,
    ),
    ecosystem,
    folder: folder.prefix.replace(/\/$/, ''),
    workflows: paths,
    decisions: [
      ...project.decisions,
      ...others.map(alsoFound),
      ...notIgnored([top, folder], project.makes),
      ...shared,
    ],
  };
}

interface ProjectPlace {
  readonly project: Project;
  readonly folder: Folder;
  readonly ecosystem: Ecosystem;
}

/** In the root, otherwise in the folders with much of the repository; the one with most files comes first. */
async function placesIn(
  root: string,
  workflows: Workflows,
  askTracked: () => Promise<string[]>,
): Promise<ProjectPlace[]> {
  const atTop = await placesOf(openFolder(root, '', workflows));
  if (atTop.length === 1) return atTop;
  const tracked = await askTracked();
  const below = () => largeFolders(tracked).map((folder) => placesOf(openFolder(root, folder, workflows)));
  const places = atTop.length > 0 ? atTop : (await Promise.all(below())).flat();
  if (places.length < 2) return places;
  const sizeOf = ({ folder: { prefix }, ecosystem: { extensions } }: ProjectPlace) =>
    tracked.filter((path) => path.startsWith(prefix) && extensions.some((end) => path.endsWith(end))).length;
  const sizes = new Map(places.map((place) => [place, sizeOf(place)]));
  return places.sort((one, other) => (sizes.get(other) ?? 0) - (sizes.get(one) ?? 0));
}

/** Folders at the first two levels with much of the repository, each with a slash at its end. */
function largeFolders(tracked: readonly string[]): string[] {
  const sizes = new Map<string, number>();
  const count = (path: string, end: number) => {
    const folder = path.slice(0, end);
    sizes.set(folder, (sizes.get(folder) ?? 0) + 1);
  };
  for (const path of tracked) {
    const outer = path.indexOf('/');
    if (outer <= 0) continue;
    count(path, outer);
    const inner = path.indexOf('/', outer + 1);
    if (inner > 0) count(path, inner);
  }
  return [...sizes].flatMap(([folder, size]) =>
    PLAIN_FOLDER.test(folder) && size >= LEAST_SHARE * tracked.length ? [`${folder}/`] : [],
  );
}

/** A project of which its files say nothing. */
const NOTHING = {
  lockfile: null,
  setup: [],
  test: null,
  lint: null,
  build: null,
  domains: [],
  cache: null,
  steps: [],
  makes: null,
  decisions: [],
} satisfies Partial<Project>;

async function placesOf(folder: Folder | null): Promise<ProjectPlace[]> {
  if (folder === null) return [];
  const places: ProjectPlace[] = [];
  for (const ecosystem of ECOSYSTEMS) {
    const file = folder.first(...ecosystem.manifests);
    if (file === null) continue;
    places.push({ project: { ...NOTHING, ...(await ecosystem.look(folder, file)) }, folder, ecosystem });
  }
  // A makefile next to another project is a way to start its tools.
  return places.length > 1 ? places.filter(({ ecosystem }) => ecosystem.name !== 'Make') : places;
}

function inFolder(project: Project, prefix: string): Project {
  if (prefix === '') return project;
  const cd = `cd ${prefix.slice(0, -1)} &&`;
  const there = (said: Said | null) => said && { ...said, text: `${cd} ${said.text}` };
  const { cache } = project;
  return {
    ...project,
    // Steps that fill it in a workflow work in the root.
    cache: cache && { ...cache, filledBy: `${cd} { ${cache.filledBy}; }`, steps: null },
    setup: project.setup.map((said) => ({ ...said, text: `${cd} { ${said.text}; }` })),
    test: there(project.test),
    lint: there(project.lint),
    build: there(project.build),
  };
}

function alsoFound({ project, folder, ecosystem }: ProjectPlace): string {
  const commands = [...project.setup, ...(project.test === null ? [] : [project.test])];
  const where = folder.prefix === '' ? '' : ` in ${folder.prefix}`;
  const usual = listed(
    commands.map(({ text }) => text),
    commands.length,
  );
  return `There is ${ecosystem.name}${where} too: add what plans for it need to setup and verify${usual && `, such as ${usual}`}.`;
}

function notIgnored(folders: readonly (Folder | null)[], makes: string | null): string[] {
  if (makes === null) return [];
  const rules = folders.map((folder) => folder?.text('.gitignore') ?? '').join('\n');
  const [name = ''] = makes.split('/').slice(-1);
  const [outer = ''] = makes.split('/');
  const isIgnored = rules
    .split('\n')
    .some((line) => /^[^#!]/.test(line) && (line.includes(name) || line.replaceAll(/[/*]/g, '') === outer));
  return isIgnored
    ? []
    : [`Commands make ${makes}, and .gitignore does not name it: add it, or every run will scan its files.`];
}

/** What concerns the repository in any language. */
function sharedDecisions(top: Folder, workflows: Workflows): string[] {
  const having = (sign: RegExp) =>
    listed(
      [...workflows].flatMap(([path, text]) => (sign.test(text) ? [path] : [])),
      3,
    );
  const services = having(/^ {4}services:/m);
  const packages = having(/apt(?:-get)? install/);
  const decisions: readonly (readonly [applies: boolean, decision: string])[] = [
    [
      top.names.has('.gitmodules'),
      'There are submodules: if tests need them, add submodules: true to the step Check out, and take verify-in: checkout out of the workflow, since they are empty folders in a fresh checkout.',
    ],
    [
      top.text('.gitattributes').includes('filter=lfs'),
      'There are files of Git LFS: if tests need them, add lfs: true to the step Check out.',
    ],
    [
      services !== '',
      `Services such as a database are started in ${services}: tests that need one fail in the sandbox, which is cut off from the network. Use verify commands that need none.`,
    ],
    [
      packages !== '',
      `System packages are installed in ${packages}: if the tests need them, copy that step into the workflow, before "Check out".`,
    ],
  ];
  return decisions.flatMap(([applies, decision]) => (applies ? [decision] : []));
}

/** Paths as git has them in its index, relative to `root`; empty when nothing is tracked, or git does not answer. */
export async function trackedFiles(root: string): Promise<string[]> {
  const paths = await trackedPaths(root);
  const all = paths === null ? [] : paths.toString('utf8').split('\0');
  return all.filter((path) => path !== '');
}
