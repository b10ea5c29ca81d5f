/**
 * GitHub's published description of its REST API (npm package `@octokit/openapi`): finds the operation of a request,
 * and tells what of a request or of an answer does not fit it. Schemas are compiled when they are first needed.
 */

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Ajv, type ValidateFunction } from 'ajv';
import { COMPILED_ONCE } from '../setup/compiled-once.ts';
import { completed, FORMATS, type Schema, toJsonSchema } from './schema.ts';

/** An operation that is described, and what the path of a request says for its placeholders. */
export interface Match {
  /** As the description has it: `git/create-tree`. */
  readonly operation: string;
  /** The method and the path with placeholders, which also finds the operation again. */
  readonly route: Route;
  readonly params: Readonly<Record<string, string>>;
}

interface Route {
  readonly method: string;
  readonly pattern: RegExp;
  readonly names: readonly string[];
  readonly placeholders: number;
  readonly operation: Schema;
}

/** Placeholders that take slashes although the description does not say so. */
const WITH_SLASHES = ['branch', 'base', 'head', 'basehead', 'ref'];

// Read once in a process: it is 13 MB, never changes, and every test starts a server.
let published: Description | undefined;

/** The description of github.com. */
export function publishedDescription(): Description {
  published ??= new Description();
  return published;
}

export class Description {
  readonly #document: Schema;
  readonly #routes: readonly Route[];
  readonly #ajv: Ajv;
  readonly #added = new Set<string>();
  readonly #compiled = new Map<string, ValidateFunction>();

