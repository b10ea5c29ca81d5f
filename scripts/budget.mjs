/**
 * The size of the house, which only falls: fails when a figure of budget.json is exceeded. A commit may lower a figure; only a
 * decision in docs/decisions raises one. `--lower` writes today's figures where they are lower.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';

const FILE = new URL('budget.json', import.meta.url);

const textsIn = (folder, ending) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(ending))
    .map((entry) => readFileSync(`${entry.parentPath}/${entry.name}`, 'utf8'));
const lines = (texts) => texts.reduce((sum, text) => sum + text.split('\n').length - 1, 0);
const words = (texts) => texts.reduce((sum, text) => sum + (text.match(/\S+/g)?.length ?? 0), 0);

const sources = [...textsIn('src', ''), ...textsIn('page', '')];
const figures = {
  'lines of src and page': lines(sources),
  'files of src and page': sources.length,
  'lines of tests': lines(textsIn('tests', '.ts')),
  'words of README and docs': words([readFileSync('README.md', 'utf8'), ...textsIn('docs', '.md')]),
};
const budget = JSON.parse(readFileSync(FILE, 'utf8'));

if (process.argv.includes('--lower')) {
  for (const [name, figure] of Object.entries(figures))
    budget[name] = Math.min(budget[name] ?? figure, figure);
  writeFileSync(FILE, `${JSON.stringify(budget, null, 2)}\n`);
} else {
  for (const [name, figure] of Object.entries(figures)) {
    if (figure <= budget[name]) continue;
    console.error(
      `${name}: ${figure}, and scripts/budget.json allows ${budget[name]}. Remove ${figure - budget[name]}; only a decision raises the budget.`,
    );
    process.exitCode = 1;
  }
}
