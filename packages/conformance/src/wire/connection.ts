import { connect as connectPlain, isIP } from "node:net";
import type { Socket } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { connect as connectTls } from "node:tls";
import type { HttpRequest, Secrets } from "./http-request.ts";
import { toBytes } from "./http-request.ts";
import type { ConnectionFailure, End, Exchange, Received } from "./exchange.ts";
import { Framer } from "./framer.ts";
import { maskSecrets } from "./mask-secrets.ts";

/** The address that requests go to, and the bounds of an exchange. */
export interface Target {
  readonly origin: URL;
  /** Certificates to trust, as PEM. */
  readonly ca?: string | undefined;
  readonly secrets: Secrets;
  /** For the connection and for a whole answer. */
  readonly deadlineMs: number;
  readonly maxAnswerBytes: number;
  /** Milliseconds since the run began. */
  readonly now: () => number;
  readonly signal: AbortSignal;
}

/** The longest wait for a connection and its TLS handshake, in milliseconds. */
const maxConnectMs = 10_000;

/** A connection that sends exactly the given bytes. An HTTP library would hide faults. */
export class Connection implements Disposable {
  readonly #target: Target;
  #socket: Socket | undefined;

  constructor(target: Target) {
    this.#target = target;
  }

  /** Sends one request and reads the answer. It never throws: whatever happens is evidence. */
  async exchange(name: string, request: HttpRequest): Promise<Exchange> {
    const { behaviour = {} } = request;
    const { now, secrets, signal } = this.#target;
    if (behaviour.delayMs !== undefined) await wait(behaviour.delayMs, undefined, { signal }).catch(() => undefined);
    const startedMs = now();
    const startedAt = new Date().toISOString();
    const bytes = toBytes(request, this.#target.origin.host, secrets);
    let taken = await this.#takeFromOpen(request, bytes, false);
    // A relay may lose an early answer when the reset reaches it first. Slowly sent bytes leave the answer the time to arrive.
    if (isLarge(bytes) && taken.received.length === 0 && ["reset", "closed"].includes(taken.end)) {
      this.#socket = undefined;
      taken = await this.#takeFromOpen(request, bytes, true);
    }
    const { end, failure } = taken;
    const { received, leaks } = maskSecrets(taken.received, secrets, JSON.stringify(request));
    const endedMs = now() - startedMs;
    return { name, request, startedMs, startedAt, received, end, endedMs, leaks, ...(failure && { failure }) };
  }

  [Symbol.dispose](): void {
    this.#socket?.destroy();
  }

  async #open(): Promise<Socket | ConnectionFailure> {
    const { origin, ca, deadlineMs, signal } = this.#target;
    const isTls = origin.protocol === "https:";
    const host = origin.hostname.replace(/^\[|\]$/g, "");
    const port = Number(origin.port || (isTls ? 443 : 80));
    const socket = isTls
      ? connectTls({
          host,
          port,
          ...(isIP(host) === 0 && { servername: host }), // TLS has no server name for an address
          ALPNProtocols: ["http/1.1"],
          ...(ca !== undefined && { ca }),
        })
      : connectPlain({ host, port });
    socket.setNoDelay(true);
    let failure: ConnectionFailure = { code: "CLOSED", message: "the connection was closed" };
    // The exchange ends with an error, so nothing else has to be done about it.
    socket.on("error", (error) => {
      failure = toFailure(error);
    });
    return new Promise((resolve) => {
      const fail = (): void => {
        failure = { code: "ETIMEDOUT", message: "no connection in time" };
        socket.destroy();
      };
      const timer = setTimeout(fail, Math.min(deadlineMs, maxConnectMs));
      const settle = (result: Socket | ConnectionFailure): void => {
        clearTimeout(timer);
        signal.removeEventListener("abort", fail);
        resolve(result);
      };
      signal.addEventListener("abort", fail);
      if (signal.aborted) fail();
      socket.once(isTls ? "secureConnect" : "connect", () => settle(socket));
      socket.once("close", () => settle(failure));
    });
  }

  async #takeFromOpen(request: HttpRequest, bytes: Buffer, isSlow: boolean): Promise<Taken> {
    const opened = this.#socket ?? (await this.#open());
    this.#socket = "code" in opened ? undefined : opened;
    if ("code" in opened)
      return { received: [], end: this.#target.signal.aborted ? "aborted" : "unreachable", failure: opened };
    return this.#take(opened, request, bytes, isSlow);
  }

