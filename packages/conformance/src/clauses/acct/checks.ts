import { decimalSum } from "@parley/contract/decimal";
import { faultsOf } from "../../contract/contract.ts";
import { checkOf } from "../../judge/check.ts";
import type { Check, TestGroup } from "../../judge/check.ts";
import type { Context } from "../../judge/context.ts";
import { exactCost } from "../../judge/exact-cost.ts";
import { cannot, must, show } from "../../judge/finding.ts";
import { isRecord, listAt, mustRefuse, numberAt, textAt, usageOf, valueAt } from "../../judge/read.ts";
import type { Answer } from "../../wire/answer.ts";
import { steps, unknownId } from "./requests.ts";

const unknown = { status: 404, code: "request_not_found", param: "request_id" };

/** Demands an answer of status 200 in the form of the schema. */
function mustShow(answer: Answer, schema: "Receipt" | "KeyState"): unknown {
  must(answer.status === 200, answer, "status 200", answer.summary);
  const [fault] = faultsOf(schema, answer.json);
  must(fault === undefined, answer, `a body of the schema ${schema}`, fault ?? "");
  return answer.json;
}

const isDecimal = (text: string): boolean => /^[0-9]+(\.[0-9]+)?$/.test(text);

/** The receipts of a whole answer and of a stream, each with its answer. */
const receiptsOf = (context: Context): readonly (readonly [asked: Answer, receipt: Answer])[] => {
  const receipts = context.answers("receipts");
  return context.answers("answers with receipts").flatMap((asked, index) => {
    const receipt = receipts[index];
    return receipt ? [[asked, receipt] as const] : [];
  });
};

const budgetsOf = (answer: Answer): readonly Record<string, unknown>[] =>
  listAt(answer.json, "/budgets").filter(isRecord);

/** Demands a budget with a raise that is at most the whole budget and ends in the future. */
function mustShowRaise(answer: Answer, budgets: readonly Record<string, unknown>[]): void {
  const raised = budgets.find((budget) => budget["raised_usd"] !== undefined);
  must(raised !== undefined, answer, "a budget with raised_usd", `the budgets ${show(budgets)}`);
  const { raised_usd: usd, limit_usd: limit, raised_until: until } = raised;
  must(Number(usd) <= Number(limit), answer, `a limit_usd of at least ${show(usd)}`, `limit_usd ${show(limit)}`);
  const isLater = Date.parse(String(until)) > Date.parse(answer.exchange.startedAt);
  must(isLater, answer, "a raised_until in the future", `raised_until ${show(until)}`);
}

const receiptChecks: readonly Check[] = [
  checkOf(
    "ACCT-01",
    "Compares the receipts of an answer and of a stream with their usage.",
    ["receipts"],
    (context) => {
      for (const [asked, receipt] of receiptsOf(context)) {
        mustShow(receipt, "Receipt");
        const usage = usageOf(asked);
        const members = ["prompt_tokens", "completion_tokens", "total_tokens", "completion_tokens_details"];
        for (const member of [...members, "prompt_tokens_details"]) {
          const [found, wanted] = [valueAt(receipt.json, `/usage/${member}`), valueAt(usage, `/${member}`)];
          must(
            JSON.stringify(found) === JSON.stringify(wanted),
            receipt,
            `usage.${member} ${show(wanted)}`,
            `usage.${member} ${show(found)}`,
          );
        }
        const [cost, wanted] = [textAt(receipt.json, "/cost_usd"), textAt(usage, "/cost_usd")];
        must(cost !== undefined && cost === wanted, receipt, `cost_usd ${show(wanted)}`, `cost_usd ${show(cost)}`);
      }
      return `${receiptsOf(context).length} receipts`;
    },
  ),
  checkOf(
    "ACCT-02",
    "Asks for the receipt of an id that no request has.",
    ["an unknown receipt", "receipts"],
    (context) => {
      const seen = mustRefuse(context.answer("an unknown receipt"), unknown);
      return context.answer("receipts").status === 200 ? seen : cannot("not even an answered request has a receipt");
    },
  ),
  checkOf(
    "ACCT-03",
    "Asks with another key, and compares the answer with that to an unknown id.",
    ["a receipt of another key", "receipts"],
    (context) => {
      const [foreign, none] = context.answers("a receipt of another key");
      if (!foreign || !none) cannot("the requests were not answered");
      if (context.answer("receipts").status !== 200) cannot("not even the own key gets the receipt");
      const seen = mustRefuse(foreign, unknown);
      const id = decodeURIComponent(foreign.exchange.request.target.split("/").at(-1) ?? "");
      const [own, other] = [
        (textAt(foreign.json, "/error/message") ?? "").replaceAll(id, ""),
        (textAt(none.json, "/error/message") ?? "").replaceAll(unknownId, ""),
      ];
      must(own === other, foreign, `the message ${show(other)}`, `the message ${show(own)}`);
      return seen;
    },
  ),
  checkOf(
    "ACCT-04",
    "Asks for the receipt of a request that was refused.",
    ["the receipt of a refusal", "receipts"],
    (context) => {
      const seen = mustRefuse(context.answer("the receipt of a refusal"), unknown);
      return context.answer("receipts").status === 200 ? seen : cannot("not even an answered request has a receipt");
    },
  ),
  checkOf("ACCT-05", "Computes the cost of the receipts from their tokens and prices.", ["receipts"], (context) => {
    for (const [, receipt] of receiptsOf(context)) {
      must(isRecord(valueAt(receipt.json, "/pricing")), receipt, "a receipt with its prices", receipt.summary);
      const wanted = exactCost(receipt.json, {
        prompt: numberAt(receipt.json, "/usage/prompt_tokens"),
        cached: numberAt(receipt.json, "/usage/prompt_tokens_details/cached_tokens") || 0,
        completion: numberAt(receipt.json, "/usage/completion_tokens"),
      });
      const cost = textAt(receipt.json, "/cost_usd") ?? "";
      const isExact = isDecimal(cost) && decimalSum(cost) === wanted;
      must(isExact, receipt, `cost_usd ${wanted}`, `cost_usd ${show(cost)}`);
    }
    return `${receiptsOf(context).length} receipts`;
  }),
];

