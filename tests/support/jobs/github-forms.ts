/**
 * What GitHub reads in `.github` apart from workflows, as its documentation describes it. GitHub ignores a file that does not
 * fit, and says so only on a page of the web site.
 */

import { z } from 'zod';

const text = z.string().min(1);
const required = z.strictObject({ required: z.boolean() }).optional();
const field = { label: text, description: text.optional() };
const typed = { ...field, placeholder: text.optional(), value: text.optional() };
const id = z
  .string()
  .regex(/^[\w-]+$/)
  .optional();
const distinct = (options: readonly string[]) => new Set(options).size === options.length;

const formElement = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('markdown'), attributes: z.strictObject({ value: text }) }),
  z.strictObject({ type: z.literal('input'), id, attributes: z.strictObject(typed), validations: required }),
  z.strictObject({
    type: z.literal('textarea'),
    id,
    attributes: z.strictObject({ ...typed, render: text.optional() }),
    validations: required,
  }),
  z.strictObject({
    type: z.literal('dropdown'),
    id,
    attributes: z.strictObject({
      ...field,
      multiple: z.boolean().optional(),
      options: z.array(text).min(1).refine(distinct, 'all options must differ'),
      default: z.int().nonnegative().optional(),
    }),
    validations: required,
  }),
  z.strictObject({
    type: z.literal('checkboxes'),
    id,
    attributes: z.strictObject({
      ...field,
      options: z.array(z.strictObject({ label: text, required: z.boolean().optional() })).min(1),
    }),
  }),
]);

/** https://docs.github.com/communities/using-templates-to-encourage-useful-issues-and-pull-requests/syntax-for-issue-forms */
export const issueForm = z.strictObject({
  name: z.string().min(3),
  description: z.string().min(3),
  title: text.optional(),
  labels: z.array(text).optional(),
  assignees: z.array(text).optional(),
  projects: z.array(text).optional(),
  type: text.optional(),
  body: z
    .array(formElement)
    .refine((body) => body.some(({ type }) => type !== 'markdown'), 'a form needs a field')
    .refine(
      (body) => distinct(body.flatMap((element) => ('id' in element && element.id) || [])),
      'ids differ',
    )
    .refine(
      (body) => distinct(body.flatMap(({ attributes }) => ('label' in attributes ? attributes.label : []))),
      'labels differ',
    ),
});

/** https://docs.github.com/communities/using-templates-to-encourage-useful-issues-and-pull-requests/configuring-issue-templates-for-your-repository */
export const issueChooser = z.strictObject({
  blank_issues_enabled: z.boolean(),
  contact_links: z.array(z.strictObject({ name: text, url: z.url(), about: text })).min(1),
});

const days = z.int().positive().optional();
const names = z.array(text).min(1).optional();
const updateTypes = z
  .array(z.enum(['major', 'minor', 'patch']))
  .min(1)
  .optional();

/** https://docs.github.com/code-security/reference/supply-chain-security/dependabot-options-reference, what of it is used here. */
export const dependabot = z.strictObject({
  version: z.literal(2),
  updates: z
    .array(
      z.strictObject({
        'package-ecosystem': z.enum(['npm', 'github-actions']),
        directory: text.startsWith('/'),
        schedule: z.strictObject({ interval: z.enum(['daily', 'weekly', 'monthly']) }),
        cooldown: z.strictObject({ 'default-days': days, 'semver-major-days': days }).optional(),
        'open-pull-requests-limit': z.int().nonnegative().optional(),
        groups: z
          .record(
            text,
            z.strictObject({
              'dependency-type': z.enum(['development', 'production']).optional(),
              patterns: names,
              'exclude-patterns': names,
              'update-types': updateTypes,
            }),
          )
          .optional(),
        ignore: z
          .array(
            z.strictObject({
              'dependency-name': text,
              'update-types': z
                .array(z.string().regex(/^version-update:semver-(major|minor|patch)$/))
                .optional(),
            }),
          )
          .optional(),
      }),
    )
    .min(1),
});
