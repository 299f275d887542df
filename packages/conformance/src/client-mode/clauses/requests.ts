import { answerWhole } from "../answers.ts";
import { broken, headersOf, show } from "../clause.ts";
import type { Case, ClientClause } from "../clause.ts";

const question = 'Tab\t, line\n, "quote", \\, Grüße, 👩‍🚀, \u0085, \u2028, and 日本.';

const judgeKey: Case["judge"] = ({ requests: [request], task }) => {
  const wanted = `Bearer ${task.apiKey}`;
  const given = headersOf(request, "authorization");
  if (given.length !== 1 || given[0] !== wanted)
    return broken("one header `Authorization: Bearer <the key>`", show(given));
  const places = [
    ...(request?.headers ?? []).filter(([name]) => name.toLowerCase() !== "authorization"),
    ["target", request?.target ?? ""] as const,
    ["body", request?.body.toString() ?? ""] as const,
  ];
  const leaks = places.filter(([, value]) => value.includes(task.apiKey)).map(([name]) => name);
  return leaks.length === 0 ? undefined : broken("the key in `Authorization` only", `also in ${leaks.join(", ")}`);
};

/** Accepts a text as a string, or as a list with one part of text. */
const textOf = (content: unknown): unknown => {
  const [first, ...others] = Array.isArray(content) ? (content as { readonly text?: unknown }[]) : []; // only read
  return first !== undefined && others.length === 0 ? first.text : content;
};

const judgeBody: Case["judge"] = ({ requests: [request], task }) => {
  const types = headersOf(request, "content-type");
  if (!/^application\/json\s*(;\s*charset="?utf-8"?\s*)?$/i.test(types.join("|")))
    return broken("`Content-Type: application/json`", show(types));
  try {
    const bytes = request?.body ?? Buffer.alloc(0);
    const body = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes)) as {
      readonly model?: unknown;
      readonly messages?: readonly { readonly role?: unknown; readonly content?: unknown }[];
    }; // only compared
    const sent = [body.model, ...(body.messages ?? []).flatMap(({ role, content }) => [role, textOf(content)])];
    const given = [task.model, ...task.messages.flatMap(({ role, content }) => [role, content])];
    return show(sent) === show(given) && JSON.stringify(sent) === JSON.stringify(given)
      ? undefined
      : broken(`the model and messages ${show(given)}`, show(sent));
  } catch (error) {
    return broken("a body of JSON in UTF-8", String(error));
  }
};

const judgePath: Case["judge"] = ({ requests: [request] }) =>
  request?.method === "POST" && request.target === "/v1/chat/completions"
    ? undefined
    : broken("POST /v1/chat/completions", `${request?.method} ${request?.target}`);

export const requestClauses: readonly ClientClause[] = [
  {
    id: "CLNT-01",
    keyword: "MUST",
    sentence: "The key travels in one header `Authorization: Bearer <key>`, and in no other place.",
    why: "Proxies and servers write URLs and unknown headers to their logs. A key there is a key lost.",
    comply: "Set the header from the key as it was given, and send the key in no URL, body or other header.",
    cases: [
      { name: "create", serve: answerWhole, judge: judgeKey },
      { name: "stream", task: { call: "stream" }, serve: answerWhole, judge: judgeKey },
    ],
  },
  {
    id: "CLNT-02",
    keyword: "MUST",
    sentence:
      "The body is one JSON object in UTF-8 with `Content-Type: application/json`, and its messages are those of the caller.",
    why: "A changed character changes the question, and nobody sees it.",
    comply: "Let a JSON library write the body. Keep order, roles and texts, and give the length in bytes.",
    cases: [
      {
        name: "every kind of character",
        task: {
          messages: [
            { role: "system", content: "Answer briefly." },
            { role: "user", content: question },
            { role: "assistant", content: "\n" },
            { role: "user", content: " Trim nothing. " },
          ],
        },
        serve: answerWhole,
        judge: judgeBody,
      },
      {
        name: "an empty answer in the history",
        task: {
          messages: [
            { role: "user", content: "Say nothing." },
            { role: "assistant", content: "" },
            { role: "user", content: "Thank you." },
          ],
        },
        serve: answerWhole,
        judge: judgeBody,
      },
    ],
  },
  {
    id: "CLNT-03",
    keyword: "MUST",
    sentence: "A base URL leads to the same path with a slash at its end and without.",
    why: "`//chat/completions` is another path, and users get a 404 that looks like a wrong model.",
    comply: "Remove slashes from the end of the base URL before you add the path.",
    cases: [
      { name: "without a slash", serve: answerWhole, judge: judgePath },
      { name: "with a slash", task: { baseUrl: "{base}/" }, serve: answerWhole, judge: judgePath },
    ],
  },
];
