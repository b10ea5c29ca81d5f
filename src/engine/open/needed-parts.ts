/** What a verify command needs behind its first word: the module of `python -m`, the programs of a script of package.json. */

import { join } from 'node:path';
import * as z from 'zod';
import { jsonOrUndefined } from '../../domain/text/json.ts';
import { readBytes } from '../../files/read-bytes.ts';

/** One thing to look up. */
export type NeededPart =
  | { readonly kind: 'module'; readonly command: string; readonly python: string; readonly name: string }
  /** `script` is its text. */
  | { readonly kind: 'program'; readonly command: string; readonly script: string; readonly name: string };

/** Arguments in which the shell does nothing. */
const PLAIN = '[^;&|<>$`(){}\\n]*';
/** Python also by its path, as in a virtual environment. */
const MODULE = new RegExp(`^((?:[\\w.-]+/)*python[\\d.]*) -m ([A-Za-z_]\\w*)(?:\\.[\\w.]*)?(?: ${PLAIN})?$`);
const SCRIPT = new RegExp(`^p?npm (?:(test|t)|run(?:-script)? ([\\w:.-]+))(?: -- ${PLAIN})?$`);

const Package = z.object({ scripts: z.record(z.string(), z.string()).optional() });
const MAX_PACKAGE_BYTES = 1_000_000;

/** Empty for a command that is more than such a call: what its other words set is not known. */
export async function neededParts(root: string | null, commands: readonly string[]): Promise<NeededPart[]> {
  const parts: NeededPart[] = [];
  for (const command of commands) {
    const [, python, name] = MODULE.exec(command) ?? [];
    if (python !== undefined && name !== undefined) parts.push({ kind: 'module', command, python, name });
    const [isScript, short, named] = SCRIPT.exec(command) ?? [];
    if (isScript !== undefined && root !== null)
      parts.push(...(await programsOf(root, command, short === undefined ? (named ?? '') : 'test')));
  }
  return parts;
}

async function programsOf(root: string, command: string, name: string): Promise<NeededPart[]> {
  const read = await readBytes(join(root, 'package.json'), { maxBytes: MAX_PACKAGE_BYTES, follow: false });
  if (read.status === 'failed') return [];
  const { scripts = {} } = Package.safeParse(jsonOrUndefined(read.bytes.toString('utf8'))).data ?? {};
  const found = new Map<string, string>();
  const text = withScripts(name, scripts, found);
  const { neededPrograms } = await import('../../adapters/plan/needed-programs.ts');
  const names = neededPrograms(text).flatMap((needed) => (needed.name.includes('/') ? [] : [needed.name]));
  return [...new Set(names)].map((program) => {
    const script = [...found.values()].find((one) => one.split(/\s+/).includes(program));
    return { kind: 'program', command, script: script ?? text, name: program };
  });
}

type Scripts = Readonly<Record<string, string>>;

/**
 * The text of a script, with the texts of those that it runs in turn in their places, and before each what runs before it, which
 * may install what it needs. `found` takes the scripts.
 */
function withScripts(name: string, scripts: Scripts, found: Map<string, string>): string {
  const parts = [`pre${name}`, name].flatMap((one) => {
    const script = Object.hasOwn(scripts, one) ? scripts[one] : undefined;
    if (script === undefined || found.has(one)) return [];
    found.set(one, script);
    // In quotes, what looks like a command may be none.
    if (/["'`\\]/.test(script)) return [script];
    return script.split(' && ').map((part) => {
      const [isScript, short, named] = SCRIPT.exec(part.trim()) ?? [];
      if (isScript === undefined) return part;
      return withScripts(short === undefined ? (named ?? '') : 'test', scripts, found) || part;
    });
  });
  return parts.join('\n');
}
