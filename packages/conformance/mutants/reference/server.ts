import { createServer } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { limit } from "../../src/contract/contract.ts";
import { scenariosFor } from "../../src/scenarios.ts";
import { accountReply, isAccountPath } from "./account.ts";
import { enter } from "./admission.ts";
import { answerChat } from "./chat.ts";
import { edgeReply, errorReply, writeReply } from "./edge.ts";
import { limitHeaders, makeKey } from "./keys.ts";
import type { Key, KeyRules } from "./keys.ts";
import type { Head, Mutant, Reply, Settings } from "./mutant.ts";
import type { World } from "./world.ts";
import { modelReply, unknownUrl } from "./models.ts";
import { fault } from "./violation.ts";

export interface ReferenceServer extends AsyncDisposable {
  readonly baseUrl: string;
  readonly recordsUrl: string;
}

const seconds = (name: string): number => limit(name) * 1000;

const settings = (): Settings => ({
  maxBodyBytes: limit("maxBodyBytes"),
  maxLevels: limit("maxNestingLevels"),
  maxBodyValues: limit("maxBodyValues"),
  headMs: seconds("headDeadlineSeconds"),
  bodyMs: seconds("bodyDeadlineSeconds"),
  requestMs: seconds("requestDeadlineSeconds"),
  patienceMs: seconds("firstEventPatienceSeconds"),
  keepAliveMs: seconds("keepAliveSeconds"),
  slowReaderMs: seconds("slowReaderSeconds"),
  slots: 64,
  queueLength: 8,
});

/**
 * A small server that keeps the whole contract, with a toy model behind it. It shares no code with Parley: it is written from
 * the contract's documents alone, so a mistake of Parley cannot hide in it.
 */
