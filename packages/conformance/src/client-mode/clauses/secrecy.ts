import { envelope, reply } from "../answers.ts";
import { broken, describeAnswer } from "../clause.ts";
import type { Case, ClientClause } from "../clause.ts";

const hidesKey: Case["judge"] = ({ answer, task: { apiKey } }) =>
  JSON.stringify(answer).includes(apiKey) ? broken("an error without the key", describeAnswer(answer)) : undefined;

/** The judge also searches everything that the adapter prints in a run for the keys of all cases. */
export const secrecyClause: ClientClause = {
  id: "CLNT-42",
  keyword: "MUST",
  sentence: "The key appears in no line of a log and in no message of an error.",
  why: "Logs are copied into tickets and chats, and the key with them.",
  comply: "Mask the key wherever a request is printed or put into an error.",
  cases: [
    {
      name: "a refusal",
      task: { maxRetries: 0 },
      serve: (_request, wire) => reply(wire, 401, envelope(401, "invalid_api_key")),
      judge: hidesKey,
    },
    { name: "a broken connection", task: { maxRetries: 0 }, serve: (_request, wire) => wire.close(), judge: hidesKey },
  ],
};
