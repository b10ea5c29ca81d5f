/** An answer that refuses, thrown from wherever the reason is found and sent as GitHub's error JSON. */
export class Refusal extends Error {
  readonly status: number;
  /** Fields besides `message`, `documentation_url` and `status`. */
  readonly more: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: number,
    message: string,
    more: Readonly<Record<string, unknown>> = {},
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
    this.status = status;
    this.more = more;
    this.headers = headers;
  }
}

export function notFound(): Refusal {
  return new Refusal(404, 'Not Found');
}

/** One of the `errors` of a 422. */
export interface FieldError {
  readonly resource: string;
  readonly field?: string;
  readonly code: string;
  readonly message?: string;
  readonly value?: string;
}

/** A 422 `Validation Failed`, as the older parts of the API give it. */
export function validationFailed(...errors: readonly FieldError[]): Refusal {
  return new Refusal(422, 'Validation Failed', { errors });
}

/** A 422 with a sentence alone, as the Git data API gives it. */
export function unprocessable(message: string): Refusal {
  return new Refusal(422, message);
}
