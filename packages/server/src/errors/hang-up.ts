/** The client closed the connection, so no answer can reach it. */
export class HangUp extends Error {
  constructor() {
    super("the caller closed the connection");
    this.name = "HangUp";
  }
}
