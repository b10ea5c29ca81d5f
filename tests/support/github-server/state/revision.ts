/** Names of commits, as paths and bodies of requests have them. */

import type { GitStore } from './git-store.ts';
import type { Repository, World } from './world.ts';

/** A commit by branch, tag, `refs/…`, full or short id, or `owner:branch` of a fork; null when there is none. */
export async function resolveCommit(
  world: World,
  repository: Repository,
  name: string,
): Promise<string | null> {
  const { store } = repository;
  const colon = name.indexOf(':');
  if (colon >= 0) {
    const fork = forkOf(world, repository, name.slice(0, colon));
    if (fork === null) return null;
    const sha = await fork.store.head(name.slice(colon + 1));
    if (sha !== null && fork !== repository) await store.text(['fetch', '--quiet', fork.store.folder, sha]);
    return sha;
  }
  if ((await store.typeOf(name)) === 'commit') return name;
  const refs = await store.refs('refs/');
  for (const ref of [`refs/heads/${name}`, `refs/tags/${name}`, name]) {
    const sha = refs.find((one) => one.name === ref)?.sha;
    if (sha !== undefined) return peeled(store, sha);
  }
  if (!/^[0-9a-f]{7,40}$/.test(name)) return null;
  if (!(await store.holds('cat-file', '-e', `${name}^{commit}`))) {
    const holder = await holderInNetwork(world, repository, name);
    if (holder === null) return null;
    await store.text(['fetch', '--quiet', holder.store.folder, name]);
  }
  return store.text(['rev-parse', `${name}^{commit}`]);
}

async function peeled(store: GitStore, sha: string): Promise<string> {
  return (await store.typeOf(sha)) === 'commit' ? sha : store.text(['rev-parse', `${sha}^{commit}`]);
}

/** Repositories of a network share their commits. By full id alone. */
async function holderInNetwork(
  world: World,
  repository: Repository,
  sha: string,
): Promise<Repository | null> {
  if (sha.length !== 40) return null;
  const root = repository.forkOf ?? repository.fullName;
  for (const one of world.repositories.values()) {
    if (one === repository || (one.fullName !== root && one.forkOf !== root)) continue;
    if (await one.store.holds('cat-file', '-e', `${sha}^{commit}`)) return one;
  }
  return null;
}

/** The repository of this owner in the same network; null when there is none. */
export function forkOf(world: World, repository: Repository, owner: string): Repository | null {
  const root = repository.forkOf ?? repository.fullName;
  if (repository.owner.login.toLowerCase() === owner.toLowerCase()) return repository;
  for (const one of world.repositories.values()) {
    const sameNetwork = one.fullName === root || one.forkOf === root;
    if (sameNetwork && one.owner.login.toLowerCase() === owner.toLowerCase()) return one;
  }
  return null;
}
