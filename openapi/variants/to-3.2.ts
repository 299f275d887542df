import { valueAt } from "@parley/contract/document";
import type { JsonObject } from "@parley/contract/document";

/**
 * Returns the OpenAPI 3.2 form of the contract, for documentation and fuzzing. 3.2 can say that an answer is a sequence of
 * items (`itemSchema`), which 3.1 cannot. 3.1 stays the canonical version, because validators and type generators read it.
 */
export function to32(contract: JsonObject): JsonObject {
  const newer = { ...structuredClone(contract), openapi: "3.2.0" };
  const pointer = "/paths/~1v1~1chat~1completions/post/responses/200/content/text~1event-stream";
  const stream = valueAt(newer, pointer) as JsonObject; // the tests of the contract demand it
  // The schema of one event becomes the schema of each item of the stream.
  stream["itemSchema"] = { $ref: "#/components/schemas/ServerSentEvent" };
  delete stream["schema"];
  // They are the data of single events. `x-transcripts` has whole streams.
  delete stream["examples"];
  return newer;
}
