import type { Check } from "../../judge/check.ts";
import { must, showHeader } from "../../judge/finding.ts";
import { isCompletion, sentBody } from "../../judge/read.ts";
import { clientId, sentHeader } from "../../requests/client-headers.ts";
import type { Answer } from "../../wire/answer.ts";

const answered = (answers: readonly Answer[]): Answer[] => answers.filter((answer) => answer.status !== undefined);

/** Requests that make a scripted engine fail. The cause is not a fault of the request. */
const isScripted = (answer: Answer): boolean => JSON.stringify(sentBody(answer)["messages"] ?? "").includes("script:");

/** Rules that every answer has to keep. */
export const everyAnswerChecks: readonly Check[] = [
  {
    clause: "HTTP-01",
    how: "Asks for JSON with an Accept for events, and for events with an Accept for JSON.",
    uses: ["plain with Accept", "stream"],
    judge: (context) => {
      const seen = (["plain with Accept", "stream"] as const).map((step) => {
        const answer = context.answer(step);
        const wanted = step === "plain with Accept" ? "application/json" : "text/event-stream";
        must(answer.status === 200 && answer.mediaType === wanted, answer, `status 200 as ${wanted}`, answer.summary);
        return wanted;
      });
      return seen.join(" and ");
    },
  },
  {
    clause: "HTTP-28",
    how: "Looks for a 500 among the answers to every odd request of the run.",
    uses: ["models", "odd values", "lower bounds and extras"],
    judge: (context) => {
      const asked = context.all.filter((answer) => !isScripted(answer));
      const odd = asked.find(({ status }) => status === 500);
      must(odd === undefined, odd, "no status 500 for a mistake of the caller", odd?.summary ?? "");
      const broken = asked.find((answer) => answer.name.startsWith("odd values") && answer.status === undefined);
      must(broken === undefined, broken, "an HTTP answer to every request", broken?.summary ?? "");
      return answered(asked).some(isCompletion) ? `none in ${asked.length} answers` : "";
    },
  },
  {
    clause: "HTTP-29",
    how: "Reads x-request-id of every answer and looks for one that comes twice.",
    uses: ["models", "plain", "HTTP-02 DELETE of createChatCompletion", "AUTH-01 no Authorization"],
    judge: (context) => {
      const seen = new Map<string, Answer>();
      for (const answer of answered(context.all)) {
        const id = answer.header("x-request-id") ?? "";
        must(id !== "", answer, "the header x-request-id", "no such header");
        must(
          !seen.has(id),
          answer,
          "an x-request-id of its own",
          `the x-request-id ${id} of "${seen.get(id)?.name}" again`,
        );
        seen.set(id, answer);
      }
      return seen.size > 1 ? `${seen.size} different ones` : "";
    },
  },
  {
    clause: "HTTP-30",
    how: "Sends an x-request-id of its own.",
    uses: ["plain with x-request-id"],
    judge: (context) => {
      const answer = context.answer("plain with x-request-id");
      const id = answer.header("x-request-id");
      must(id !== undefined, answer, "the header x-request-id, made by the server", "no such header");
      must(
        id !== sentHeader(answer, "x-request-id"),
        answer,
        "another x-request-id than the one that the caller sent",
        `the header x-request-id: ${id}`,
      );
      return `${id} instead of the caller's`;
    },
  },
  {
    clause: "HTTP-31",
    how: "Sends an X-Client-Request-Id of 512 characters and expects it back.",
    uses: ["plain with X-Client-Request-Id"],
    judge: (context) => {
      const answer = context.answer("plain with X-Client-Request-Id");
      must(
        answer.header("x-client-request-id") === clientId,
        answer,
        "the header X-Client-Request-Id with the value that the caller sent",
        showHeader(answer, "x-client-request-id"),
      );
      return `${clientId.length} characters echoed`;
    },
  },
];
