import { catalog, clauseOf, edgeStatuses, faultsOf, limit } from "../../contract/contract.ts";
import type { TestGroup, Check, Step } from "../../judge/check.ts";
import type { Context } from "../../judge/context.ts";
import { cannot, must, show, showHeader } from "../../judge/finding.ts";
import { valueAt, isCompletion, isRecord, mustRefuse, textAt } from "../../judge/read.ts";
import { chat } from "../../requests/chat-request.ts";
import { engineSecrets } from "../../scenarios.ts";
import type { Answer } from "../../wire/answer.ts";

/** Requests that fail for different reasons. Every other failure of the run is judged, too. */
const uses = [
  "AUTH-01 no Authorization",
  "HTTP-05 DELETE of a path that is not there",
  "REQ-01 messages nothing",
  "REQ-08 max_completion_tokens 1.5",
  "MODL-12 an unknown id",
  "several faults",
  "plain",
];

const failures = (context: Context): readonly Answer[] => {
  const failed = context.all.filter(
    ({ status, exchange }) => status !== undefined && status >= 400 && exchange.request.method !== "HEAD",
  );
  if (context.profile.isKeyless !== true && !isCompletion(context.answer("plain")))
    cannot("the plain request was not accepted, so no failure shows anything");
  return failed.length > 2 ? failed : cannot("no request was refused");
};

/** The failures of the requests that SDKs send, without those that no SDK causes, such as an unknown path. */
const failuresOfCalls = (context: Context): readonly Answer[] =>
  failures(context).filter(({ status, exchange: { request } }) => {
    const [path = ""] = request.target.split("?");
    const isCall =
      (request.method === "POST" && path === `${context.profile.basePath}/chat/completions`) ||
      (request.method === "GET" && path.startsWith(`${context.profile.basePath}/models`));
    return isCall && request.raw === undefined && ![405, 413, 415, 417].includes(status ?? 0);
  });

const errorOf = (answer: Answer): unknown => valueAt(answer.json, "/error");

const checkFailures = (
  clause: string,
  how: string,
  faultOf: (answer: Answer) => string | undefined,
  expected = clauseOf.get(clause)?.sentence ?? "",
  isForSdks = false,
): Check => {
  const judgeOf = (failuresIn: typeof failures) => (context: Context) => {
    for (const answer of failuresIn(context)) {
      const fault = faultOf(answer);
      must(fault === undefined, answer, expected, fault ?? "");
    }
    return `${failuresIn(context).length} errors`;
  };
  return { clause, how, uses, judge: judgeOf(failures), ...(isForSdks && { common: judgeOf(failuresOfCalls) }) };
};

const hasParam = (answer: Answer): boolean => typeof valueAt(errorOf(answer), "/param") === "string";
const path = /^[^.[\]/]+(?:\[\d+\]|\.[^.[\]]+)*$/;

const inner = [
  "MSG-14 a text part without text",
  "MSG-12 an image",
  "MSG-13 an unknown kind of part",
  "MSG-02 the role critic",
] as const;

/** The deepest path of each fault. */
const deepest: Readonly<Record<(typeof inner)[number], string>> = {
  "MSG-14 a text part without text": "messages[1].content[1].text",
  "MSG-12 an image": "messages[1].content[1].type",
  "MSG-13 an unknown kind of part": "messages[1].content[1].type",
  "MSG-02 the role critic": "messages[1].role",
};

/** The same fault without and with `stream`. A short run has one pair: it sends the others as streams only. */
function pairsOf(context: Context): readonly (readonly Answer[])[] {
  const both = (...steps: readonly string[]): readonly Answer[] => steps.map((step) => context.answer(step));
  return [
    ...(context.wasSent("a bad stream") ? [context.answers("a bad stream")] : []),
    ...(context.wasSent("too long a prompt") ? [both("too long a prompt", "too long a prompt, streamed")] : []),
    both("MODL-12 an unknown id", "MODL-12 an unknown id, streamed"),
  ];
}

