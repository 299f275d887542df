export interface RefusalOptions extends ErrorOptions {
  /** The path of the member that is refused, written `messages[0].content`. */
  readonly param?: string | undefined;
}

/** The engine refuses this request and would refuse it again. The message may be shown to the caller. */
export class RequestRefused extends Error {
  readonly param: string | undefined;

  constructor(message: string, options: RefusalOptions = {}) {
    super(message, options);
    this.param = options.param;
  }
}