  constructor() {
    const path = createRequire(import.meta.url).resolve('@octokit/openapi/generated/api.github.com.json');
    this.#document = JSON.parse(readFileSync(path, 'utf8')) as Schema;
    this.#routes = Object.entries(this.#document.paths as Schema)
      .flatMap(([template, methods]) => this.#routesOf(template, methods as Schema))
      // What says more comes first: a ref with slashes could be `main/check-runs`.
      .sort((a, b) => a.placeholders - b.placeholders || b.pattern.source.length - a.pattern.source.length);
    this.#ajv = new Ajv({
      strict: false,
      unicodeRegExp: false,
      formats: { ...FORMATS },
      allErrors: true,
      ...COMPILED_ONCE,
    });
  }

  /** Null when nothing of this method and path is described. Throws `URIError` on a path that cannot be decoded. */
  match(method: string, path: string): Match | null {
    for (const route of this.#routes) {
      const found = route.method === method ? route.pattern.exec(path) : null;
      if (found === null) continue;
      const params = Object.fromEntries(
        route.names.map((name, index) => [name, decodeURIComponent(found[index + 1] ?? '')]),
      );
      return { operation: String(route.operation.operationId), route, params };
    }
    return null;
  }

  /** What of the request is not as described; empty when it is. `body` undefined: none was sent. */
  requestErrors({ operation, route, params }: Match, query: URLSearchParams, body: unknown): string[] {
    const described = this.#parameters(route.operation);
    const errors: string[] = [];
    for (const [name, value] of Object.entries(params)) {
      const schema = described.find((one) => one.name === name && one.in === 'path')?.schema as Schema;
      if (schema !== undefined)
        errors.push(...this.#errors(`${operation} path ${name}`, schema, parsed(value, schema)));
    }
    for (const [name, value] of query) {
      const schema = described.find((one) => one.name === name && one.in === 'query')?.schema as Schema;
      if (schema === undefined) errors.push(`query: "${name}" is not a permitted key.`);
      else errors.push(...this.#errors(`${operation} query ${name}`, schema, parsed(value, schema)));
    }
    return [...errors, ...this.#bodyErrors(operation, route, body)];
  }

  /** What of an answer is not as described; empty when it is. `body` undefined: none is sent. */
  responseErrors({ operation, route }: Match, status: number, body: unknown): string[] {
    const responses = route.operation.responses as Schema;
    const response = this.#resolved((responses[String(status)] ?? {}) as Schema);
    const schema = this.#schemaOf(response);
    if (responses[String(status)] === undefined && status < 400) return [`status ${status} is not described`];
    if (schema === null && status < 400)
      return body === undefined ? [] : ['a body is sent where none is described'];
    return this.#errors(
      `${operation} ${status}`,
      schema ?? { $ref: '#/components/schemas/basic-error', required: ['message'] },
      body,
    );
  }

  /** The body with everything that the description requires of it. */
  complete({ route }: Match, status: number, body: unknown): unknown {
    const response = (route.operation.responses as Schema)[String(status)];
    const schema = response === undefined ? null : this.#schemaOf(this.#resolved(response as Schema));
    if (schema === null || body === undefined) return body;
    return completed(body, schema, (ref) => this.#component(ref));
  }

  #bodyErrors(operation: string, route: Route, body: unknown): string[] {
    const described = route.operation.requestBody as Schema | undefined;
    const schema = described === undefined ? null : this.#schemaOf(this.#resolved(described));
    if (schema === null) {
      return body === undefined || isEmpty(body) ? [] : ['a body is sent where none is described'];
    }
    if (body === undefined) return described?.required === true ? ['a body is required'] : [];
    const errors = this.#errors(`${operation} body`, schema, body);
    const known = this.#propertyNames(schema);
    if (known !== null && typeof body === 'object' && body !== null && !Array.isArray(body)) {
      for (const key of Object.keys(body)) {
        if (!known.has(key)) errors.push(`"${key}" is not a permitted key.`);
      }
    }
    return errors;
  }

  /** Null where any name will do. */
  #propertyNames(schema: Schema): Set<string> | null {
    const { $ref } = schema;
    if (typeof $ref === 'string') return this.#propertyNames(this.#component($ref));
    const names = new Set(Object.keys((schema.properties as Schema | undefined) ?? {}));
    for (const part of ['allOf', 'anyOf', 'oneOf'].flatMap((key) => (schema[key] as Schema[]) ?? [])) {
      for (const name of this.#propertyNames(part) ?? []) names.add(name);
    }
    return names.size === 0 ? null : names;
  }

  #errors(key: string, schema: Schema, value: unknown): string[] {
    let validate = this.#compiled.get(key);
    if (validate === undefined) {
      validate = this.#ajv.compile(toJsonSchema(schema, (ref) => this.#added_(ref)));
      this.#compiled.set(key, validate);
    }
    if (validate(value)) return [];
    return (validate.errors ?? []).map((error) => `${key}: ${error.instancePath} ${error.message ?? ''}`);
  }

  /** The id of a component that the validator knows from now on. */
  #added_(ref: string): string {
    if (!this.#added.has(ref)) {
      this.#added.add(ref);
      this.#ajv.addSchema(
        toJsonSchema(this.#component(ref), (inner) => this.#added_(inner)),
        idOf(ref),
      );
    }
    return idOf(ref);
  }

  #component(ref: string): Schema {
    const parts = ref.replace('#/', '').split('/');
    return parts.reduce<Schema>((at, part) => at[part] as Schema, this.#document);
  }

  #resolved(schema: Schema): Schema {
    return typeof schema.$ref === 'string' ? this.#component(schema.$ref) : schema;
  }

  #schemaOf(response: Schema): Schema | null {
    const content = (response.content ?? {}) as Record<string, Schema>;
    return ((content['application/json'] ?? Object.values(content)[0])?.schema as Schema | undefined) ?? null;
  }

  #parameters(operation: Schema): Schema[] {
    return ((operation.parameters as Schema[]) ?? []).map((one) => this.#resolved(one));
  }

  #routesOf(template: string, methods: Schema): Route[] {
    return Object.entries(methods).map(([method, value]) => {
      const operation = value as Schema;
      const slashes = this.#parameters(operation)
        .filter((one) => one['x-multi-segment'] === true)
        .map((one) => String(one.name));
      const names: string[] = [];
      const pattern = template
        .split(/(\{\w+\})/)
        .map((part) => {
          const name = /^\{(\w+)\}$/.exec(part)?.[1];
          if (name === undefined) return part.replaceAll('.', '\\.');
          names.push(name);
          return [...slashes, ...WITH_SLASHES].includes(name) ? '(.+)' : '([^/]+)';
        })
        .join('');
      return {
        method: method.toUpperCase(),
        pattern: new RegExp(`^${pattern}$`),
        names,
        placeholders: names.length,
        operation,
      };
    });
  }
}

function idOf(ref: string): string {
  return ref.replace('#/components/', 'github:');
}

function isEmpty(body: unknown): boolean {
  return typeof body === 'object' && body !== null && Object.keys(body).length === 0;
}

/** The value that a text of path or query stands for. */
function parsed(text: string, schema: Schema): unknown {
  if (schema.type === 'integer' && /^-?\d+$/.test(text)) return Number(text);
  if (schema.type === 'boolean' && /^(true|false)$/.test(text)) return text === 'true';
  return text;
}
