/** Lets those through who wait for an engine, as long as it is ready. */
export class ReadyGate {
  #pass = newPass();
  #isOpen = false;
  #wasOpen = false;

  /** Whether it has ever been open. */
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

  /** Nobody will ever get through again. */
  refuse(why: Error): void {
    this.shut();
    this.#pass.reject(why);
  }
}

function newPass(): PromiseWithResolvers<void> {
  const pass = Promise.withResolvers<void>();
  // Nobody has to wait. Without this, a rejection that nobody handles would end the process.
  pass.promise.catch(() => undefined);
  return pass;
}
