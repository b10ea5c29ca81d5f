/** Writes what the docs derive from the code: docs/result.schema.json and docs/settings.md. A test compares them. */
import { writeFileSync } from 'node:fs';
import { resultSchema, settingsPage } from '../tests/support/derived-docs.ts';

writeFileSync('docs/result.schema.json', resultSchema());
writeFileSync('docs/settings.md', settingsPage());
