import { envelope, event, reply, requestId, stream } from "../answers.ts";
import type { Serve } from "../scripted-server.ts";
import { both, broken, describeAnswer, givesError, show } from "../clause.ts";
import type { Case, ClientClause } from "../clause.ts";

const refuse =
  (status: number, body: object | string, headers: Readonly<Record<string, string>> = {}): Serve =>
  (_request, wire) =>
    reply(wire, status, body, { "x-should-retry": "false", ...headers });

const hasStatus =
  (status: number): Case["judge"] =>
  ({ answer }) =>
    answer.error?.status === status
      ? undefined
      : broken(`an error with the field status = ${status}`, describeAnswer(answer));

const hasMessage =
  (message: string): Case["judge"] =>
  ({ answer }) =>
    answer.error?.message?.includes(message)
      ? undefined
      : broken(`an error with the message ${show(message)}`, describeAnswer(answer));

const messageOf = (body: object): string => (body as { readonly error: { readonly message: string } }).error.message; // an envelope

const refused = (status: number, code: string, task: Case["task"] = {}): Case => {
  const body = envelope(status, code);
  return {
    name: `${status}${task.call === "stream" ? ", stream" : ""}`,
    task: { maxRetries: 0, ...task },
    serve: refuse(status, body),
    judge: both(hasStatus(status), hasMessage(messageOf(body))),
  };
};

const strange = (name: string, status: number, body: object | string, type: string, task: Case["task"] = {}): Case => ({
  name,
  task: { maxRetries: 0, ...task },
  serve: refuse(status, body, { "content-type": type }),
  judge: both(givesError, hasStatus(status)),
});

const detailed = (name: string, member: "code" | "param" | "requestId", wanted: string): Case => ({
  name,
  task: { maxRetries: 0 },
  serve: refuse(404, envelope(404, "model_not_found", "model")),
  judge: ({ answer: { error } }) =>
    error?.[member] === wanted
      ? undefined
      : broken(`${member} = ${show(wanted)} as a field of the error`, show(error?.[member])),
});

export const errorClauses: readonly ClientClause[] = [
  {
    id: "CLNT-27",
    keyword: "MUST",
    sentence: "A refusal is an error that has the status as a field and the server's message in its own.",
    why: "The program cannot tell a wrong key from a spent budget, and its user cannot read what to change.",
    comply: "Make one error class with the status, and put `error.message` of the body into its message.",
    cases: [
      refused(400, "context_length_exceeded"),
      refused(401, "invalid_api_key"),
      refused(402, "insufficient_quota"),
      refused(404, "model_not_found"),
      refused(413, "request_too_large"),
      refused(429, "rate_limit_exceeded"),
      refused(404, "model_not_found", { call: "stream" }),
    ],
  },
  {
    id: "CLNT-28",
    keyword: "SHOULD",
    sentence: "An error gives `code`, `param` and the request id to programs, also if it came in a stream.",
    why: "Programs search in messages, which change. Operators cannot find the request in their logs.",
    comply: "Copy the members of `error` and the header `x-request-id` into fields.",
    cases: [
      detailed("code", "code", "model_not_found"),
      detailed("param", "param", "model"),
      detailed("request id", "requestId", requestId),
      {
        name: "code in a stream",
        task: { call: "stream", maxRetries: 0 },
        serve: (_request, wire) => stream(wire, event(JSON.stringify(envelope(502, "upstream_error")))),
        judge: ({ answer: { error } }) =>
          error?.code === "upstream_error"
            ? undefined
            : broken('code = "upstream_error" as a field of the error', show(error?.code ?? error)),
      },
    ],
  },
  {
    id: "CLNT-29",
    keyword: "MUST",
    sentence: "A refusal whose body is a web page, empty or other JSON is still an error with its status.",
    why: "Behind a proxy, users read about a JSON parser instead of 502.",
    comply: "Build the error from the status first. Read the body only if it is what you expect.",
    cases: [
      strange("web page", 502, "<html><h1>502 Bad Gateway</h1></html>", "text/html"),
      strange("empty", 503, "", "text/plain"),
      strange("empty, stream", 503, "", "text/plain", { call: "stream" }),
      strange("detail", 400, { detail: [{ msg: "x" }] }, "application/json"),
      strange("error as text", 400, { error: "no" }, "application/json"),
      strange("list", 400, "[]", "application/json"),
      strange("half of JSON", 400, '{"error":{"mess', "application/json"),
    ],
  },
];
