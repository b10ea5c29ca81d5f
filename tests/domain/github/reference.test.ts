import { expect, test } from 'vitest';
import { commentReference, issueReference } from '../../../src/domain/github/reference.ts';

const here = { repository: 'acme/shop', serverUrl: 'https://github.com' };
const enterprise = { repository: null, serverUrl: 'https://example.com/github' };

test.each([
  ['7', here, { repository: 'acme/shop', number: 7 }],
  ['#7', here, { repository: 'acme/shop', number: 7 }],
  ['https://github.com/eve/my.trap/issues/8', here, { repository: 'eve/my.trap', number: 8 }],
  ['https://github.com/acme/shop/pull/8#issuecomment-3', here, { repository: 'acme/shop', number: 8 }],
  ['https://example.com/github/acme/shop/issues/9', enterprise, { repository: 'acme/shop', number: 9 }],
])('%s is an issue', (given, around, expected) => {
  expect(issueReference(given, around)).toEqual(expected);
});

test.each([
  ['0', here],
  ['-7', here],
  ['7 8', here],
  ['https://github.com.evil.example/acme/shop/issues/7', here],
  ['https://github.com@evil.example/acme/shop/issues/7', here],
  ['http://github.com/acme/shop/issues/7', here],
  ['https://github.com/acme/shop/issues/7/../../x', here],
  ['https://github.com/acme/shop/../../issues/7', here],
  ['javascript:7', here],
  ['7', enterprise],
])('%s is none', (given, around) => {
  expect(issueReference(given, around)).toEqual(expect.any(String));
});

test.each([
  ['123', { repository: 'acme/shop', id: 123 }],
  ['https://github.com/acme/shop/issues/7#issuecomment-123', { repository: 'acme/shop', id: 123 }],
  ['https://github.com/acme/shop/pull/7#issuecomment-123', { repository: 'acme/shop', id: 123 }],
])('%s is a comment', (given, expected) => {
  expect(commentReference(given, here)).toEqual(expected);
});

test.each([
  'x',
  '#1',
  'https://github.com/acme/shop/pull/7#discussion_r1',
  'https://github.com/acme/shop/issues/7',
])('%s is no comment', (given) => {
  expect(commentReference(given, here)).toEqual(expect.any(String));
});
