import { expect, test } from 'vitest';
import { readTarget } from '../../../../src/adapters/sinks/tracing/traces.ts';
import { redactorFor, secretsAmong } from '../../../../src/domain/secrets/redact.ts';

const ENDPOINT = 'OTEL_EXPORTER_OTLP_ENDPOINT';
const trace = '4bf92f3577b34da6a3ce929d0e0e4736';
const span = '00f067aa0ba902b7';

const urlFor = (env: Record<string, string>) => {
  const read = readTarget(env);
  return read.status === 'ok' ? read.target.url.href : read.status;
};

test('the address for all signals gets the path of traces, the one for traces is used unchanged', () => {
  expect(urlFor({})).toBe('off');
  expect(urlFor({ [ENDPOINT]: 'https://c.example:4318' })).toBe('https://c.example:4318/v1/traces');
  expect(urlFor({ [ENDPOINT]: 'https://c.example/otlp/' })).toBe('https://c.example/otlp/v1/traces');
  const both = {
    [ENDPOINT]: 'https://a.example',
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://b.example/in',
  };
  expect(urlFor(both)).toBe('https://b.example/in');
});

test('headers, time, resource and parent are those of the environment', () => {
  const read = readTarget({
    [ENDPOINT]: 'https://c.example',
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Basic%20abc, x-scope=team%2Cone',
    OTEL_EXPORTER_OTLP_TIMEOUT: '2500',
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=ci,service.name=other',
    OTEL_SERVICE_NAME: 'nightly',
    TRACEPARENT: `00-${trace}-${span}-01`,
  });
  expect(read).toEqual({
    status: 'ok',
    target: {
      url: new URL('https://c.example/v1/traces'),
      headers: { authorization: 'Basic abc', 'x-scope': 'team,one' },
      timeoutMs: 2_500,
      resource: { 'deployment.environment.name': 'ci', 'service.name': 'nightly' },
      parent: { traceId: trace, spanId: span },
    },
  });
});

test.each([
  ['switched off', { OTEL_SDK_DISABLED: 'TRUE' }, 'off'],
  ['without an exporter', { OTEL_TRACES_EXPORTER: 'none' }, 'off'],
  ['below a span that is not kept', { TRACEPARENT: `00-${trace}-${span}-00` }, 'off'],
  ['gRPC', { OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }, 'failed'],
  ['no address', { [ENDPOINT]: 'collector' }, 'failed'],
  ['another scheme', { [ENDPOINT]: 'file:///etc/passwd' }, 'failed'],
  ['a login in the address', { [ENDPOINT]: 'https://user:password@c.example' }, 'failed'],
  ['no header', { OTEL_EXPORTER_OTLP_HEADERS: 'a=b%0d%0ac' }, 'failed'],
  ['a login in the clear', { [ENDPOINT]: 'http://c.example', OTEL_EXPORTER_OTLP_HEADERS: 'a=b' }, 'failed'],
  ['a broken parent', { TRACEPARENT: `00-${'0'.repeat(32)}-${span}-01` }, 'ok'],
])('%s: %j is %s', (_, env, status) => {
  expect(readTarget({ [ENDPOINT]: 'https://c.example', ...env }).status).toBe(status);
});

test('the headers of a collector are secrets, in every form in which they are sent', () => {
  const redact = redactorFor(
    secretsAmong({ OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'authorization=Bearer%20abcdefgh12345,x=y' }),
  );
  expect(redact('Bearer abcdefgh12345, abcdefgh12345')).toBe('***, ***');
});
