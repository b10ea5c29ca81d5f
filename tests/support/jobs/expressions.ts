/** GitHub's expressions, as far as the templates of workflows use them. */

/** What names stand for, whether the steps before have succeeded, and whether somebody has cancelled the workflow. */
export interface Contexts {
  readonly values: Readonly<Record<string, unknown>>;
  readonly failed: boolean;
  readonly cancelled: boolean;
}

/** A text with `${{ }}` in it; throws on what is not known here, so that nothing is passed over in silence. */
export function filled(text: string, contexts: Contexts): string {
  return text.replace(/\$\{\{(.*?)\}\}/gs, (_, expression: string) => {
    const value = evaluate(expression, contexts);
    return value === null || value === undefined ? '' : String(value);
  });
}

/** A text that is one expression keeps the type of its value. */
export function evaluated(text: string, contexts: Contexts): unknown {
  const [, only] = /^\s*\$\{\{((?:(?!\}\}).)*)\}\}\s*$/s.exec(text) ?? [];
  return only === undefined ? filled(text, contexts) : evaluate(only, contexts);
}

/** Whether a job or step is due; one that asks for no status goes on only after success. */
export function isDue(condition: string | undefined, contexts: Contexts): boolean {
  const isGoingOn = !contexts.failed && !contexts.cancelled;
  if (condition === undefined) return isGoingOn;
  const expression = /^\s*\$\{\{(.*)\}\}\s*$/s.exec(condition)?.[1] ?? condition;
  const asksForStatus = /\b(always|cancelled|failure|success)\(\)/.test(expression);
  return (asksForStatus || isGoingOn) && Boolean(evaluate(expression, contexts));
}

function evaluate(expression: string, contexts: Contexts): unknown {
  const tokens = [...expression.matchAll(/'(?:[^']|'')*'|[\w.-]+|==|!=|&&|\|\||[!(),>]/g)].map(
    ([token]) => token,
  );
  const parser = new Parser(tokens, contexts);
  const value = parser.or();
  if (!parser.isAtEnd) throw new Error(`This is no expression that is known here: ${expression}`);
  return value;
}

class Parser {
  readonly #tokens: string[];
  readonly #contexts: Contexts;
  #decided = 0;

  constructor(tokens: readonly string[], contexts: Contexts) {
    this.#tokens = [...tokens];
    this.#contexts = contexts;
  }

  get isAtEnd(): boolean {
    return this.#tokens.length === 0;
  }

  or(): unknown {
    let value = this.#and();
    while (this.#takes('||')) {
      const other = this.#unless(Boolean(value), () => this.#and());
      value = value || other;
    }
    return value;
  }

  #and(): unknown {
    let value = this.#comparison();
    while (this.#takes('&&')) {
      const other = this.#unless(!value, () => this.#comparison());
      value = value && other;
    }
    return value;
  }

  /** What decides nothing is read, but no function is called in it. */
  #unless(isDecided: boolean, read: () => unknown): unknown {
    this.#decided += isDecided ? 1 : 0;
    const value = read();
    this.#decided -= isDecided ? 1 : 0;
    return value;
  }

  #comparison(): unknown {
    const value = this.#primary();
    if (this.#takes('==')) return isEqual(value, this.#primary());
    if (this.#takes('!=')) return !isEqual(value, this.#primary());
    if (this.#takes('>')) return asNumber(value) > asNumber(this.#primary());
    return value;
  }

  #primary(): unknown {
    const token = this.#tokens.shift() ?? '';
    if (token === '!') return !this.#primary();
    if (token === '(') {
      const value = this.or();
      this.#expect(')');
      return value;
    }
    if (token.startsWith("'")) return token.slice(1, -1).replaceAll("''", "'");
    if (this.#takes('(')) return this.#called(token);
    if (token === 'null') return null;
    if (token === 'true' || token === 'false') return token === 'true';
    if (/^\d+$/.test(token)) return Number(token);
    if (!/^[a-z]/.test(token)) throw new Error(`Not known in expressions here: ${token}`);
    return at(this.#contexts.values, token.split('.'));
  }

  #called(name: string): unknown {
    const given: unknown[] = [];
    while (!this.#takes(')')) {
      given.push(this.or());
      this.#takes(',');
    }
    const [first, second] = given;
    if (this.#decided > 0) return null;
    switch (name) {
      case 'cancelled':
        return this.#contexts.cancelled;
      case 'always':
        return true;
      case 'success':
        return !this.#contexts.failed && !this.#contexts.cancelled;
      case 'failure':
        return this.#contexts.failed;
      case 'startsWith':
        return String(first ?? '')
          .toLowerCase()
          .startsWith(String(second).toLowerCase());
      case 'format':
        return String(first).replace(/\{(\d)\}/g, (_, at) => String(given[Number(at) + 1] ?? ''));
      case 'contains':
        return Array.isArray(first) ? first.includes(second) : String(first).includes(String(second));
      case 'fromJSON':
        return JSON.parse(String(first));
      default:
        throw new Error(`Not known in expressions here: ${name}()`);
    }
  }

  #takes(token: string): boolean {
    if (this.#tokens[0] !== token) return false;
    this.#tokens.shift();
    return true;
  }

  #expect(token: string): void {
    if (!this.#takes(token)) throw new Error(`${token} is missing in an expression`);
  }
}

/** Values of different types are compared as numbers. */
function isEqual(one: unknown, other: unknown): boolean {
  if (typeof one === 'string' && typeof other === 'string') return one.toLowerCase() === other.toLowerCase();
  return typeof one === typeof other && one !== null ? one === other : asNumber(one) === asNumber(other);
}

function asNumber(value: unknown): number {
  return typeof value === 'object' && value !== null ? Number.NaN : Number(value ?? 0);
}

/** The first name has to be known; below it, what is not there is null. */
function at(values: Readonly<Record<string, unknown>>, [first = '', ...names]: readonly string[]): unknown {
  if (!Object.hasOwn(values, first)) throw new Error(`There is no context ${first} here`);
  return names.reduce<unknown>(
    (value, name) => (value as Record<string, unknown> | null | undefined)?.[name] ?? null,
    values[first],
  );
}
