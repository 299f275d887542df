import { isCompletion, isRecord, listAt, textAt, valueAt } from "../judge/read.ts";
import type { Answer } from "../wire/answer.ts";
import { asked, isHtml, messageOf, said } from "./describe-answer.ts";
import { modelObstacle } from "./model-obstacle.ts";
import type { ModelChoice } from "./model-obstacle.ts";

/** The facts that a sentence about an answer needs. */
export interface Place {
  /** Without trailing slashes. */
  readonly base: string;
  /** The environment variable with the key. */
  readonly keyVariable: string;
}

/** Returns why the listing is of no use if no model is named, in one sentence. */
export function listingObstacle(answer: Answer, place: Place): string {
  return (
    keyObstacle(answer, place) ??
    pathObstacle(answer, place, "; if the service has no listing, name a model with --model") ??
    quotaObstacle(answer) ??
    serverObstacle(answer) ??
    (answer.status === 200
      ? `The listing at ${place.base}/models names no model: name the model to judge with --model.`
      : `${asked(answer)} is answered with ${said(answer)}: correct --base-url, or name a model with --model if there is no listing.`)
  );
}

/** Returns why the first chat request shows that nothing can be judged, in one sentence, or undefined. */
export function chatObstacle(
  chat: Answer,
  listing: Answer | undefined,
  place: Place,
  model: ModelChoice,
): string | undefined {
  const path = pathObstacle(chat, place);
  const before = path === undefined || listing === undefined ? undefined : pathObstacle(listing, place);
  return (
    modelObstacle(chat, model) ??
    keyObstacle(chat, place) ??
    (listing && listing.status === chat.status ? keyObstacle(listing, place) : undefined) ??
    before ??
    path ??
    quotaObstacle(chat) ??
    serverObstacle(chat) ??
    shapeObstacle(chat, place)
  );
}

/** The ids of a listing, in its order. */
export const idsOf = (listing: Answer): readonly string[] =>
  listing.status === 200 ? listAt(listing.json, "/data").flatMap((one) => textAt(one, "/id") ?? []) : [];

function keyObstacle(answer: Answer, { keyVariable }: Place): string | undefined {
  const { status = 0 } = answer;
  const namesKey = /api.?key|credential|unauthorized|authenticat|access token|forbidden|permission|denied/i.test(
    messageOf(answer),
  );
  const isRefused =
    status === 401 ||
    (status === 403 && !isHtml(answer)) ||
    (status === 400 && /api.?key|credential/i.test(messageOf(answer)));
  // A service may answer 403 to the Origin header of this request, which says nothing about the key.
  if (!isRefused || (status === 403 && !namesKey && hasHeader(answer, "origin"))) return undefined;
  return `The service refuses the key in ${keyVariable}: ${asked(answer)} is answered with ${said(answer)}. Correct the key, or name another variable with --api-key-env.`;
}

const hasHeader = ({ exchange }: Answer, wanted: string): boolean =>
  exchange.request.headers.some(([name]) => name.toLowerCase() === wanted);

const redirects = new Set([301, 302, 303, 307, 308]);

function pathObstacle(answer: Answer, place: Place, otherwise = ""): string | undefined {
  const { status = 0 } = answer;
  if (redirects.has(status)) return redirectSentence(answer, place);
  if (isHtml(answer) && status < 500)
    return `${asked(answer)} is answered with an HTML page (${said(answer)}), so ${place.base} is not the address of an API: ${baseHint(place)}.`;
  if ([404, 405, 410, 501].includes(status))
    return `${asked(answer)} is answered with ${said(answer)}: ${baseHint(place)}${otherwise}.`;
  return undefined;
}

/** Most services have their operations under a version, so a base URL without one is probably cut. */
const baseHint = ({ base }: Place): string =>
  /\/v\d+[a-z0-9]*(?:\/|$)/.test(new URL(base).pathname)
    ? "correct the path in --base-url, the part before /chat/completions"
    : `correct the path in --base-url, the part before /chat/completions, such as ${base}/v1`;

function redirectSentence(answer: Answer, { base }: Place): string {
  const location = answer.header("location") ?? "";
  const url = URL.canParse(location, base) ? new URL(location, `${base}/`) : undefined;
  if (url === undefined)
    return `${asked(answer)} is redirected (${answer.status}) without a valid Location: correct --base-url.`;
  const target = url.origin + url.pathname;
  const suffix = /\/+(?:models|chat\/+completions)\/*$/.exec(url.pathname)?.[0];
  const better = suffix === undefined ? undefined : target.slice(0, -suffix.length);
  const advice =
    better === undefined
      ? "the suite does not follow redirects, so write the address of the API itself into --base-url"
      : better === base
        ? "the suite does not follow redirects, as most SDKs do not for POST, so the service has to answer at this path itself"
        : `write ${better} into --base-url`;
  return `${asked(answer)} is redirected (${answer.status}) to ${target}: ${advice}.`;
}

function quotaObstacle(answer: Answer): string | undefined {
  const { status } = answer;
  if (status !== 402 && status !== 429) return undefined;
  const wait = answer.header("retry-after");
  const advice =
    status === 402
      ? "top up its budget"
      : `wait ${wait === undefined || !/^\d+$/.test(wait) ? "a while" : `${wait} s`}`;
  return `The key has no quota left: ${asked(answer)} is answered with ${said(answer)}: ${advice}, or use another key.`;
}

function serverObstacle(answer: Answer): string | undefined {
  const { status = 0 } = answer;
  if (status < 500) return undefined;
  const isGateway = status === 502 || status === 503 || status === 504 || isHtml(answer);
  const advice = isGateway
    ? "the proxy is up and the service behind it is not ready, so start that, or wait until it has loaded its model"
    : "nothing can be judged while a plain request fails, so read the log of the service";
  return `${asked(answer)} is answered with ${said(answer)}: ${advice}.`;
}

/** A broken completion is judged. Another kind of answer comes from another kind of service. */
function shapeObstacle(answer: Answer, { base }: Place): string | undefined {
  if (answer.status !== 200 || isCompletion(answer) || answer.mediaType === "text/event-stream" || !answer.isWhole)
    return undefined;
  if (
    isRecord(answer.json) &&
    ["choices", "object", "error"].some((name) => valueAt(answer.json, `/${name}`) !== undefined)
  )
    return undefined;
  const body =
    answer.text.trim() === ""
      ? "an empty body"
      : `a body that is not a chat completion ("${messageOf(answer).slice(0, 80)}")`;
  return `${asked(answer)} is answered with 200 and ${body}: check that ${base} is the address of a chat-completion API.`;
}
