/** A server that answered, but not with what was asked for. */
export class HttpError extends Error {
  override readonly name = "HttpError";
  readonly status: number;

  constructor(request: string, status: number) {
    super(`${request} was answered with ${status}`);
    this.status = status;
  }
}
