import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import proxyaddr from "proxy-addr";
import type { Caller } from "./accounts/keys/caller.ts";
import { explainUrl } from "./http/explain-url.ts";
import { formatIgnored } from "./chat/body/ignored-fields.ts";
import { matchOperation } from "./http/match-operation.ts";
import type { MatchedOperation } from "./http/match-operation.ts";
import { parseJsonBody } from "./chat/body/parse-json-body.ts";
import type { ParsedBody } from "./chat/body/parse-json-body.ts";
import { validateBody } from "./chat/body/validate-body.ts";
import type { ValidatedBody } from "./chat/body/validate-body.ts";
import type { Deps, Mount } from "./deps.ts";
import { allowOrigins } from "./http/allow-origins.ts";
import { exchangeOpener, pathOf } from "./http/exchange.ts";
import type { Exchange, HttpRequest } from "./http/exchange.ts";
import { logAccess } from "./http/log-access.ts";
import { readBody } from "./http/read-body.ts";
import { refuseHugeHeads } from "./http/refuse-huge-heads.ts";
import { reportError } from "./http/report-error.ts";
import { assertExpectation, isUnderContract, requireKey } from "./http/require-key.ts";
import { serveHealth } from "./http/serve-health.ts";
import { isProbe } from "./sockets/socket-places.ts";
import type { Admission } from "./chat/admission/admission.ts";
import { admitHead } from "./chat/admission/admit-head.ts";
import { setLimitHeaders } from "./accounts/limits/limit-headers.ts";
import { loadOnce } from "./express/load-once.ts";
import { buildOperations, runOperation } from "./operations/run-operation.ts";
import type { Operations } from "./operations/call.ts";

interface PathDeps extends Deps {
  readonly operations: Operations;
}

/** A request whose caller is known. */
interface Authenticated {
  readonly exchange: Exchange;
  readonly caller: Caller;
}

interface Admitted extends Authenticated {
  readonly operation: MatchedOperation;
  readonly admission: Admission;
}

/** The path of every request. Each step needs the values that the steps before it returned. */
async function serve(deps: PathDeps, mount: Mount, exchange: Exchange): Promise<void> {
  try {
    refuseHugeHeads(exchange.req); // 414, 431, 505
    if (allowOrigins(deps.config.corsOrigins, exchange)) return; // a preflight has no key
    if (serveHealth(deps, exchange) || (await mount.serveSite?.(exchange))) return; // outside the contract, without a key
    if (!isUnderContract(exchange.path)) throw explainUrl(exchange.req.url ?? ""); // 404
    const caller = await requireKey(deps, exchange); // 401, 503
    await serveCaller(deps, mount, { exchange, caller });
  } catch (thrown) {
    reportError(deps, exchange, thrown);
  }
}

async function serveCaller(deps: PathDeps, mount: Mount, { exchange, caller }: Authenticated): Promise<void> {
  const { req, res, path } = exchange;
  try {
    assertExpectation(exchange); // 417
    const operation = matchOperation(req.method ?? "", path, req.url ?? ""); // 400, 404, 405
    if (!operation.hasBody) return await runOperation(deps, operation, { exchange, caller });
    await using admission = await admitHead(deps.admission, req.headers, caller); // 402, 429, 503
    await admission.rollbackIfRefused(serveBody(deps, mount, { exchange, caller, operation, admission }));
  } catch (thrown) {
    // Answers to an authenticated caller have the limit headers, even errors.
    if (!res.headersSent) await showLimits(deps, res, caller);
    throw thrown;
  }
}

/** While the limits cannot be looked up, the answer goes without them. Their fault must not hide the first one. */
async function showLimits({ limits }: PathDeps, res: ServerResponse, caller: Caller): Promise<void> {
  const states = await limits.states(caller).catch(() => undefined);
  if (states && !res.headersSent) setLimitHeaders(res, states);
}

/**
 * A chain of promises, not an async function, so the body can be freed early (docs/request-path.md, "Memory of a request").
 */
