/** Holds callers that wait for an engine until it is ready. */
export class ReadyGate {
  #pass = newPass();
  #isOpen = false;
  #wasOpen = false;

  /** True once the gate has been open. */
  get wasOpen(): boolean {
    return this.#wasOpen;
  }

  wait(): Promise<void> {
    return this.#pass.promise;
  }

  open(): void {
    this.#isOpen = true;
    this.#wasOpen = true;
    this.#pass.resolve();
  }

  shut(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#pass = newPass();
  }

  /** Closes the gate for good: waiting and later callers get the error. */
  refuse(why: Error): void {
    this.shut();
    this.#pass.reject(why);
  }
}

function newPass(): PromiseWithResolvers<void> {
  const pass = Promise.withResolvers<void>();
  // Perhaps no caller waits. Without this handler, an unhandled rejection would end the process.
  pass.promise.catch(() => undefined);
  return pass;
}
