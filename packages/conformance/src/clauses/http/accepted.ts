import type { Check } from "../../judge/check.ts";
import { must, showHeader } from "../../judge/finding.ts";
import { mustNameIgnored } from "../../judge/ignored-params.ts";
import { completionOf, listAt } from "../../judge/read.ts";
import { clientId, sentHeader } from "../../requests/client-headers.ts";
import { combinedChecks } from "../../requests/combined-request.ts";
import type { Part } from "../../requests/combined-request.ts";
import { manyUnknownMembers } from "../../requests/unknown-members.ts";

// Valid requests: parts that several clauses share.

const deep = `"deep":${"[".repeat(127)}${"]".repeat(127)}`;

export const withManyMembers: Part = {
  clause: "HTTP-18",
  how: "Sends 10 000 unknown members, `__proto__` and `constructor`.",
  raw: ['"__proto__":{"x":1}', '"constructor":{"y":2}', manyUnknownMembers],
  judge: (answer) => mustNameIgnored(answer, "__proto__", "constructor"),
};

export const bodies: readonly Part[] = [
  {
    clause: "HTTP-12",
    how: "Declares the charset in capitals.",
    headers: [["Content-Type", "Application/JSON; Charset=UTF-8"]],
  },
  {
    clause: "HTTP-34",
    how: "Names the content coding `identity`.",
    headers: [["Content-Encoding", "identity"]],
  },
  { clause: "HTTP-15", how: "Sends a body of exactly 128 levels.", raw: [deep] },
  {
    clause: "HTTP-17",
    how: "Sends `n` as 2, and again as 1.",
    members: { n: 2 },
    raw: ['"n":1'],
    judge: (answer) => {
      const { length } = listAt(completionOf(answer), "/choices");
      must(length === 1, answer, "one choice, by the last `n`", `${length} choices`);
      return "one choice";
    },
  },
];

/** An invalid X-Client-Request-Id is not echoed, and the request is accepted. */
export const withLongClientId: Part = {
  clause: "HTTP-32",
  how: "Sends an X-Client-Request-Id of 513 characters, and one that is not ASCII.",
  headers: [["X-Client-Request-Id", `${clientId}x`]],
  judge: (answer) => {
    must(
      answer.header("x-client-request-id") === undefined,
      answer,
      "no header X-Client-Request-Id",
      showHeader(answer, "x-client-request-id"),
    );
    return `${sentHeader(answer, "x-client-request-id")?.length} characters dropped`;
  },
};

export const withForeignClientId: Part = { ...withLongClientId, headers: [["X-Client-Request-Id", "caf\u00e9"]] };

export const acceptedChecks: readonly Check[] = [
  ...combinedChecks("lower bounds and extras", [withManyMembers, ...bodies, withLongClientId]),
  ...combinedChecks("nulls and roles", [withForeignClientId]),
];
