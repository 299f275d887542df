import type { Answer } from "../wire/answer.ts";
import { isHtml, messageOf, said } from "./describe-answer.ts";

export interface ModelChoice {
  readonly id: string;
  /** True if `--model` or the profile named it. False: it is the first one of the listing. */
  readonly isGiven: boolean;
  /** The ids of the listing; empty if there is none. */
  readonly listed: readonly string[];
}

const sayUnknown =
  /\bmodels?\b.{0,60}\b(not found|does(?: not|n't) exist|unknown|invalid|not (?:a valid|available|supported|allowed|loaded))|(?:unknown|invalid|no such|unsupported|not a valid) (?:\w+ )?model|model_not_found|no (?:available |healthy )?(?:workers?|deployments?|providers?|backends?).{0,30}model/i;
const sayNoChat =
  /not a chat model|(?:chat|completions?).{0,40}not supported|not support.{0,40}(?:chat|completion)|embedding/i;

/** Returns why the chat request shows that its model cannot be judged, in one sentence, or undefined. */
export function modelObstacle(chat: Answer, { id, isGiven, listed }: ModelChoice): string | undefined {
  const { status = 0, text } = chat;
  if (![400, 401, 403, 404, 422, 500, 503].includes(status) || isHtml(chat)) return undefined;
  const isListed = listed.includes(id);
  const namesIt = new RegExp(String.raw`(?<!\w)${escaped(id)}(?!\w)`).test(messageOf(chat));
  if (!isGiven && (sayNoChat.test(text) || sayUnknown.test(text) || (status === 404 && namesIt)))
    return `The first model of the listing, ${JSON.stringify(id)}, does not answer chats: ${said(chat)}. Name another one with --model${among(listed.filter((one) => one !== id))}.`;
  const isRefused =
    sayUnknown.test(text) ||
    (namesIt && [401, 403, 404].includes(status)) ||
    (namesIt && !isListed && listed.length > 0);
  if (!isRefused || (isListed && ![401, 403, 404].includes(status))) return undefined;
  if (isListed)
    return `The service lists ${JSON.stringify(id)} and refuses it: ${said(chat)}. Name another model with --model.`;
  const near = nearestTo(id, listed);
  const advice =
    near === undefined
      ? `name one that it serves with --model${among(listed)}`
      : `the nearest id of its listing is ${JSON.stringify(near)}, so write --model ${near}`;
  return `The service does not know the model ${JSON.stringify(id)} (${said(chat)}): ${advice}.`;
}

const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);

const among = (ids: readonly string[]): string =>
  ids.length === 0 ? "" : `, such as ${ids.slice(0, 3).join(", ")}${ids.length > 3 ? ` (of ${ids.length})` : ""}`;

/** Returns the candidate that shares most pairs of letters with a text, or undefined if none shares many. */
function nearestTo(text: string, candidates: readonly string[]): string | undefined {
  const wanted = pairsOf(text);
  const rated = candidates.map((one) => ({ one, likeness: likenessOf(wanted, pairsOf(one)) }));
  const [best] = rated.toSorted((a, b) => b.likeness - a.likeness);
  return best !== undefined && best.likeness > 0.4 ? best.one : undefined;
}

const pairsOf = (text: string): ReadonlySet<string> => {
  const lower = ` ${text.toLowerCase()} `;
  return new Set(Array.from({ length: lower.length - 1 }, (_, at) => lower.slice(at, at + 2)));
};

const likenessOf = (one: ReadonlySet<string>, other: ReadonlySet<string>): number =>
  (2 * [...one].filter((pair) => other.has(pair)).length) / (one.size + other.size);