const keyChecks: readonly Check[] = [
  checkOf("ACCT-06", "Compares the limits of the own key with the headers beside them.", ["the own key"], (context) => {
    const answer = context.answer("the own key");
    mustShow(answer, "KeyState");
    for (const kind of ["requests", "tokens"]) {
      const [body, header] = [
        numberAt(answer.json, `/limits/${kind}/limit`),
        answer.header(`x-ratelimit-limit-${kind}`),
      ];
      must(String(body) === header, answer, `limits.${kind}.limit ${show(header)}`, `limits.${kind}.limit ${body}`);
    }
    return "two limits";
  }),
  checkOf(
    "ACCT-07",
    "Uses up the requests of a key, and asks for its state and for a receipt many times.",
    ["the own key, its requests used up"],
    (context) => {
      const answers = context.answers("the own key, its requests used up");
      for (const answer of answers)
        must([200, 404].includes(answer.status ?? 0), answer, "status 200, or 404 for a receipt", answer.summary);
      return `${answers.length} requests beyond the limit`;
    },
  ),
  checkOf(
    "ACCT-08",
    "Asks for the state of a key whose budget is spent.",
    ["the own key, its budget spent"],
    (context) => {
      const answer = context.answer("the own key, its budget spent");
      mustShow(answer, "KeyState");
      const spent = budgetsOf(answer).find((budget) => budget["remaining_usd"] === "0");
      must(spent !== undefined, answer, "a budget of which 0 is left", `the budgets ${show(budgetsOf(answer))}`);
      return `${show(spent["limit_usd"])} spent`;
    },
  ),
  checkOf(
    "ACCT-09",
    "Reads when the budgets of the keys start again.",
    ["the own key", "the own key, its budget spent"],
    (context) => {
      const keys = ["the own key", "the own key, its budget spent"].filter((step) => context.wasSent(step));
      const budgets = keys.flatMap((step) =>
        budgetsOf(context.answer(step)).map((one) => [context.answer(step), one] as const),
      );
      for (const [answer, budget] of budgets) {
        const named = ["period", "time_zone", "resets_at"].filter((name) => budget[name] !== undefined);
        must(named.length % 3 === 0, answer, "period, time_zone and resets_at together", `only ${named.join(", ")}`);
        const endsMs = Date.parse(String(budget["resets_at"]));
        const isLater = named.length === 0 || endsMs > Date.parse(answer.exchange.startedAt);
        must(isLater, answer, "a resets_at in the future", `resets_at ${show(budget["resets_at"])}`);
      }
      return budgets.length > 0 ? `${budgets.length} budgets` : cannot("no key of the profile has a budget");
    },
  ),
  checkOf(
    "ACCT-10",
    "Asks for the state of a key with a raised budget, and sends a request that it does not pay for.",
    ["a raised budget"],
    (context) => {
      const [state, refusal] = context.answers("a raised budget");
      if (!state || !refusal) cannot("the requests were not answered");
      mustShow(state, "KeyState");
      mustRefuse(refusal, { status: 402, code: "insufficient_quota" });
      mustShowRaise(state, budgetsOf(state));
      mustShowRaise(refusal, [valueAt(refusal.json, "/error/details/budget")].filter(isRecord));
      return "a raise and its end, twice";
    },
  ),
];

export const acct: TestGroup = { steps, checks: [...receiptChecks, ...keyChecks] };
