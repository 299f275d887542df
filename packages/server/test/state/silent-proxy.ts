import { once } from "node:events";
import { connect, createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";

/** Forwards connections to a port. While it is silent, it drops the answers. */
class SilentProxy implements AsyncDisposable {
  isSilent = false;
  /** Cuts the next connection whose client sends this text: before the target gets it, or once the target has answered it. */
  cut: { readonly text: string; readonly isSent: boolean } | undefined;
  readonly #server = createServer((client) => this.#forward(client));
  readonly #sockets = new Set<Socket>();
  #target: number;

  constructor(target: number) {
    this.#target = target;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port; // it listens on TCP
  }

  async listen(): Promise<void> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
  }

  /** Forwards new connections to another port. Connections that are open stay. */
  redirect(target: number): void {
    this.#target = target;
  }

  #forward(client: Socket): void {
    const target = connect(this.#target, "127.0.0.1");
    let isCut = false;
    target.on("data", (chunk: Buffer) => {
      if (isCut) client.destroy();
      else if (!this.isSilent) client.write(chunk);
    });
    client.on("data", (chunk: Buffer) => {
      const cut = this.cut && chunk.includes(this.cut.text) ? this.cut : undefined;
      if (cut) this.cut = undefined;
      isCut ||= cut !== undefined;
      if (cut?.isSent === false) client.destroy();
      else target.write(chunk);
    });
    for (const [socket, other] of [
      [client, target],
      [target, client],
    ] as const) {
      this.#sockets.add(socket);
      socket.on("error", () => undefined).on("close", () => other.destroy());
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, "close");
  }
}

/** Starts a proxy on a free port. */
export async function startProxy(target: number): Promise<SilentProxy> {
  const proxy = new SilentProxy(target);
  await proxy.listen();
  return proxy;
}
