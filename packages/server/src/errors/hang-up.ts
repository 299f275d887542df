/** The caller has closed the connection. No answer reaches it any more. */
export class HangUp extends Error {
  constructor() {
    super("the caller closed the connection");
    this.name = "HangUp";
  }
}