const serveBody = (deps: PathDeps, mount: Mount, admitted: Admitted): Promise<void> =>
  readBody(deps, admitted.exchange, admitted.caller.keyId) // 408, 413, 415
    .then(parseJsonBody) // 400
    .then((body) => validate(deps, mount, admitted, body)) // 400
    .then((validated) => runOperation(deps, admitted.operation, { ...admitted, validated })); // pick engine → fit context → admit → relay → meter

async function validate(
  { schemaCompiler }: PathDeps,
  mount: Mount,
  { exchange, caller: { keyId } }: Admitted,
  body: ParsedBody,
): Promise<ValidatedBody> {
  const { signal, res } = exchange;
  const isStrict = exchange.header("x-strict-params")?.toLowerCase() === "true";
  const gate = mount.gateFor(exchange);
  const validated = await validateBody(body, { gate, schemaCompiler, keyId, isStrict, signal });
  const { paths } = validated.ignored;
  if (paths.length > 0) res.setHeader("x-ignored-params", formatIgnored(paths));
  return validated;
}

/** The mount of chat completions: Node's server alone, or Express with its validator. */
export type ChatMount = "node" | "express";

/**
 * Creates the request listener. Chat completions and probes are served directly on Node's server. All other requests go
 * through Express, which also serves the docs, and is loaded for the first request that needs it.
 * @param chatMount tests use both
 */
export function createApp(deps: Deps, chatMount: ChatMount): RequestListener {
  const listenerFor = listenersOf(deps);
  const onNode = listenerFor({ gateFor: () => deps.gate });
  const loadExpress = loadOnce(async () => {
    const { createExpressApp, createExpressMount } = await import("./express/express-app.ts");
    const mount = createExpressMount(deps);
    // The validator is loaded first, so no running request waits for it.
    if (chatMount === "express") await mount.load();
    return createExpressApp(listenerFor(mount));
  });
  return (req, res) => {
    if (isProbe(req.url ?? "") || (chatMount === "node" && isChat(req))) return onNode(req, res);
    loadExpress().then(
      // The client may have disconnected while Express was loading.
      (onExpress) => void (res.destroyed || onExpress(req, res)),
      (error: unknown) => listenerFor(unloaded(error))(req, res),
    );
  };
}

const isChat = (req: HttpRequest): boolean => req.method === "POST" && pathOf(req) === "/v1/chat/completions";

/**
 * Returns a mount that refuses all requests with the error that prevented loading Express, such as a lack of file
 * descriptors.
 */
function unloaded(error: unknown): Mount {
  const refuse = (): never => {
    throw error;
  };
  return { serveSite: async () => refuse(), gateFor: refuse };
}

/** Returns a function that makes the listener of a mount. All mounts share what is made here, so another mount costs nothing. */
function listenersOf(deps: Deps): (mount: Mount) => RequestListener {
  const { config, shutdown, elapsedMs, log, tracing } = deps;
  const { requestTimeoutMs, trustedProxies } = config;
  const isTrusted = proxyaddr.compile([...trustedProxies]);
  const addressOf = (req: IncomingMessage): string => proxyaddr(req, isTrusted);
  const open = exchangeOpener({ requestTimeoutMs, shutdown, addressOf, elapsedMs });
  const pathDeps = { ...deps, operations: buildOperations(deps) };
  return (mount) => (req, res) => {
    const giveUp = (error: unknown): void => {
      log.error({ err: error }, "a request could not be answered");
      res.destroy();
    };
    try {
      const exchange = open(req, res);
      if (tracing && isChat(req)) exchange.trace = tracing.begin(req.headers);
      const work = serve(pathDeps, mount, exchange).catch(giveUp);
      exchange.onClose(() => {
        const closedMs = elapsedMs();
        // The operation may still run after the client has disconnected. Its outcome is a part of the log line.
        void work.then(() => logAccess(deps, exchange, closedMs));
      });
    } catch (error) {
      giveUp(error);
    }
  };
}
