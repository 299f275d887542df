import { once } from "node:events";
import { connect, createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";

/** An address of a store that can move to another server, as a virtual IP or a DNS name does. It forwards connections. */
export class MovableAddress implements AsyncDisposable {
  #target: number;
  readonly #server = createServer((client) => this.#forward(client));
  readonly #sockets = new Set<Socket>();

  private constructor(target: number) {
    this.#target = target;
  }

  static async open(target: number): Promise<MovableAddress> {
    const address = new MovableAddress(target);
    address.#server.listen(0, "127.0.0.1");
    await once(address.#server, "listening");
    return address;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port; // it listens on TCP
  }

  /** Later connections go to another port. Those that are open stay where they are. */
  moveTo(port: number): void {
    this.#target = port;
  }

  #forward(client: Socket): void {
    const target = connect(this.#target, "127.0.0.1");
    client.pipe(target);
    target.pipe(client);
    for (const [socket, other] of [
      [client, target],
      [target, client],
    ] as const) {
      this.#sockets.add(socket);
      socket.on("error", () => undefined);
      socket.on("close", () => {
        this.#sockets.delete(socket);
        other.destroy();
      });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, "close");
  }
}
