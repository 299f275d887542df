import { requestCatalogue } from "../clauses/test-groups.ts";
import { Context } from "../judge/context.ts";
import { find } from "../judge/finding.ts";
import type { Step } from "../judge/check.ts";
import type { RunProfile } from "../profile.ts";
import { httpRequest } from "../requests/chat-request.ts";
import { modelId } from "../requests/listed-model.ts";
import { Answer } from "../wire/answer.ts";
import { Connection } from "../wire/connection.ts";
import type { Target } from "../wire/connection.ts";
import type { Exchange } from "../wire/exchange.ts";
import type { HttpRequest } from "../wire/http-request.ts";
import { chatObstacle, idsOf, listingObstacle } from "./answer-obstacle.ts";
import type { Place } from "./answer-obstacle.ts";
import { connectionObstacle } from "./connection-obstacle.ts";
import { PreflightError } from "./preflight-error.ts";

type Performed = ReadonlyMap<string, readonly Exchange[]>;

/** The steps that show if anything can be judged. They are the first ones of every run. */
const listingStep = "models";
const chatSteps = ["plain with headers", "plain"];

/**
 * Sends the listing and the first chat request of a run, and reads them for faults that would make every clause fail: a wrong
 * address, key or model, or a service that is down.
 *
 * @param onListing is called before the first chat request, with the exchange of the listing if there is one
 * @returns the exchanges by step, so that the run need not send them again
 * @throws PreflightError with one sentence that says what is wrong and what to do
 */
export async function preflight(
  profile: RunProfile,
  steps: readonly Step[],
  keyVariable: string,
  target: Target,
  onListing?: (listing: Exchange | undefined) => void,
): Promise<Performed> {
  const performed = new Map<string, readonly Exchange[]>();
  const place: Place = { base: profile.origin + profile.basePath, keyVariable };
  const contextNow = (): Context =>
    new Context(
      profile,
      new Map([...performed].map(([name, exchanges]) => [name, exchanges.map((one) => new Answer(one))])),
      new Map(),
    );
  const perform = async (name: string): Promise<Answer | undefined> => {
    const [request] = requestCatalogue.get(name)?.requests(contextNow()) ?? [];
    if (!request || !steps.some((step) => step.name === name)) return undefined;
    const answer = await send(name, request, target);
    if (answer) performed.set(name, [answer.exchange]);
    return answer;
  };

  const listing = await perform(listingStep);
  if (target.signal.aborted) return performed;
  const context = contextNow();
  const model = find(() => modelId(context));
  if (model.kind !== "kept") {
    if (listing)
      throw new PreflightError((await olderSibling(listing, profile, target)) ?? listingObstacle(listing, place));
    return performed;
  }
  onListing?.(listing?.exchange);
  const chatStep = chatSteps.find((name) => steps.some((step) => step.name === name));
  const chat = chatStep === undefined ? undefined : await perform(chatStep);
  if (!chat) return performed;
  const choice = { id: model.seen, isGiven: profile.model !== undefined, listed: listing ? idsOf(listing) : [] };
  const obstacle = chatObstacle(chat, listing, place, choice);
  if (obstacle !== undefined) throw new PreflightError(obstacle);
  return performed;
}

/** Returns undefined if the run was ended meanwhile. */
async function send(name: string, request: HttpRequest, target: Target): Promise<Answer | undefined> {
  using connection = new Connection(target);
  const answer = new Answer(await connection.exchange(name, request));
  if (answer.exchange.end === "aborted") return undefined;
  const obstacle = await connectionObstacle(answer, target.origin);
  if (obstacle !== undefined) throw new PreflightError(obstacle);
  return answer;
}

/** Finds out if a base URL without a version lacks it: then `/v1/models` exists beside it. */
async function olderSibling(listing: Answer, profile: RunProfile, target: Target): Promise<string | undefined> {
  const isElsewhere = listing.status === 404 || listing.mediaType === "text/html";
  if (!isElsewhere || /\/v\d/.test(profile.basePath)) return undefined;
  const context = new Context(profile, new Map(), new Map());
  const request = httpRequest(context, "GET", `${profile.basePath}/v1/models`);
  const answer = await send("preflight", request, target).catch(() => undefined);
  const isThere =
    answer !== undefined && (idsOf(answer).length > 0 || (answer.status === 401 && answer.mediaType !== "text/html"));
  const base = profile.origin + profile.basePath;
  return isThere
    ? `There is no API at ${base}, but there is one at ${base}/v1: write --base-url ${base}/v1.`
    : undefined;
}
