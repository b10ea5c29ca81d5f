/** The label of an issue that says how far the work on it has come. */

import * as z from 'zod';
import { getOrNull, getOrThrow, type OnGitHub, paginate } from '../request.ts';

/** How far the work has come. */
export type WorkState = 'running' | 'done' | 'failed';

/** Which issue, and the label that starts a run; the others are `NAME:running`, `NAME:done` and `NAME:failed`. */
export interface StateLabel {
  readonly issue: number;
  readonly trigger: string;
}

/**
 * Sets `NAME:<state>` and takes away the trigger and the labels of other states, so that setting the trigger starts a run
 * again. Throws refusals as `getOrThrow` does.
 */
export async function setStateLabel(
  where: OnGitHub,
  { issue, trigger }: StateLabel,
  state: WorkState,
): Promise<void> {
  const labels = await paginate(where, {
    route: 'GET /repos/{owner}/{repo}/issues/{issue_number}/labels',
    parameters: { issue_number: issue },
    entry: z.object({ name: z.string() }),
  });
  const isSame = (a: string, b: string) => a.toLowerCase() === b.toLowerCase();
  const wanted = `${trigger}:${state}`;
  // Set first, so that there is a state at any time.
  if (!labels.some(({ name }) => isSame(name, wanted)))
    await getOrThrow(where, {
      route: 'POST /repos/{owner}/{repo}/issues/{issue_number}/labels',
      parameters: { issue_number: issue, labels: [wanted] },
      schema: z.unknown(),
      isRepeatable: true,
      planned: [],
    });
  const others = [trigger, `${trigger}:running`, `${trigger}:done`, `${trigger}:failed`];
  for (const { name } of labels)
    if (others.some((other) => isSame(name, other)) && !isSame(name, wanted))
      // People may have taken it away in the meantime.
      await getOrNull(where, {
        route: 'DELETE /repos/{owner}/{repo}/issues/{issue_number}/labels/{name}',
        parameters: { issue_number: issue, name },
        schema: z.unknown(),
        isRepeatable: true,
        planned: [],
      });
}
