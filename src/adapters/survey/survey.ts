/**
 * Examines a repository: which projects are in it, and what a person has to decide about them. Executes nothing in
 * it.
 */

import { listed } from '../../domain/text/words.ts';
import { trackedPaths } from '../../git/checkout-layout.ts';
import { makeTarget } from './ecosystems/make.ts';
import { ECOSYSTEMS } from './ecosystems/registry.ts';
import { openFolder, readWorkflows, type Workflows } from './folder.ts';
import type { Ecosystem, Folder, Project, Said } from './project.ts';

/** What `init` knows about a repository. `project` is null if no ecosystem was recognised. */
export interface Survey {
  readonly project: Project | null;
  /** Prints the version of its language; null when that is not known. */
  readonly versionCommand: string | null;
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
  const workflows = await readWorkflows(root);
  const [first, ...others] = await placesIn(root, workflows, askTracked);
  const top = openFolder(root, '', workflows);
  const shared = top === null ? [] : await sharedDecisions(top, workflows);
  const paths = [...workflows.keys()];
  if (first === undefined)
    return { project: null, versionCommand: null, folder: '', workflows: paths, decisions: shared };
  const project = await withMake(first.project, first.folder);
  return {
    project: inFolder(project, first.folder.prefix),
    versionCommand: first.ecosystem.versionCommand,
    folder: first.folder.prefix.replace(/\/$/, ''),
    workflows: paths,
    decisions: [
      ...project.decisions,
      ...others.map((other) => alsoFound(other)),
      ...(await notIgnored(top, first.folder, project.makes)),
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
  const places = atTop.length > 0 ? atTop : await placesBelow(root, workflows, tracked);
  if (places.length < 2) return places;
  const sizeOf = ({ folder: { prefix }, ecosystem: { extensions } }: ProjectPlace) =>
    tracked.filter((path) => path.startsWith(prefix) && extensions.some((end) => path.endsWith(end))).length;
  const sizes = new Map(places.map((place) => [place, sizeOf(place)]));
  return places.sort((one, other) => (sizes.get(other) ?? 0) - (sizes.get(one) ?? 0));
}

async function placesBelow(
  root: string,
  workflows: Workflows,
  tracked: readonly string[],
): Promise<ProjectPlace[]> {
  const sizes = new Map<string, number>();
  for (const { folder, files } of foldersOf(tracked)) {
    const [outer = '', inner] = folder.split('/', 2);
    const around = inner === undefined ? [outer] : [outer, `${outer}/${inner}`];
    for (const one of around) sizes.set(one, (sizes.get(one) ?? 0) + files);
  }
  const large = [...sizes].flatMap(([folder, size]) =>
    PLAIN_FOLDER.test(folder) && size >= LEAST_SHARE * tracked.length ? [folder] : [],
  );
  const found = large.map((folder) => placesOf(openFolder(root, `${folder}/`, workflows)));
  return (await Promise.all(found)).flat();
}

/**
 * The folders below the root that contain files, possibly with repetitions. Git lists the contents of a folder
 * together.
 */
function foldersOf(tracked: readonly string[]): { folder: string; files: number }[] {
  const found: { folder: string; files: number }[] = [];
  let last = { folder: '', files: 0 };
  for (const path of tracked) {
    const end = path.lastIndexOf('/');
    if (end <= 0) continue;
    if (end !== last.folder.length || !path.startsWith(last.folder)) {
      last = { folder: path.slice(0, end), files: 0 };
      found.push(last);
    }
    last.files += 1;
  }
  return found;
}

async function placesOf(folder: Folder | null): Promise<ProjectPlace[]> {
  if (folder === null) return [];
  const places: ProjectPlace[] = [];
  for (const ecosystem of ECOSYSTEMS) {
    if (folder.first(...ecosystem.manifests) === null) continue;
    const project = await ecosystem.look(folder);
    if (project !== null) places.push({ project, folder, ecosystem });
  }
  // A makefile next to another project is a way to start its tools.
  return places.length > 1 ? places.filter(({ project }) => project.ecosystem !== 'Make') : places;
}

/** If the project itself names no test, or only a likely one, its makefile may. */
async function withMake(project: Project, folder: Folder): Promise<Project> {
  if (project.test !== null && 'found' in project.test.basis) return project;
  const test = await makeTarget(folder, 'test', 'check');
  return test === null ? project : { ...project, test };
}

function inFolder(project: Project, prefix: string): Project {
  if (prefix === '') return project;
  const folder = prefix.slice(0, -1);
  const there = (said: Said | null) => said && { ...said, text: `cd ${folder} && ${said.text}` };
  return {
    ...project,
    // Steps that fill it in a workflow work in the root.
    cache: project.cache && {
      ...project.cache,
      filledBy: `cd ${folder} && { ${project.cache.filledBy}; }`,
      steps: null,
    },
    setup: project.setup.map((said) => ({ ...said, text: `cd ${folder} && { ${said.text}; }` })),
    test: there(project.test),
    lint: there(project.lint),
    build: there(project.build),
  };
}

function alsoFound({ project, folder }: ProjectPlace): string {
  const commands = [...project.setup, ...(project.test === null ? [] : [project.test])].map(
    ({ text }) => text,
  );
  const where = folder.prefix === '' ? '' : ` in ${folder.prefix}`;
  const usual = commands.length === 0 ? '' : ` Its commands would be: ${commands.join('; ')}.`;
  return `There is ${project.ecosystem}${where} too: add what plans for it need to setup and verify.${usual}`;
}

async function notIgnored(top: Folder | null, folder: Folder, makes: string | null): Promise<string[]> {
  if (makes === null) return [];
  const rules = [await top?.text('.gitignore'), folder === top ? null : await folder.text('.gitignore')].join(
    '\n',
  );
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
async function sharedDecisions(top: Folder, workflows: Workflows): Promise<string[]> {
  const decisions: string[] = [];
  if (top.names.has('.gitmodules'))
    decisions.push(
      'There are submodules: if tests need them, add submodules: true to the step Check out, and take verify-in: checkout out of the workflow, since they are empty folders in a fresh checkout.',
    );
  if (/filter=lfs/.test((await top.text('.gitattributes')) ?? ''))
    decisions.push('There are files of Git LFS: if tests need them, add lfs: true to the step Check out.');
  const having = (sign: RegExp) => [...workflows].flatMap(([path, text]) => (sign.test(text) ? [path] : []));
  const services = having(/^ {4}services:/m);
  if (services.length > 0)
    decisions.push(
      `Services such as a database are started in ${listed(services, 3)}: tests that need one fail in the sandbox, which is cut off from the network. Use verify commands that need none.`,
    );
  const packages = having(/apt(?:-get)? install/);
  if (packages.length > 0)
    decisions.push(
      `System packages are installed in ${listed(packages, 3)}: if the tests need them, copy that step into the workflow, before "Check out".`,
    );
  return decisions;
}

/** Paths as git has them in its index, relative to `root`; empty when nothing is tracked, or git does not answer. */
export async function trackedFiles(root: string): Promise<string[]> {
  const paths = await trackedPaths(root);
  return paths === null
    ? []
    : paths
        .toString('utf8')
        .split('\0')
        .filter((path) => path !== '');
}
