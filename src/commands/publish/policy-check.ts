/** The files that a run must not change, or only in a draft. */

import type { Clone } from '../../adapters/github/clone.ts';
import type { ChangedFile } from '../../domain/changes/change.ts';
import { foldedName, folderOf, resolvedPath } from '../../domain/changes/path.ts';
import { pathMatcher, pathPolicy } from '../../domain/changes/path-policy.ts';
import { judgeProtected, type ProtectedRules } from '../../domain/github/publishing/policy.ts';
import { policyViolation } from '../../domain/run/outcome.ts';
import type { PathRules } from '../../domain/run/plan.ts';
import { listed } from '../../domain/text/words.ts';
import { decodeName } from '../../files/names.ts';
import { treeEntries } from '../../git/store/trees.ts';
import type { PublishJob } from './job.ts';
import { stop } from './place.ts';

/** What of these files may only be published as a draft. `more` are globs besides those of plan and settings. */
export function checkPolicy(
  job: Pick<PublishJob, 'run' | 'settings'>,
  files: readonly ChangedFile[],
  more: readonly PathRules[],
): string[] {
  const touched = touchedBy(files);
  refuseForbidden(job, touched, more);
  return judged(touched, job);
}

/** The old and the new names of these files. */
export function touchedBy(files: readonly ChangedFile[]): string[] {
  return [...new Set(files.flatMap(({ path, from = path }) => [from, path]))];
}

/** The same for the other names that links of the tree with the change give to what it touches. The clone has the tree. */
export async function checkLinked(
  job: Pick<PublishJob, 'run' | 'settings'>,
  clone: Clone,
  files: readonly ChangedFile[],
  tree: string,
): Promise<string[]> {
  if (job.settings.protectedPaths === 'allow') return [];
  const others = (await readLinks(clone, tree)).namesOf(touchedBy(files));
  if (others === null) return refuse(`Links give its files more than ${MAX_NAMES} names, too many to judge.`);
  return judged(others, job);
}

/** The links of a tree, which the clone has. */
export async function readLinks(clone: Clone, tree: string) {
  const links = ((await treeEntries(clone.gitDir, tree)) ?? []).filter(({ mode }) => mode === '120000');
  const ids = links.map(({ id }) => id);
  const contents = await clone.contents(ids, MAX_TARGET_BYTES);
  // Each by its own spelling, and where the least strict disks take it.
  const ways = [(name: string) => name, nameOnDisk].flatMap((spelt) => {
    const targets = new Map(
      links.map(({ path, id }) => [spelling(`/${path}`, spelt), decodeName(contents.get(id) ?? NOTHING)]),
    );
    return links.map(({ path }) => {
      const [place = '', ...hops] = wayOf(`/${path}`, targets, spelt).reverse().map(folded);
      return { link: `/${path}`, place, hops };
    });
  });
  return {
    /** The other names that they give to these files; null if there are too many to judge. */
    namesOf(files: readonly string[]): string[] | null {
      // Each with the links on its way. It grows while it is walked.
      const names = new Map(files.map((path): [string, string[]] => [`/${path}`, []]));
      const known = names.size;
      for (const [name, way] of names) {
        const here = folded(name);
        for (const { link, place, hops } of ways) {
          const isIn = place === '/' || here === place || here.startsWith(`${place}/`);
          const depth = place === '/' ? 1 : place.split('/').length;
          const rests = isIn ? [name.split('/').slice(depth).join('/')] : [];
          for (const rest of hops.includes(here) ? [...rests, ''] : rests) {
            const other = resolvedPath(link, rest);
            // Links in circles give endless names, but none of another kind the second time.
            if (!way.includes(link) && !names.has(other)) names.set(other, [...way, link]);
          }
        }
        if (names.size > MAX_NAMES) return null;
      }
      return [...names.keys()].slice(known).map((name) => name.slice(1));
    },
  };
}

const spelling = (path: string, spelt: (name: string) => string) => path.split('/').map(spelt).join('/');
const folded = (path: string) => spelling(path, nameOnDisk);

/** Without what disks leave out of a name, but for the two that lead elsewhere. */
function nameOnDisk(name: string): string {
  return /^\.{0,2}$/.test(name) ? name : foldedName(name);
}

/** More are made to hide one of them. */
const MAX_NAMES = 2_000;

/** The links on the way from a path, and where it leads in the tree. */
function wayOf(
  path: string,
  targets: ReadonlyMap<string, string>,
  spelt: (name: string) => string,
): string[] {
  const way: string[] = [];
  let place = '/';
  const names = path.split('/');
  while (names.length > 0 && way.length <= MAX_HOPS) {
    place = resolvedPath(place, spelt(names.shift() ?? ''));
    const target = targets.get(place);
    if (target === undefined) continue;
    way.push(place);
    // Outside the tree are no files of it.
    if (target.startsWith('/')) return way;
    place = folderOf(place) || '/';
    names.unshift(...target.split('/'));
  }
  return [...way, place];
}

/** As Linux has it. */
const MAX_HOPS = 40;
const NOTHING = Buffer.alloc(0);

/** No system follows a link with a longer target. */
const MAX_TARGET_BYTES = 4_096;

/** Which paths are protected, and what the operator accepts of them. */
export function rulesOf({ run, settings }: Pick<PublishJob, 'run' | 'settings'>): ProtectedRules {
  return {
    mode: settings.protectedPaths,
    isAccepted: pathMatcher(settings.acceptProtected),
    principles: run.result.principles.map(({ path }) => path),
  };
}

function judged(paths: readonly string[], job: Pick<PublishJob, 'run' | 'settings'>): string[] {
  const { refused, drafts } = judgeProtected(paths, rulesOf(job));
  if (refused.length === 0) return drafts;
  return refuse(
    `The patch changes protected files: ${listed(refused, 10, 'file')}. Accept them with --accept-protected GLOB, or publish a draft with --protected draft.`,
  );
}

function refuse(why: string): never {
  stop(policyViolation('ERR_PROTECTED_PATH', why));
}

/** The globs of the plan, of the run's settings and of our own settings all apply. */
function refuseForbidden(
  { run: { result }, settings }: Pick<PublishJob, 'run' | 'settings'>,
  touched: readonly string[],
  more: readonly PathRules[],
): void {
  const rules = [result.plan, result.paths, settings, ...more].flatMap((given) => given ?? []);
  const mayChange = pathPolicy(...rules);
  const paths = touched.filter((path) => !mayChange(path));
  if (paths.length === 0) return;
  stop(
    policyViolation(
      'ERR_FORBIDDEN_PATH',
      `The plan and the settings do not allow changes to: ${listed(paths, 10, 'file')}. See allow and protect in the settings and in the plan.`,
    ),
  );
}
