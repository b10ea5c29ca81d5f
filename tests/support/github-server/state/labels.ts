/** Labels of a repository. */

import type { Label, Repository, World } from './world.ts';

/** The label of this name, in any case; made where there is none, as GitHub does for whoever may push. */
export function labelNamed(world: World, repository: Repository, name: string): Label {
  const known = repository.labels.find((label) => label.name.toLowerCase() === name.toLowerCase());
  if (known !== undefined) return known;
  const label = { id: world.nextId(), name, color: 'ededed' };
  repository.labels.push(label);
  return label;
}
