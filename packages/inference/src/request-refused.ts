export interface RefusalOptions extends ErrorOptions {
  /** The path of the member that is refused, written `messages[0].content`. */
  readonly param?: string | undefined;
}

/** The engine refuses this request and would refuse a repetition as well. The message may be shown to the caller. */
export class RequestRefusedError extends Error {
  override name = "RequestRefusedError";
  readonly param: string | undefined;

  constructor(message: string, options: RefusalOptions = {}) {
    super(message, options);
    this.param = options.param;
  }
}
