/**
 * Writes the types of the library into one file, dist/library.d.ts, for packing. They import zod, because programs
 * define their tools with its schemas.
 */
import { writeFileSync } from 'node:fs';
import { rollup } from 'rollup';
import { dts } from 'rollup-plugin-dts';

const bundle = await rollup({ input: 'src/library.ts', plugins: [dts()], external: [/^node:/, 'zod'] });
const { output } = await bundle.generate({ format: 'es' });
const [{ code }] = output;
const VALUES = ['defineTool', 'failedCall', 'run', 'said'];
// Schemas are values in the sources, but only types here.
const types = code.replace(/^export \{ (.*) \};$/m, (_, names) => {
  const types = names.split(', ').filter((name) => !VALUES.includes(name));
  return `export { ${VALUES.join(', ')} };\nexport type { ${types.join(', ')} };`;
});
if (types === code) throw new Error('The types export nothing in the form that is known here.');
writeFileSync('dist/library.d.ts', types);
