import type { Step } from "../../judge/check.ts";
import type { Context } from "../../judge/context.ts";
import { cannot } from "../../judge/finding.ts";
import { mustRefuse } from "../../judge/read.ts";
import { ask, authorized, chat } from "../../requests/chat-request.ts";
import type { Part } from "../../requests/combined-request.ts";
import { needsKey, unknownKey } from "../../requests/keys.ts";
import { modelId } from "../../requests/listed-model.ts";
import { refusals } from "../../requests/refusals.ts";
import type { Header } from "../../wire/ask.ts";

/** Where a clause says that a key is refused, and other clauses how. */
export const unauthorizedOnly = { status: 401 };
const refused = { status: 401, code: "invalid_api_key", param: null };
const miracles: Header = ["Expect", "miracles"];
const basic: Header = ["Authorization", "Basic {key}"];
const bearer = (value: string): Header => ["Authorization", `Bearer ${value}`];
const models = ({ profile }: Context): string => `${profile.basePath}/models`;

export const plans = refusals([
  {
    clause: "AUTH-01",
    want: refused,
    cases: [
      {
        title: "no Authorization",
        ask: (context) => ask(context, "GET", models(context), []),
        shownBy: "AUTH-06 the key in the query string",
      },
    ],
  },
  {
    clause: "AUTH-02",
    want: refused,
    cases: [
      {
        title: "an unknown key",
        ask: (context) => chat(context, { stream: true }, { headers: [bearer(unknownKey)] }),
        shownBy: "a wrong key before its body",
      },
      { title: "a key with a letter more", ask: (context) => ask(context, "GET", models(context), [bearer("{key}x")]) },
    ],
  },
  {
    clause: "AUTH-04",
    want: refused,
    cases: [
      {
        title: "Basic",
        ask: (context) => ask(context, "GET", models(context), [basic]),
        shownBy: "Basic for a record",
      },
      { title: "no scheme", ask: (context) => ask(context, "GET", models(context), [["Authorization", "{key}"]]) },
      {
        title: "a scheme alone",
        ask: (context) => ask(context, "GET", models(context), [["Authorization", "Bearer"]]),
      },
      { title: "two words", ask: (context) => ask(context, "GET", models(context), [bearer("{key} {key}")]) },
    ],
  },
  {
    clause: "AUTH-05",
    want: refused,
    cases: [
      {
        title: "two headers, one of them right",
        ask: (context) => ask(context, "GET", models(context), [bearer("{key}"), bearer(unknownKey)]),
      },
      {
        title: "the right one twice",
        ask: (context) => ask(context, "GET", models(context), [bearer("{key}"), bearer("{key}")]),
      },
    ],
  },
  {
    clause: "AUTH-06",
    want: unauthorizedOnly,
    cases: [
      {
        title: "the key in the query string",
        ask: (context) =>
          ask(
            context,
            "GET",
            `${models(context)}?api_key={key}&key={key}&access_token={key}&token={key}&authorization=Bearer%20{key}`,
            [],
          ),
      },
    ],
  },
  {
    clause: "AUTH-11",
    want: unauthorizedOnly,
    cases: [
      {
        title: "another method of a path that is not there",
        ask: (context) =>
          ask(context, "DELETE", `${context.profile.basePath}/conformance-nothing`, [bearer(unknownKey)]),
        shownBy: "a wrong key among other faults",
      },
      {
        title: "another method of the listing",
        ask: (context) => ask(context, "PUT", models(context), [bearer(unknownKey)]),
      },
    ],
  },
]);

export const steps: readonly Step[] = [
  {
    name: "Basic for a record",
    needs: ["models"],
    asks: (context) => [ask(context, "GET", `${models(context)}/${modelId(context)}`, [basic])],
  },
  {
    name: "a wrong key before its body",
    needs: ["models"],
    asks: (context) => [
      chat(
        context,
        { stream: true },
        { headers: [bearer(unknownKey)], manner: { holdBackBytes: 40, deadlineMs: 8000 } },
      ),
    ],
  },
  {
    name: "a wrong key among other faults",
    asks: (context) => [
      ask(context, "DELETE", `${context.profile.basePath}/conformance-nothing`, [bearer(unknownKey), miracles]),
    ],
  },
  {
    name: "Expect with a wrong key",
    needs: ["a wrong key among other faults"],
    shownBy: (context) => {
      mustRefuse(context.answer("a wrong key among other faults"), unauthorizedOnly);
      return "a wrong key among other faults";
    },
    asks: (context) => [ask(context, "GET", models(context), [bearer(unknownKey), miracles])],
  },
  {
    name: "Expect with the key",
    asks: (context) =>
      context.profile.isThorough
        ? [ask(context, "GET", models(context), [authorized, miracles])]
        : cannot("left out of a short run"),
  },
  {
    name: "expired and disabled",
    needs: ["models"],
    asks: (context) =>
      (["expired", "disabled"] as const).map((key) => {
        needsKey(context, key);
        return chat(context, {}, { key });
      }),
  },
];

/** What is accepted, as parts of a request that several clauses share. */
export const accepted: readonly Part[] = [
  { clause: "AUTH-07", how: "Writes the scheme in mixed letters.", headers: [["Authorization", "bEaReR {key}"]] },
];
