import { describeEstimate, estimate } from "../run/estimate.ts";
import { checksFor, stepsFor } from "../run/plan.ts";
import type { Step } from "../judge/check.ts";
import { requestCatalogue } from "../clauses/test-groups.ts";
import { Context } from "../judge/context.ts";
import type { RunProfile } from "../profile.ts";
import { Answer } from "../wire/answer.ts";
import { Connection } from "../wire/connection.ts";
import type { Exchange } from "../wire/exchange.ts";

const listingDeadlineMs = 10_000;
const maxListingBytes = 4 * 1024 * 1024;

/**
 * Describes a run: every step, and the size and the cost of each tier and of all of them. It sends nothing but a request for the
 * listing, for its models and prices.
 */
export async function describeRun(
  profile: RunProfile,
  secrets: ReadonlyMap<string, string>,
  ca: string | undefined,
): Promise<string> {
  const listing = profile.isKeyless === true ? undefined : await readListing(profile, secrets, ca);
  const checks = checksFor(profile);
  const steps = stepsFor(checks, profile);
  const sizeOf = (part: RunProfile): string =>
    describeEstimate(estimate(stepsFor(checksFor(part), part), part, listing));
  const tiers =
    profile.isKeyless === true || profile.levels.length < 2
      ? []
      : profile.levels.map((level) => `${level} alone: ${sizeOf({ ...profile, levels: [level], isProbing: false })}`);
  return [
    ...steps.map((step) => describeStep(step, profile)),
    "",
    ...tiers,
    `${steps.length} steps for ${checks.length} checks: ${sizeOf(profile)}`,
    "A service that breaks clauses receives more requests.",
    listing ? "Only the listing was read; nothing else was sent." : "The listing was not read; nothing was sent.",
    "",
  ].join("\n");
}

const describeStep = ({ name, needs = [], coveredBy }: Step, { isExhaustive }: RunProfile): string =>
  needs.length === 0
    ? name
    : `${name}  (after ${needs.join(", ")}${coveredBy && !isExhaustive ? ", unless one of them covers it" : ""})`;

/** The exchange with the listing, or undefined if the service cannot be reached or refuses it. */
async function readListing(
  profile: RunProfile,
  secrets: ReadonlyMap<string, string>,
  ca: string | undefined,
): Promise<Exchange | undefined> {
  const [request] = requestCatalogue.get("models")?.requests(new Context(profile, new Map(), new Map())) ?? [];
  if (!request) return undefined;
  const begunMs = performance.now();
  using connection = new Connection({
    origin: new URL(profile.origin),
    ca,
    secrets,
    deadlineMs: listingDeadlineMs,
    maxAnswerBytes: maxListingBytes,
    now: () => performance.now() - begunMs,
    signal: AbortSignal.timeout(listingDeadlineMs),
  });
  const exchange = await connection.exchange("models", request);
  return new Answer(exchange).status === 200 ? exchange : undefined;
}
