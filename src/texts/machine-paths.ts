/** Paths of the machine of a run: it is gone when people read of them, and they tell the world how it was set up. */

/** Folders in which jobs and people work; what lies elsewhere is the same on every machine. */
const FOLDERS = '(?:home|root|tmp|var|private|mnt|opt|srv|builds|runner|github|workspace|__w|Users)';
const MACHINE_PATH = new RegExp(
  `(?<![\\w:/.~-])/${FOLDERS}/(?:[^\\s"'\`/]+/)*([^\\s"'\`/]*?)(?=[.,;:)]*(?:[\\s"'\`]|$))`,
  'g',
);

/** More than is shown of such a text anywhere. */
const MOST = 4_000;

/** `/home/runner/work/shop/shop/plan.md` becomes `…/plan.md`, in the first 4,000 characters; the others are left out. */
export function withoutMachinePaths(text: string): string {
  return text.slice(0, MOST).replace(MACHINE_PATH, (_, name: string) => `…/${name}`);
}