const checks: readonly Check[] = [
  checkFailures("ERR-01", "Holds the body of every failure to the envelope.", (answer) => {
    const { json } = answer;
    const isEnvelope =
      isRecord(json) && isRecord(valueAt(json, "/error")) && typeof valueAt(json, "/request_id") === "string";
    return isEnvelope ? undefined : answer.summary;
  }),
  {
    clause: "ERR-01",
    how: "Looks for an object `error` with a message in every failure.",
    uses,
    judge: (context) => `${failures(context).length} errors`,
    common: (context) => {
      for (const answer of failuresOfCalls(context))
        must(textAt(errorOf(answer), "/message") !== undefined, answer, "the member error.message", answer.summary);
      return `${failuresOfCalls(context).length} errors`;
    },
  },
  checkFailures("ERR-02", "Reads the four members of every error.", (answer) => {
    const error = errorOf(answer);
    const isText = (name: string): boolean => typeof valueAt(error, `/${name}`) === "string";
    const isRight =
      isText("message") &&
      isText("type") &&
      ["param", "code"].every((name) => isText(name) || valueAt(error, `/${name}`) === null);
    return isRight ? undefined : `the error ${show(error)}`;
  }),
  checkFailures("ERR-03", "Compares request_id with the header.", (answer) => {
    const [id, header] = [valueAt(answer.json, "/request_id"), answer.header("x-request-id")];
    return typeof id === "string" && id === header
      ? undefined
      : `request_id ${show(id)} and ${showHeader(answer, "x-request-id")}`;
  }),
  checkFailures(
    "ERR-04",
    "Reads the media type of every failure.",
    (answer) =>
      answer.mediaType === "application/json"
        ? undefined
        : answer.mediaType === ""
          ? "no Content-Type"
          : `Content-Type ${answer.mediaType}`,
    "an error as application/json",
    true,
  ),
  checkFailures("ERR-05", "Looks status and type of every error up by its code.", (answer) => {
    const error = errorOf(answer);
    const entry = catalog[String(valueAt(error, "/code"))];
    if (!entry) return isRecord(error) ? `an unknown error.code in ${show(error)}` : answer.summary;
    const isEdge = edgeStatuses[String(answer.status)]?.code === valueAt(error, "/code");
    const isRight = (entry.status === answer.status || isEdge) && entry.type === valueAt(error, "/type");
    return isRight
      ? undefined
      : `status ${answer.status} and error.type ${show(valueAt(error, "/type"))} with error.code ${show(valueAt(error, "/code"))}`;
  }),
  checkFailures("ERR-06", "Looks every code up.", (answer) => {
    const faults = faultsOf("ErrorCode", valueAt(errorOf(answer), "/code"));
    return faults.length === 0 ? undefined : `error.code ${show(valueAt(errorOf(answer), "/code"))}`;
  }),
  {
    clause: "ERR-07",
    how: "Sends the same faults streamed and not.",
    uses: ["a bad stream", "MODL-12 an unknown id", "MODL-12 an unknown id, streamed", "too long a prompt", "plain"],
    cases: (context) => ({ tried: pairsOf(context).length, of: 3 }),
    judge: (context) => {
      const pairs = pairsOf(context);
      for (const [whole, streamed] of pairs) {
        if (!whole || !streamed) cannot("not sent");
        const trace = (answer: Answer): string =>
          [
            `status ${answer.status}`,
            ...["type", "code", "param"].map((name) => `${name} ${show(valueAt(errorOf(answer), `/${name}`))}`),
          ].join(", ");
        if (whole.status === undefined || whole.status < 400) cannot(`"${whole.name}" was not refused`);
        must(trace(streamed) === trace(whole), streamed, trace(whole), trace(streamed));
      }
      return isCompletion(context.answer("plain")) ? `${pairs.length} pairs` : cannot("nothing was accepted");
    },
  },
  checkFailures(
    "ERR-08",
    "Searches every failure for a stack, a path of a file, an address, and what the engines of the scenarios say of themselves.",
    (answer) => {
      const text = answer.text;
      const secret = engineSecrets.find(
        (one) => text.includes(one) && !(answer.exchange.request.body ?? "").includes(one),
      );
      const stack =
        /\bat .+ \(?(?:file:\/\/)?\/.+:\d+:\d+|Traceback \(most recent|File ".+", line \d+|node_modules\//.exec(
          text,
        )?.[0];
      const address = /\b(?:\d{1,3}\.){3}\d{1,3}:\d{2,5}\b|\blocalhost:\d+|\bECONNREFUSED\b/.exec(text)?.[0];
      return secret ?? stack ?? address;
    },
    "no stack, path or address of the inside in an error",
  ),
  checkFailures("ERR-09", "Reads the path in every `param`.", (answer) => {
    const param = textAt(errorOf(answer), "/param");
    return param === undefined || path.test(param) ? undefined : `error.param ${show(param)}`;
  }),
  {
    clause: "ERR-09",
    how: "Looks for a path with an index among the errors.",
    uses: [...inner, "plain"],
    judge: (context) => {
      const found = failures(context)
        .filter(hasParam)
        .map((answer) => textAt(errorOf(answer), "/param") ?? "");
      return found.some((param) => /\]\./.test(param))
        ? `${found.length} paths`
        : cannot("no error had a path with an index");
    },
  },
  {
    clause: "ERR-10",
    how: "Sends faults that lie deep, and expects the deepest member as `param`.",
    uses: [...inner, "plain"],
    judge: (context) => {
      const sent = inner.filter((step) => context.has(step));
      for (const step of sent) {
        const answer = context.answer(step);
        must(
          valueAt(errorOf(answer), "/param") === deepest[step],
          answer,
          `error.param ${show(deepest[step])}`,
          `error.param ${show(valueAt(errorOf(answer), "/param"))}`,
        );
      }
      return sent.length > 1 ? `${sent.length} paths` : cannot("too few of them were sent");
    },
  },
  checkFailures("ERR-11", "Reads Link of every failure with a code.", (answer) => {
    if (!isRecord(errorOf(answer))) return "an answer without the member error";
    const link = answer.header("link");
    return link !== undefined &&
      /<[^>]+>\s*;[^,]*rel="?help"?/.test(link) &&
      link.includes(String(valueAt(errorOf(answer), "/code")))
      ? undefined
      : link === undefined
        ? "no header Link"
        : `the header Link: ${link}`;
  }),
  {
    clause: "ERR-12",
    how: "Looks for the name of the member in the message of every error that has a `param`.",
    uses: [...uses, ...inner],
    judge: (context) => {
      const named = failures(context).filter(hasParam);
      for (const answer of named) {
        const [param, message] = [textAt(errorOf(answer), "/param") ?? "", textAt(errorOf(answer), "/message") ?? ""];
        const member =
          param
            .split(".")
            .at(-1)
            ?.replace(/\[\d+\]$/, "") ?? param;
        const isNamed =
          message.toLowerCase().includes(member.toLowerCase()) || (param === "messages" && message.includes("prompt"));
        must(isNamed, answer, `a message that names ${member}`, `the message ${show(message)}`);
      }
      return named.length > 0 ? `${named.length} messages` : cannot("no error named a member");
    },
  },
];

const mostCharacters = limit("errorMessageCharacters");

const steps: readonly Step[] = [
  {
    name: "a member with a very long path",
    needs: ["models"],
    requests: (context) => [chat(context, { logit_bias: { ["9".repeat(2 * mostCharacters)]: 101 } })],
  },
];

const longPaths: Check = {
  clause: "ERR-13",
  how: "Sends a `logit_bias` that is out of its bounds for an id of 4000 digits.",
  uses: ["a member with a very long path", "plain"],
  judge: (context) => {
    const answer = context.answer("a member with a very long path");
    mustRefuse(answer, { status: 400, code: "invalid_value", param: "logit_bias" });
    const { length } = Array.from(textAt(errorOf(answer), "/message") ?? "");
    must(length <= mostCharacters, answer, `a message of at most ${mostCharacters} characters`, `${length} characters`);
    return `a message of ${length} characters`;
  },
};

export const err: TestGroup = { steps, checks: [...checks, longPaths] };