export async function startReference(
  keys: ReadonlyMap<string, KeyRules>,
  own: Partial<Settings> = {},
  mutant: Mutant = {},
): Promise<ReferenceServer> {
  const all: Settings = { ...settings(), ...own, ...mutant.settings };
  const world: World = {
    mutant,
    settings: all,
    keys: new Map([...keys].map(([key, rules]) => [key, makeKey(rules)])),
    engine: {
      downUntilMs: 0,
      scenarios: scenariosFor({
        deadlines: {
          firstEventPatienceSeconds: (own.patienceMs ?? all.patienceMs) / 1000,
          keepAliveSeconds: (own.keepAliveMs ?? all.keepAliveMs) / 1000,
        },
      }),
    },
    rows: [],
    receipts: new Map(),
    repeatable: new Map(),
    cached: new Set(),
    running: 0,
    waiting: 0,
    created: 0,
  };
  const server = listen(world);
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo; // it listens on a port, not on a pipe
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    recordsUrl: `http://127.0.0.1:${port}/records/{id}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => void server.close(resolve));
    },
  };
}

function listen(world: World): Server {
  const { headMs } = world.settings;
  const options = {
    requireHostHeader: false,
    headersTimeout: headMs,
    requestTimeout: 0,
    connectionsCheckingInterval: 50,
    keepAliveTimeout: 60_000,
  };
  const take = (request: IncomingMessage, response: ServerResponse): void => {
    handle(world, request, response).catch(() => response.destroy());
  };
  const server = createServer(options, take);
  server.on("checkContinue", take);
  server.on("checkExpectation", take);
  server.on("clientError", (error: Error & { readonly code?: string }, socket) => {
    if (!socket.writable) return;
    const text =
      world.mutant.flags?.has("edge-without-envelope") === true
        ? "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n"
        : edgeReply(world, error.code ?? "");
    socket.end(text);
  });
  return server;
}

const headOf = (request: IncomingMessage): Head => {
  const [path = "", query = ""] = (request.url ?? "").split("?", 2);
  const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
  return { method: request.method ?? "", path, query, headers, raw: request.rawHeaders };
};

async function handle(world: World, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const head = headOf(request);
  if (head.path.startsWith("/records/")) {
    const id = head.path.slice("/records/".length);
    response.setHeader("content-type", "application/json");
    return void response.end(JSON.stringify(world.rows.filter((row) => row.id === id)));
  }
  const early = world.mutant.early?.(head);
  if (early) return writeReply(world, head, request, response, early);
  const reply = await decide(world, head, request, response);
  if (reply) await writeReply(world, head, request, response, reply);
}

/** The answer, or undefined where it has been streamed already. */
async function decide(
  world: World,
  head: Head,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<Reply | undefined> {
  const { flags } = world.mutant;
  if (isPreflight(head)) return { status: 204, headers: preflight, body: undefined };
  if (flags?.has("bare-204-options") === true && head.method === "OPTIONS")
    return { status: 204, headers: {}, body: undefined };
  if (!head.path.startsWith("/v1")) return errorReply(unknownUrl(head.path));
  if (flags?.has("path-before-key") === true && !isKnown(head.path)) return errorReply(unknownUrl(head.path));
  const hasOddExpect = head.headers["expect"] !== undefined && head.headers["expect"] !== "100-continue";
  const oddExpect = errorReply(fault("invalid_value", null, "Expect asks for something that is not offered.", 417));
  if (hasOddExpect && flags?.has("expect-before-key") === true) return oddExpect;
  const key = findKey(world, head);
  if (!key && flags?.has("body-before-key") === true && head.method === "POST") {
    const body = await readText(world, head, request);
    if (typeof body !== "string") return body;
  }
  if (!key)
    return errorReply({
      ...fault(
        "invalid_api_key",
        null,
        `Incorrect API key provided${hasNoKey(head) ? ": none was sent" : ""}. ${howToSend}`,
        401,
      ),
      headers: { "www-authenticate": "Bearer" },
    });
  const reply = hasOddExpect ? oddExpect : await route(world, head, request, response, key);
  return reply && { ...reply, headers: { ...limitHeaders(key), ...reply.headers } };
}

const howToSend = "Send a valid one after the word Bearer.";
const hasNoKey = ({ headers }: Head): boolean => !/^bearer \S/i.test(headers["authorization"] ?? "");

const preflight = {
  "access-control-allow-origin": "*",
  "access-control-allow-methods": "GET, POST",
  "access-control-allow-headers": "authorization, content-type",
  "access-control-max-age": "86400",
};
const isPreflight = ({ method, headers }: Head): boolean =>
  method === "OPTIONS" && headers["origin"] !== undefined && headers["access-control-request-method"] !== undefined;
const isKnown = (path: string): boolean =>
  path === "/v1/chat/completions" || path === "/v1/models" || path.startsWith("/v1/models/") || isAccountPath(path);

function findKey(world: World, head: Head): Key | undefined {
  const given = head.raw.filter((name, index) => index % 2 === 0 && name.toLowerCase() === "authorization").length;
  const [, token] = /^bearer +(\S+)$/i.exec(head.headers["authorization"] ?? "") ?? [];
  const key = given === 1 && token !== undefined ? world.keys.get(token) : undefined;
  const isGood = key !== undefined && key.rules.state === undefined;
  const accepts = world.mutant.acceptsKey?.(isGood, head) ?? isGood;
  return accepts ? (key ?? [...world.keys.values()][0]) : undefined;
}

async function route(
  world: World,
  head: Head,
  request: IncomingMessage,
  response: ServerResponse,
  key: Key,
): Promise<Reply | undefined> {
  const { method, path } = head;
  if (!isKnown(path)) return errorReply(unknownUrl(path));
  const allowed = path === "/v1/chat/completions" ? "POST" : "GET";
  if (method !== allowed)
    return errorReply({
      ...fault("method_not_allowed", null, `This path has ${allowed}.`, 405),
      headers: { allow: allowed },
    });
  if (isAccountPath(path)) return accountReply(world, path, key);
  if (allowed === "GET") return modelReply(world, path, key);
  const refused = world.mutant.flags?.has("budget-after-body") === true ? undefined : enter(key);
  if (refused) return errorReply(refused);
  const text = await readText(world, head, request);
  if (typeof text !== "string") return text;
  return answerChat({ world, head, request, response, key }, text);
}

/** The body as text, or the error that it is. */
async function readText(world: World, head: Head, request: IncomingMessage): Promise<string | Reply> {
  const { "content-type": type = "", "content-encoding": coding } = head.headers;
  const isJson = /^application\/json\s*(?:;\s*charset="?utf-8"?\s*)?$/i.test(type);
  if (!isJson || (coding ?? "identity") !== "identity")
    return errorReply(fault("unsupported_media_type", null, "The body must be application/json in UTF-8.", 415));
  const body = await readAll(request, world);
  if (body === "too large") return errorReply(fault("request_too_large", null, "The body is too large.", 413));
  if (body === "too slow") return errorReply(fault("request_timeout", null, "The body did not come in time.", 408));
  return body.toString("utf8");
}

async function readAll(
  request: IncomingMessage,
  { settings: { maxBodyBytes, bodyMs } }: World,
): Promise<Buffer | "too large" | "too slow"> {
  const read = async (): Promise<Buffer | "too large"> => {
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of request) {
      size += Buffer.from(chunk).length;
      if (size <= maxBodyBytes) chunks.push(Buffer.from(chunk));
    }
    return size > maxBodyBytes ? "too large" : Buffer.concat(chunks);
  };
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<"too slow">((resolve) => {
    timer = setTimeout(() => resolve("too slow"), bodyMs);
  });
  const body = await Promise.race([read().catch(() => "too slow" as const), late]);
  clearTimeout(timer);
  return body;
}
