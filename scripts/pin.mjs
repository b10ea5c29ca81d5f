/**
 * Lets .github/workflows/patchsmith.yml use the action of the commit that is checked out: `npm run pin [-- --ghes]`, as the last
 * commit of a release, and in a mirror whose owner is another. No commit can name itself, and no expression may stand in `uses`.
 * With --ghes, artifacts are moved by the old actions that an Enterprise Server needs and github.com refuses.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';

const FILE = '.github/workflows/patchsmith.yml';
const GHES = {
  'actions/upload-artifact': 'c24449f33cd45d4826c6702db7e49f7cdb9b551d # v3.2.1-node20',
  'actions/download-artifact': '246d7188e736d3686f6d19628d253ede9697bd55 # v3-node20',
};

const git = (...args) => execFileSync('git', args, { encoding: 'utf8' }).trim();
const [, repository] = /([^/:]+\/[^/:]+?)(?:\.git)?$/.exec(git('remote', 'get-url', 'origin')) ?? [];
const commit = git('rev-parse', 'HEAD');
let text = readFileSync(FILE, 'utf8').replaceAll(
  /uses: \S+( # the parent commit, by npm run pin)/g,
  `uses: ${repository}@${commit}$1`,
);
if (process.argv.includes('--ghes'))
  for (const [action, pin] of Object.entries(GHES))
    text = text.replaceAll(new RegExp(`uses: ${action}@.*`, 'g'), `uses: ${action}@${pin}`);
writeFileSync(FILE, text);
console.log(`${FILE} uses ${repository}@${commit}. Commit it: workflows call that commit.`);
