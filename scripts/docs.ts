/**
 * Writes the generated pages and schemas: docs/result.schema.json, docs/publication.schema.json,
 * docs/outcomes.schema.json, docs/check.schema.json, docs/findings.schema.json, docs/events.schema.json, docs/plan.schema.json,
 * docs/patchsmith.schema.json, docs/settings.md, docs/security.md, docs/action.md and action.yml. A
 * test compares them.
 */
import { writeFileSync } from 'node:fs';
import { findingsSchema } from '../src/domain/findings/reported.ts';
import { actionManifest, actionPage } from './docs/action-docs.ts';
import {
  checkSchema,
  eventsSchema,
  outcomesSchema,
  planSchema,
  publicationSchema,
  resultSchema,
  settingsPage,
} from './docs/derived-docs.ts';
import { projectFileSchema } from './docs/project-file-schema.ts';
import { securityPage } from './docs/security-page.ts';

writeFileSync('action.yml', actionManifest());
writeFileSync('docs/action.md', actionPage());
writeFileSync('docs/result.schema.json', resultSchema());
writeFileSync('docs/publication.schema.json', publicationSchema());
writeFileSync('docs/check.schema.json', checkSchema());
writeFileSync('docs/events.schema.json', eventsSchema());
writeFileSync('docs/findings.schema.json', `${JSON.stringify(findingsSchema(), null, 2)}\n`);
writeFileSync('docs/outcomes.schema.json', outcomesSchema());
writeFileSync('docs/plan.schema.json', planSchema());
writeFileSync('docs/patchsmith.schema.json', projectFileSchema());
writeFileSync('docs/settings.md', settingsPage());
writeFileSync('docs/security.md', securityPage());
