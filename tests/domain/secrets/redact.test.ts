import { describe, expect, test } from 'vitest';
import {
  redactedExcerpt,
  redactedJson,
  redactorFor,
  redactorForGrowing,
  secretsAmong,
} from '../../../src/domain/secrets/redact.ts';

const secret = 'sk-ant-"quoted"/secret+value';
const redact = redactorFor([secret, 'short']);
const token = `ghp_${'a1B2c3D4e5F6g7H8i9'.repeat(2)}`;

const wrapped = (text: string, width: number) => text.replace(new RegExp(`.{${width}}`, 'g'), '$&\n');

describe('a known secret is hidden', () => {
  test.each([
    ['JSON in JSON', JSON.stringify(JSON.stringify(secret))],
    ['base64 in lines', wrapped(Buffer.from(`${'x'.repeat(50)}${secret}y`).toString('base64'), 76)],
    ['hex in lines', wrapped(Buffer.from(`${'x'.repeat(20)}${secret}y`).toString('hex'), 60)],
  ])('when it is %s', (_, form) => {
    const shown = redact(`before\n${form}\nafter`);
    expect(shown).toContain('***');
    expect(shown).not.toContain(form);
    expect(shown).toMatch(/^before\n[\s\S]*\nafter$/);
  });

  test('from the moment on at which it becomes known', () => {
    const secrets: string[] = [];
    const hide = redactorForGrowing(secrets);
    expect(hide('x second-secret')).toBe('x second-secret');
    secrets.push('first-secret');
    secrets.push('second-secret');
    expect(hide('first-secret second-secret')).toBe('*** ***');
  });

  test('in JSON only in strings and names, so that it stays JSON', () => {
    const redactNumber = redactorFor(['12345678']);
    const value = { a: 12345678, '12345678': ['x 12345678', null, true] };
    expect(JSON.parse(redactedJson(value, redactNumber))).toEqual({
      a: 12345678,
      '***': ['x ***', null, true],
    });
  });
});

describe('what is no known secret', () => {
  test('stays when it is short, which would blank out ordinary text', () => {
    expect(redact('short')).toBe('short');
  });

  test('is hidden when it has the form of a well-known token', () => {
    expect(redact(`x ${token}, y`)).toBe('x ***, y');
    expect(redactorFor([])(`ghs_123456_eyJhbGciOi.eyJpc3MiOiIxMjM.abc-def_ghijklmnop`)).toBe('***');
    expect(redact(`ghp_${'x'.repeat(36)}`)).toBe(`ghp_${'x'.repeat(36)}`);
  });
});

test('of an excerpt the words at the cut go, which may be the halves of a secret', () => {
  for (const cut of [1, 5, secret.length - 1, secret.length]) {
    const excerpt = {
      head: `a ${secret} b ${secret.slice(0, cut)}`,
      omitted: 10,
      tail: `${secret.slice(cut)} c`,
    };
    const { head, omitted, tail } = redactedExcerpt(excerpt, redact);
    expect([head, omitted, tail]).toEqual(['a *** b ', 10 + secret.length, ' c']);
  }
  const whole = { head: `a ${secret.slice(0, 9)}`, omitted: 0, tail: '' };
  expect(redactedExcerpt(whole, redact)).toEqual(whole);
});

test('the secrets of an environment are values with telling names, and passwords in addresses', () => {
  const env = {
    NPM_TOKEN: 'a',
    MY_PAT: 'b',
    GPG_PASSPHRASE: 'c',
    SMTP_PASS: 'd',
    MYSQL_PWD: 'e',
    npm_config__auth: 'f',
    CI_JOB_JWT: 'g',
    PWD: '/builds/shop',
    OLDPWD: '/builds',
    SSH_AUTH_SOCK: '/tmp/agent',
    DATABASE_URL: 'postgres://me:hunter2-hunter2@host/db',
    HTTPS_PROXY: 'http://host:8080/',
    https_proxy: 'me:with-p%40ssword@host:8080',
    REMOTE: 'git@host:me/it',
    BROKER_URL: 'amqp://me:raw-p@ssword@host',
    PATCHSMITH_MAX_TOTAL_TOKENS: '5',
    PATH: '/bin',
    EMPTY_KEY: undefined,
  };
  const inAddresses = ['hunter2-hunter2', 'with-p%40ssword', 'with-p@ssword', 'raw-p', 'raw-p@ssword'];
  expect(secretsAmong(env)).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g', ...inAddresses, '']);
});

test('JSON is known as every language writes it', () => {
  const value = 'a"b\\c<d&e+f/ä';
  const hide = redactorFor([value]);
  for (const written of [
    'a\\"b\\\\c<d&e+f/ä',
    'a\\"b\\\\c<d&e+f\\/\\u00e4',
    'a\\"b\\\\c\\u003cd\\u0026e+f/ä',
    'a\\u0022b\\\\c\\u003Cd\\u0026e\\u002Bf/\\u00E4',
  ])
    expect(hide(`{"x":"${written}"}`)).toBe('{"x":"***"}');
});
