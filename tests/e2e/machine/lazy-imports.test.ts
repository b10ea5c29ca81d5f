/**
 * The bundler may give a lazily loaded chunk fewer names than the module has from which it is made: of a CommonJS
 * module, only `default` is left. Neither the compiler nor a test of the sources sees that.
 */

import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import ts from 'typescript';
import { expect, test } from 'vitest';

/** One `import("…")`, with the names that its file takes from it; null if they are not taken at the same place. */
interface LazyImport {
  readonly file: string;
  readonly from: string;
  readonly names: readonly string[] | null;
}

const LAZY = /\bimport\("/;

function lazyImportsOf(file: string): LazyImport[] {
  const text = readFileSync(join('dist', file), 'utf8');
  if (!LAZY.test(text)) return [];
  const found: LazyImport[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      const [from] = node.arguments;
      if (from !== undefined && ts.isStringLiteral(from))
        found.push({ file, from: from.text, names: namesTaken(node) });
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true, ts.ScriptKind.JS));
  return found;
}

/** `let{a}=await import(…)`, `(await import(…)).a`, and `[{a},{b}]=await …[import(…),import(…)]…`. */
function namesTaken(lazy: ts.Node): string[] | null {
  let place: number | null = null;
  for (let node = lazy; node.parent !== undefined; node = node.parent) {
    const { parent } = node;
    if (ts.isPropertyAccessExpression(parent) && parent.expression === node && !isPromise(node))
      return [parent.name.text];
    if (ts.isArrayLiteralExpression(parent)) place = parent.elements.indexOf(node as ts.Expression);
    if (ts.isVariableDeclaration(parent)) return namesBound(parent.name, place);
    if (ts.isStatement(parent)) return null;
  }
  return null;
}

/** Its properties are `then` and the like. */
function isPromise(node: ts.Node): boolean {
  return ts.isCallExpression(node);
}

function namesBound(name: ts.BindingName, place: number | null): string[] | null {
  if (ts.isObjectBindingPattern(name))
    return name.elements.map(({ propertyName, name: own }) => (propertyName ?? own).getText());
  if (!ts.isArrayBindingPattern(name) || place === null) return null;
  const element = name.elements[place];
  return element !== undefined && ts.isBindingElement(element) ? namesBound(element.name, null) : null;
}

test('what is taken from a lazy import exists in the chunk that was built', async () => {
  // The action is one file, made of the same sources: all that it loads lazily is loaded by a chunk as well.
  const files = readdirSync('dist').filter((name) => name.endsWith('.js') && !name.startsWith('action'));
  const lazy = files.flatMap(lazyImportsOf);
  const missing: string[] = [];
  for (const { file, from, names } of lazy) {
    const module: object = await import(
      from.startsWith('.') ? pathToFileURL(resolve('dist', from)).href : from
    );
    const offered = Object.keys(module);
    // Names that are taken elsewhere are not known here, but a chunk with a default export alone has none to offer.
    const lost = names?.filter((name) => !offered.includes(name)) ?? [];
    if (lost.length > 0 || (names === null && offered.join() === 'default'))
      missing.push(`${file}: ${lost} from ${from}, which has ${offered}`);
  }
  expect(missing).toEqual([]);
  expect(lazy.filter(({ names }) => names !== null).length).toBeGreaterThan(80);
});
