/** The client closed the connection, so no answer can reach it. */
export class HangUpError extends Error {
  constructor() {
    super("the caller closed the connection");
    this.name = "HangUpError";
  }
}
