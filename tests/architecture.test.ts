import { readdirSync, readFileSync } from 'node:fs';
import { cruise, type ICruiseResult } from 'dependency-cruiser';
import { describe, expect, test } from 'vitest';

/** Folders of `src/` and what they may import from it. Packages and node:* are for the edges only. */
const MAY_IMPORT: Record<string, string> = {
  'src/domain/': '^src/domain/',
  'src/config.ts': '^src/(config|domain)/',
  'src/config/': '^src/(config|domain)/',
  'src/ports.ts': '^src/domain/',
  'src/prompts.ts': '^(src/domain/|prompts/)',
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
              pathNot: ['^src/adapters/$1/', '^src/(ports|prompts)\\.ts$', '^src/domain/'],
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

describe('the architecture', () => {
  test('every import follows the map, and nothing goes in circles', async () => {
    expect(await violations()).toEqual([]);
  });

  test('only the command line reads argv and the environment, and only it ends the process', () => {
    const offenders = sourceFiles().filter(
      (file) =>
        file !== 'src/cli.ts' && /process\.(argv|env|exit\b|exitCode)/.test(readFileSync(file, 'utf8')),
    );
    expect(offenders).toEqual([]);
  });

  test('every source file says what it is for before anything else', () => {
    const silent = sourceFiles().filter((file) => !/^(#!.*\n)?\/\*\*/.test(readFileSync(file, 'utf8')));
    expect(silent).toEqual([]);
  });
});
