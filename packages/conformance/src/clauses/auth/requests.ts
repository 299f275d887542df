import type { Step } from "../../judge/check.ts";
import type { Context } from "../../judge/context.ts";
import { cannot } from "../../judge/finding.ts";
import { mustRefuse } from "../../judge/read.ts";
import { httpRequest, authorized, chat } from "../../requests/chat-request.ts";
import type { Part } from "../../requests/combined-request.ts";
import { needsKey, unknownKey } from "../../requests/keys.ts";
import { modelId } from "../../requests/listed-model.ts";
import { refusals } from "../../requests/refusals.ts";
import type { Header } from "../../wire/http-request.ts";

/** For clauses that demand a refusal and leave its form to other clauses. */
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
        request: (context) => httpRequest(context, "GET", models(context), []),
        coveredBy: "AUTH-06 the key in the query string",
      },
    ],
  },
  {
    clause: "AUTH-02",
    want: refused,
    cases: [
      {
        title: "an unknown key",
        request: (context) => chat(context, { stream: true }, { headers: [bearer(unknownKey)] }),
        coveredBy: "a wrong key before its body",
      },
      {
        title: "a key with a letter more",
        request: (context) => httpRequest(context, "GET", models(context), [bearer("{key}x")]),
      },
    ],
  },
  {
    clause: "AUTH-04",
    want: refused,
    cases: [
      {
        title: "Basic",
        request: (context) => httpRequest(context, "GET", models(context), [basic]),
        coveredBy: "Basic for a record",
      },
      {
        title: "no scheme",
        request: (context) => httpRequest(context, "GET", models(context), [["Authorization", "{key}"]]),
      },
      {
        title: "a scheme alone",
        request: (context) => httpRequest(context, "GET", models(context), [["Authorization", "Bearer"]]),
      },
      {
        title: "two words",
        request: (context) => httpRequest(context, "GET", models(context), [bearer("{key} {key}")]),
      },
    ],
  },
  {
    clause: "AUTH-05",
    want: refused,
    cases: [
      {
        title: "two headers, one of them right",
        request: (context) => httpRequest(context, "GET", models(context), [bearer("{key}"), bearer(unknownKey)]),
        coveredBy: "two keys among other faults",
      },
      {
        title: "the right one twice",
        request: (context) => httpRequest(context, "GET", models(context), [bearer("{key}"), bearer("{key}")]),
      },
    ],
  },
  {
    clause: "AUTH-06",
    want: unauthorizedOnly,
    cases: [
      {
        title: "the key in the query string",
        request: (context) =>
          httpRequest(
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
        request: (context) =>
          httpRequest(context, "DELETE", `${context.profile.basePath}/conformance-nothing`, [bearer(unknownKey)]),
        coveredBy: "two keys among other faults",
      },
      {
        title: "a path that is not there, without a key",
        request: (context) => httpRequest(context, "GET", `${context.profile.basePath}/conformance-nothing`, []),
        isAlways: true,
      },
      {
        title: "another method of the listing",
        request: (context) => httpRequest(context, "PUT", models(context), [bearer(unknownKey)]),
      },
    ],
  },
]);

export const steps: readonly Step[] = [
  {
    name: "Basic for a record",
    needs: ["models"],
    requests: (context) => [httpRequest(context, "GET", `${models(context)}/${modelId(context)}`, [basic])],
  },
  {
    name: "a wrong key before its body",
    needs: ["models"],
    requests: (context) => [
      chat(
        context,
        { stream: true },
        { headers: [bearer(unknownKey)], behaviour: { holdBackBytes: 40, deadlineMs: 8000 } },
      ),
    ],
  },
  {
    name: "two keys among other faults",
    requests: (context) => {
      const headers = [bearer("{key}"), bearer(unknownKey), miracles];
      return [httpRequest(context, "DELETE", `${context.profile.basePath}/conformance-nothing`, headers)];
    },
  },
  {
    name: "Expect with a wrong key",
    needs: ["two keys among other faults"],
    coveredBy: (context) => {
      mustRefuse(context.answer("two keys among other faults"), unauthorizedOnly);
      return "two keys among other faults";
    },
    requests: (context) => [httpRequest(context, "GET", models(context), [bearer(unknownKey), miracles])],
  },
  {
    name: "Expect with the key",
    requests: (context) =>
      context.profile.isExhaustive
        ? [httpRequest(context, "GET", models(context), [authorized, miracles])]
        : cannot("left out of a short run"),
  },
  {
    name: "expired and disabled",
    needs: ["models"],
    requests: (context) =>
      (["expired", "disabled"] as const).map((key) => {
        needsKey(context, key);
        return chat(context, {}, { key });
      }),
  },
];

/** Valid members and headers: parts of a request that several clauses share. */
export const accepted: readonly Part[] = [
  { clause: "AUTH-07", how: "Writes the scheme in mixed letters.", headers: [["Authorization", "bEaReR {key}"]] },
];
