import { createHash } from "node:crypto";
import { hostname } from "node:os";
import contract from "@parley/contract/contract.json" with { type: "json" };
import type { ServerEntry, ServerFacts } from "../accounts/servers/server-register.ts";
import type { Config } from "../config/read-config.ts";
import type { ModelConfig } from "../config/read-models.ts";
import type { ServedModel } from "./served-model.ts";

/** Returns the name of a server for the operator. */
export const serverName = (pid = process.pid): string => `${hostname()} (process ${pid})`;

/** Returns the entry of this server in the register of servers. */
export const describeServer = (config: Config, models: readonly ServedModel[]): ServerEntry => ({
  name: serverName(),
  version: contract.info.version,
  facts: () => factsOf(config, models),
});

/** A model that is served, or only configured. */
type DescribedModel = ModelConfig & Partial<Pick<ServedModel, "engine">>;

/** Returns the facts of a server with these models. A context length that only an engine knows is absent without it. */
export function factsOf(config: Config, models: readonly DescribedModel[]): ServerFacts {
  const sorted = models.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const shared = sorted.flatMap((model) => {
    const engines = sharedEngines(model);
    return engines.length > 0 ? [[model.id, engines] as const] : [];
  });
  return {
    offers: {
      "": {
        PARLEY_REQUESTS_PER_MINUTE: `${config.requestsPerMinute}`,
        PARLEY_TOKENS_PER_MINUTE: `${config.tokensPerMinute}`,
        PARLEY_TOTAL_REQUESTS_PER_MINUTE: `${config.totalRequestsPerMinute}`,
        PARLEY_TOTAL_TOKENS_PER_MINUTE: `${config.totalTokensPerMinute}`,
      },
      ...Object.fromEntries(sorted.map((model) => [model.id, offerOf(model)])),
    },
    engines: Object.fromEntries(shared),
  };
}

function offerOf({ engine, engineConfig, pricing, ...model }: DescribedModel): Readonly<Record<string, string>> {
  const contextLength = engine?.metadata?.contextLength ?? model.contextLength;
  return {
    "pricing.prompt": pricing.prompt,
    "pricing.completion": pricing.completion,
    "pricing.image": pricing.image,
    "pricing.request": pricing.request,
    "pricing.input_cache_read": pricing.input_cache_read ?? pricing.prompt,
    ...(contextLength !== undefined && { context_length: `${contextLength}` }),
    max_completion_tokens: `${model.maxCompletionTokens}`,
    ...(engineConfig.driver === "remote" && { slots: `${engineConfig.slots}` }),
  };
}

/**
 * Returns identities of the engines of a model that other servers may use, too. A server starts all but remote engines for
 * itself. An address of this machine is another engine on another machine.
 */
function sharedEngines({ engineConfig }: DescribedModel): string[] {
  if (engineConfig.driver !== "remote") return [];
  return engineConfig.urls.map((url) => {
    const machine = isLoopback(new URL(url)) ? hostname() : "";
    // The URL may contain a password.
    return createHash("sha256").update(`${machine} ${url}`).digest("base64url").slice(0, 16);
  });
}

const isLoopback = (url: URL): boolean =>
  /^(localhost|.*\.localhost|127\.[\d.]+|\[::1\]|0\.0\.0\.0|\[::\])$/.test(url.hostname);
