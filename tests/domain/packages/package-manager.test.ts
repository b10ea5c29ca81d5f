import { expect, test } from 'vitest';
import { managersOf } from '../../../src/domain/packages/package-manager.ts';

test('lock files say which package managers a repository has, each once and in one order', () => {
  const names = ['Cargo.lock', 'src', 'pnpm-lock.yaml', 'settings.gradle', 'build.gradle', 'constructor'];
  expect(managersOf(names)).toEqual(['pnpm', 'cargo', 'gradle']);
  expect(managersOf(['README.md'])).toEqual([]);
});
