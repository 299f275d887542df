import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { generateKeyPairSync, randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { etcd, kubeApiserver } from "./tools.ts";

/** An answer of the API server. */
export interface Answer {
  readonly status: number;
  /** The parsed JSON: an object of Kubernetes, or a `Status` with a `message`. */
  readonly body: KubernetesObject;
}

/** The members of objects that the tests read. */
export interface KubernetesObject {
  readonly kind?: string;
  readonly message?: string;
  readonly metadata?: { readonly name?: string; readonly labels?: Readonly<Record<string, string>> };
  readonly data?: Readonly<Record<string, string>>;
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly items?: readonly KubernetesObject[];
}

/** Ports of the loopback interface. */
export interface Ports {
  readonly api: number;
  readonly etcd: number;
  readonly peer: number;
}

/** An API server of Kubernetes with its etcd, in a temporary folder. It has no controllers and no nodes, so no pod runs. */
export class Kubernetes implements AsyncDisposable {
  /** A file for `KUBECONFIG`. */
  readonly kubeconfig: string;
  readonly #folder: string;
  readonly #ports: Ports;
  readonly #token = randomBytes(16).toString("hex");
  readonly #processes: ChildProcess[] = [];

  private constructor(ports: Ports) {
    this.#ports = ports;
    this.#folder = mkdtempSync(join(tmpdir(), "parley-kubernetes-"));
    this.kubeconfig = join(this.#folder, "kubeconfig");
  }

  /** Starts both, and waits until the API answers. @throws {Error} with the last lines of a program that ends */
  static async start(ports: Ports): Promise<Kubernetes> {
    const kubernetes = new Kubernetes(ports);
    kubernetes.#write();
    kubernetes.#start(etcd, [
      `--data-dir=${kubernetes.#path("etcd")}`,
      `--listen-client-urls=http://127.0.0.1:${ports.etcd}`,
      `--advertise-client-urls=http://127.0.0.1:${ports.etcd}`,
      `--listen-peer-urls=http://127.0.0.1:${ports.peer}`,
      "--unsafe-no-fsync",
    ]);
    kubernetes.#start(kubeApiserver, [
      `--etcd-servers=http://127.0.0.1:${ports.etcd}`,
      "--bind-address=127.0.0.1",
      `--secure-port=${ports.api}`,
      `--cert-dir=${kubernetes.#path("certificates")}`,
      `--token-auth-file=${kubernetes.#path("tokens")}`,
      "--authorization-mode=RBAC",
      "--service-cluster-ip-range=10.0.0.0/24",
      "--service-account-issuer=https://kubernetes.default.svc",
      `--service-account-key-file=${kubernetes.#path("key.pem")}`,
      `--service-account-signing-key-file=${kubernetes.#path("key.pem")}`,
      // A controller that is not there would have to make the default account.
      "--disable-admission-plugins=ServiceAccount",
    ]);
    await kubernetes.#untilReady();
    return kubernetes;
  }

  #path(name: string): string {
    return join(this.#folder, name);
  }

  #write(): void {
    const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
    writeFileSync(this.#path("key.pem"), privateKey.export({ type: "pkcs8", format: "pem" }));
    writeFileSync(this.#path("tokens"), `${this.#token},admin,admin,"system:masters"\n`);
    const server = `https://127.0.0.1:${this.#ports.api}`;
    const config = {
      apiVersion: "v1",
      kind: "Config",
      "current-context": "test",
      clusters: [{ name: "test", cluster: { server, "insecure-skip-tls-verify": true } }],
      users: [{ name: "admin", user: { token: this.#token } }],
      contexts: [{ name: "test", context: { cluster: "test", user: "admin" } }],
    };
    writeFileSync(this.kubeconfig, JSON.stringify(config), { mode: 0o600 });
  }

  #start(program: string | undefined, args: readonly string[]): void {
    const child = spawn(program ?? "", args, { stdio: ["ignore", "ignore", "pipe"] });
    let said = "";
    child.stderr.on("data", (chunk: Buffer) => (said = (said + chunk.toString("utf8")).slice(-2000)));
    child.on("exit", (code) => writeFileSync(this.#path("ended"), `${program} ended with ${code}:\n${said}`));
    this.#processes.push(child);
  }

  async #untilReady(): Promise<void> {
    for (let tries = 0; tries < 240; tries += 1) {
      const answer = await this.ask("GET", "/readyz").catch(() => undefined);
      if (answer?.status === 200) return;
      if (this.#processes.some(({ exitCode }) => exitCode !== null))
        throw new Error(readFileSync(this.#path("ended"), "utf8"));
      await wait(250);
    }
    throw new Error("The API server was not ready after 60 seconds.");
  }

  /** @param type of the body @returns the answer, also to a refused request */
  async ask(method: string, path: string, body?: unknown, type = "application/json"): Promise<Answer> {
    const headers = { authorization: `Bearer ${this.#token}`, "content-type": type };
    // The API server has made its certificate itself.
    const options = { method, headers, host: "127.0.0.1", port: this.#ports.api, path, rejectUnauthorized: false };
    const sent = request(options).end(typeof body === "string" ? body : JSON.stringify(body));
    const [response] = await once(sent, "response");
    let text = "";
    for await (const chunk of response) text += String(chunk);
    return { status: response.statusCode, body: text.startsWith("{") ? JSON.parse(text) : { message: text } };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const child of this.#processes.toReversed()) {
      if (child.exitCode !== null) continue;
      const ended = once(child, "exit");
      child.kill("SIGKILL");
      await ended;
    }
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
