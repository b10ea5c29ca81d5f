/** A refusal of the server, thrown by a check and sent as the API's error JSON. */
export class Refusal extends Error {
  readonly status: number;
  readonly type: string;

  constructor(status: number, type: string, message: string) {
    super(message);
    this.status = status;
    this.type = type;
  }
}

/** A request that breaks a rule: 400 `invalid_request_error`. */
export function invalid(message: string): Refusal {
  return new Refusal(400, 'invalid_request_error', message);
}