  #take(socket: Socket, request: HttpRequest, bytes: Buffer, isSlow: boolean): Promise<Taken> {
    const { now, deadlineMs, maxAnswerBytes, signal } = this.#target;
    const {
      holdBackBytes = 0,
      disconnectAfterEvents,
      disconnectAfterMs,
      stopReadingMs,
      deadlineMs: ownDeadlineMs,
    } = request.behaviour ?? {};
    const framer = new Framer(request.raw === undefined ? request.method : "GET");
    const received: Received[] = [];
    const begunMs = now();
    const watcher = new EventCounter();
    let size = 0;
    return new Promise((resolve) => {
      const timers = [setTimeout(() => finish("timeout"), ownDeadlineMs ?? deadlineMs)];
      const finish = (end: End, failure?: ConnectionFailure): void => {
        for (const timer of timers) clearTimeout(timer);
        socket.off("data", take).off("close", onClose).off("error", onError);
        signal.removeEventListener("abort", onAbort);
        if (end !== "complete" || framer.endsWithConnection || framer.announcesClose) this.#drop(socket);
        resolve({ received, end, ...(failure && { failure }) });
      };
      const take = (chunk: Buffer): void => {
        const piece = { atMs: now() - begunMs, bytes: chunk.toString("latin1") };
        received.push(piece);
        framer.push(piece);
        size += chunk.length;
        if (disconnectAfterEvents !== undefined && watcher.count(piece.bytes) >= disconnectAfterEvents)
          return finish("disconnected");
        if (framer.isDone) return finish("complete");
        if (framer.fault !== undefined) return finish("closed");
        if (size > (request.behaviour?.maxBytes ?? maxAnswerBytes)) return finish("too-large");
        if (stopReadingMs !== undefined && received.length === 1) {
          socket.pause();
          timers.push(setTimeout(() => socket.resume(), stopReadingMs));
        }
      };
      const onClose = (): void => finish("closed");
      const onError = (error: Error): void => finish("reset", toFailure(error));
      const onAbort = (): void => finish("aborted");
      socket.on("data", take).on("close", onClose).on("error", onError);
      signal.addEventListener("abort", onAbort);
      if (disconnectAfterMs !== undefined) timers.push(setTimeout(() => finish("disconnected"), disconnectAfterMs));
      if (signal.aborted) return finish("aborted");
      if (socket.destroyed) return finish("closed");
      const sent = bytes.subarray(0, bytes.length - holdBackBytes);
      void sendBytes(socket, sent, isSlow, () => framer.status !== undefined);
    });
  }

  #drop(socket: Socket): void {
    socket.destroy();
    if (this.#socket === socket) this.#socket = undefined;
  }
}

interface Taken {
  readonly received: readonly Received[];
  readonly end: End;
  readonly failure?: ConnectionFailure;
}

/** A request of up to this size is written at once. */
const maxSmallBytes = 262_144;
/** The longest wait after the head of a large request for an answer that comes before the body. */
const headPauseMs = 250;
const sliceBytes = 65_536;
const sliceGapMs = 20;

const isLarge = (bytes: Buffer): boolean => bytes.length > maxSmallBytes;

/**
 * Writes a request. The body of a large one follows its head only if no answer comes first: a server may refuse it by its head
 * and close the connection. Bytes that arrive after that make its system reset the connection, and a reset can overtake the
 * answer in a relay. `isSlow` writes the body in slices until an answer begins, for a server that refuses it in the middle.
 */
async function sendBytes(socket: Socket, bytes: Buffer, isSlow: boolean, isAnswered: () => boolean): Promise<void> {
  if (!isLarge(bytes)) return void socket.write(bytes);
  const isOver = (): boolean => isAnswered() || socket.destroyed;
  const headLength = bytes.indexOf("\r\n\r\n") + 4;
  socket.write(bytes.subarray(0, headLength));
  for (const endMs = performance.now() + headPauseMs; performance.now() < endMs && !isOver();) await wait(5);
  const size = isSlow ? sliceBytes : bytes.length;
  for (let at = headLength; at < bytes.length && !isOver(); at += size) {
    socket.write(bytes.subarray(at, at + size));
    if (isSlow) await wait(sliceGapMs);
  }
}

/** Node reports one error for each address of a name; the first one is as good as the others. */
function toFailure(error: Error): ConnectionFailure {
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error;
  const code = first instanceof Error && "code" in first ? String(first.code) : "UNKNOWN";
  const message = first instanceof Error ? first.message.trim() : String(first);
  return { code, message, ...(hasCertificate(first) && { names: first.cert.subjectaltname }) };
}

/** Node adds the certificate to the error of one that names other hosts. */
const hasCertificate = (error: unknown): error is { readonly cert: { readonly subjectaltname: string } } =>
  error instanceof Error &&
  "cert" in error &&
  typeof (error.cert as { readonly subjectaltname?: unknown } | null)?.subjectaltname === "string"; // any value may be there

/** Counts the events of a stream while its bytes come in. */
class EventCounter {
  #text = "";

  count(bytes: string): number {
    this.#text += bytes;
    const blocks = this.#text.split(/(?:\r?\n){2}/).slice(0, -1);
    return blocks.filter((block) => /(?:^|\n)data:/.test(block)).length;
  }
}
