/** Makes repositories, with a bare git repository and a first commit. */

import { appendFile, chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { UPDATE_HOOK } from '../git-http.ts';
import { GitStore, type NewEntry, type Signature } from './git-store.ts';
import { labelNamed } from './labels.ts';
import type { Repository, RepositorySettings, Role, World } from './world.ts';

/** Text, bytes, or content with another mode: 100755, 120000 (a link's target), 160000 (a commit's id). */
export type FileContent =
  | string
  | Uint8Array
  | { readonly mode: string; readonly content: string | Uint8Array };

export interface NewRepository extends Partial<RepositorySettings> {
  /** The first commit's files; without any and without `from` the repository is empty. */
  readonly files?: Readonly<Record<string, FileContent>>;
  /** A git repository on disk whose branches are taken over. */
  readonly from?: string;
  readonly forkOf?: string;
  /** The owner is an organization. Default: a user. */
  readonly organization?: boolean;
  /** By login. */
  readonly collaborators?: Readonly<Record<string, Role>>;
  readonly teams?: readonly string[];
  readonly labels?: readonly string[];
  readonly milestones?: readonly string[];
}

export async function newRepository(
  world: World,
  folder: string,
  fullName: string,
  given: NewRepository,
): Promise<Repository> {
  const [ownerLogin = ''] = fullName.split('/');
  const store = new GitStore(join(folder, `${fullName.toLowerCase()}.git`));
  await mkdir(store.folder, { recursive: true });
  const defaultBranch = given.defaultBranch ?? 'main';
  await store.text(['init', '--quiet', '--bare', '--template=', `--initial-branch=${defaultBranch}`]);
  await appendFile(join(store.folder, 'config'), CONFIG);
  const hook = join(store.folder, 'hooks', 'update');
  await mkdir(join(store.folder, 'hooks'), { recursive: true });
  await writeFile(hook, UPDATE_HOOK);
  await chmod(hook, 0o755);

  const roles = new Map<string, Role>();
  for (const [login, role] of Object.entries(given.collaborators ?? {})) {
    roles.set(world.accountNamed(login).login.toLowerCase(), role);
  }
  const repository: Repository = {
    id: world.nextId(),
    fullName,
    owner: world.accountNamed(ownerLogin, undefined, given.organization ? 'Organization' : 'User'),
    settings: {
      private: given.private ?? false,
      archived: given.archived ?? false,
      defaultBranch,
      drafts: given.drafts ?? true,
      actionsMayOpenPulls: given.actionsMayOpenPulls ?? true,
      protectedBranches: given.protectedBranches ?? [],
      rules: given.rules ?? [],
    },
    store,
    forkOf: given.forkOf ?? null,
    roles,
    teams: new Set(given.teams),
    lfs: new Set(),
    labels: [],
    milestones: (given.milestones ?? []).map((title, index) => ({
      id: world.nextId(),
      number: index + 1,
      title,
      state: 'open',
    })),
    issues: new Map(),
  };
  for (const name of given.labels ?? []) labelNamed(world, repository, name);
  world.repositories.set(fullName.toLowerCase(), repository);

  const source = given.from ?? world.repository(given.forkOf ?? '')?.store.folder;
  if (source !== undefined) await store.text(['fetch', '--quiet', source, '+refs/heads/*:refs/heads/*']);
  if (given.files !== undefined) await commitFiles(world, repository, defaultBranch, given.files, {});
  return repository;
}

/** A commit of a person, past the API. `null` deletes a file. A new branch starts at the default one. Returns its id. */
export async function commitFiles(
  world: World,
  { store, settings }: Repository,
  branch: string,
  files: Readonly<Record<string, FileContent | null>>,
  { message = 'A commit of a person', author = 'A Person' }: { message?: string; author?: string },
): Promise<string> {
  const parent = (await store.head(branch)) ?? (await store.head(settings.defaultBranch));
  const entries: NewEntry[] = [];
  for (const [path, file] of Object.entries(files)) {
    const { mode, content } =
      file === null || typeof file === 'string' || file instanceof Uint8Array
        ? { mode: '100644', content: file }
        : file;
    const sha =
      content === null
        ? null
        : mode === '160000'
          ? String(content)
          : await store.writeBlob(Buffer.from(content as string));
    entries.push({ path, mode, sha });
  }
  const by: Signature = {
    name: author,
    email: `${author.toLowerCase().replaceAll(/[^a-z]+/g, '.')}@example.com`,
    date: world.now(),
  };
  const tree = await store.writeTree(parent, entries);
  const sha = await store.writeCommit(
    {
      tree,
      parents: parent === null ? [] : [parent],
      author: by,
      committer: by,
      message: `${message}\n`,
    },
    false,
  );
  await store.text(['update-ref', `refs/heads/${branch}`, sha]);
  return sha;
}

const CONFIG = `[http]
	receivepack = true
[uploadpack]
	allowFilter = true
	allowAnySHA1InWant = true
[receive]
	autogc = false
[gc]
	auto = 0
`;
