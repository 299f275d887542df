import type { Mutant } from "../reference/mutant.ts";
import { replied, streamed, withHeaders } from "../seeded-bugs/mutate.ts";
import { unseen } from "./fault.ts";
import type { UnseenFault } from "./fault.ts";

const spelled = (spell: (data: string) => string): Mutant =>
  streamed((data) => [{ raw: spell(typeof data === "string" ? data : JSON.stringify(data)) }]);

/** Faults in the lines of a stream and in its media type. */
export const streamLineFaults: readonly UnseenFault[] = [
  unseen(
    "events are separated by one line end",
    spelled((data) => `data: ${data}\n`),
  ),
  unseen(
    "the prefix data: comes twice",
    spelled((data) => `data: data: ${data}\n\n`),
  ),
  unseen(
    "events without the prefix data:",
    spelled((data) => `${data}\n\n`),
  ),
  unseen("a stream as JSON lines", {
    ...spelled((data) => `${data}\n`),
    ...withHeaders((headers) =>
      "x-accel-buffering" in headers ? { ...headers, "content-type": "application/x-ndjson" } : headers,
    ),
  }),
  unseen(
    "a stream as text/plain",
    withHeaders((headers) =>
      headers["content-type"] === "text/event-stream" ? { ...headers, "content-type": "text/plain" } : headers,
    ),
  ),
  unseen(
    "a stream as one JSON array",
    replied((reply) =>
      reply.headers["content-type"] === "text/event-stream"
        ? { headers: { ...reply.headers, "content-type": "application/json" } }
        : {},
    ),
  ),
  unseen("keep-alives are events without choices", {
    stream: async function* (events) {
      for await (const event of events) {
        yield event;
        yield { raw: 'data: {"choices":[]}\n\n' };
      }
    },
  }),
  unseen(
    "a byte order mark begins every event",
    spelled((data) => `data: \ufeff${data}\n\n`),
  ),
  unseen(
    "every event has an event name",
    spelled((data) => `event: completion\ndata: ${data}\n\n`),
  ),
];
