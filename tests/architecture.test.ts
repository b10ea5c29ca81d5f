import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { cruise, type ICruiseResult } from 'dependency-cruiser';
import { describe, expect, test } from 'vitest';

/** Folders of `src/` and what they may import from it. Packages and node:* are for the edges only. */
const MAY_IMPORT: Record<string, string> = {
  'src/domain/': '^src/domain/',
  'src/config.ts': '^src/(config|domain)/',
  'src/config/': '^src/(config|domain)/',
  'src/ports.ts': '^src/domain/',
  'src/prompts.ts': '^(src/domain/|prompts/)',
  'src/texts/': '^(src/(texts|domain)/|prompts/)',
  'src/tools/': '^src/(tools/|ports\\.ts|prompts\\.ts|domain/)',
  'src/agent/': '^src/(agent/|ports\\.ts|prompts\\.ts|domain/)',
};

async function violations(): Promise<string[]> {
  const result = await cruise(
    ['src'],
    {
      tsPreCompilationDeps: true,
      doNotFollow: { path: 'node_modules' },
      enhancedResolveOptions: { extensions: ['.ts', '.js', '.json', '.md'] },
      ruleSet: {
        forbidden: [
          { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
          ...Object.entries(MAY_IMPORT).map(([folder, allowed]) => ({
            name: `imports of ${folder}`,
            severity: 'error' as const,
            from: { path: `^${folder.replace('.', '\\.')}` },
            to: { pathNot: [allowed, 'node_modules/zod/'] },
          })),
          {
            name: 'adapters do not know each other',
            severity: 'error',
            from: { path: '^src/adapters/([^/]+)/' },
            to: {
              path: '^src/',
              pathNot: [
                '^src/adapters/($1/|(regular-file|timeout-signal)\\.ts$)',
                '^src/(ports|prompts)\\.ts$',
                '^src/domain/',
              ],
            },
          },
          {
            name: 'the composition root uses no packages',
            severity: 'error',
            from: { path: '^src/(run|demo|replay|undo)\\.ts$' },
            to: { path: 'node_modules/', pathNot: ['node_modules/zod/'] },
          },
        ],
      },
      validate: true,
    },
    { extensions: ['.ts', '.js', '.json', '.md'] },
  );
  const { summary, modules } = result.output as ICruiseResult;
  expect(modules.filter((module) => module.source.startsWith('src/')).length).toBeGreaterThan(20);
  return summary.violations.map(({ rule, from, to }) => `${rule.name}: ${from} → ${to}`);
}

function sourceFiles(): string[] {
  return readdirSync('src', { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.d.ts'))
    .map((name) => `src/${name}`);
}

/** The file and everything that it loads before it runs. */
function staticImports(file: string, found = new Set<string>()): Set<string> {
  if (found.has(file)) return found;
  found.add(file);
  for (const [, name] of readFileSync(file, 'utf8').matchAll(/(?:from|import)"(\.\/[^"]+)"/g))
    staticImports(join(dirname(file), name ?? ''), found);
  return found;
}

describe('the architecture', () => {
  test('every import follows the map, and nothing goes in circles', async () => {
    expect(await violations()).toEqual([]);
  });

  test('only the entry files read argv and the environment, and only they end the process', () => {
    const offenders = sourceFiles().filter(
      (file) =>
        !['src/cli.ts', 'src/action.ts'].includes(file) &&
        /process\.(argv|env|exit\b|exitCode)/.test(readFileSync(file, 'utf8')),
    );
    expect(offenders).toEqual([]);
  });

  test('what every start loads is small: libraries that few runs need are loaded by those that do', () => {
    const loaded = staticImports('dist/cli.js');
    const bytes = [...loaded].reduce((sum, file) => sum + statSync(file).size, 0);
    const names = [...loaded].map((file) => readFileSync(file, 'utf8')).join('\n');
    expect(bytes).toBeLessThan(630_000);
    expect(names).not.toMatch(
      /Bottleneck|octokit-core|ExecaError|isAlias|diffArrays|sonic-boom|MessageStream|y18n/,
    );
  });

  test('every source file says what it is for before anything else', () => {
    const silent = sourceFiles().filter((file) => !/^(#!.*\n)?\/\*\*/.test(readFileSync(file, 'utf8')));
    expect(silent).toEqual([]);
  });
});
