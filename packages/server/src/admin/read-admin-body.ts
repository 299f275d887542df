import type { IncomingMessage } from "node:http";
import { ManageError } from "../accounts/manage/manage-error.ts";
import { explainJson } from "../http/explain-json.ts";

export const maxBodyBytes = 65_536;
/** Maximum depth of arrays and objects. The deepest valid body has three levels. */
const maxLevels = 32;

/**
 * Reads a body as JSON. Each name may occur once in an object: readers differ in which of two values they take.
 * @returns undefined if the request has no body
 * @throws {ManageError} `invalid_json`, `request_too_large` or `unsupported_media_type`
 */
export async function readAdminBody(req: IncomingMessage): Promise<unknown> {
  const { "content-length": length, "transfer-encoding": coding, "content-encoding": compression } = req.headers;
  if (coding === undefined && (length === undefined || Number(length) === 0)) return undefined;
  if (!/^application\/json\s*(;|$)/i.test(req.headers["content-type"] ?? ""))
    throw new ManageError("unsupported_media_type", "Send the body with Content-Type: application/json.");
  if (compression !== undefined && compression !== "identity")
    throw new ManageError("unsupported_media_type", "Send the body without a content coding.");
  if (Number(length ?? 0) > maxBodyBytes) throw tooLarge();
  const text = await readText(req);
  const value = parse(text);
  assertShallow(value, 0);
  if (countColons(text) > countMembers(value))
    throw new ManageError("invalid_json", "The body has a member twice. Send each name once.");
  return value;
}

/** Returns the number of members that a JSON text has, also of those that have the same name. */
const countColons = (text: string): number => text.replaceAll(/"(?:[^"\\]|\\.)*"/g, "").split(":").length - 1;

/** Returns the number of members of a value and of the values in it. */
function countMembers(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  const members = Object.values(value);
  const inner = members.reduce((sum: number, member) => sum + countMembers(member), 0);
  return Array.isArray(value) ? inner : members.length + inner;
}

const tooLarge = (): ManageError =>
  new ManageError("request_too_large", `The body has more than ${maxBodyBytes} bytes.`);

async function readText(req: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of req as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBodyBytes) throw tooLarge();
    chunks.push(chunk);
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks));
  } catch {
    throw new ManageError("invalid_json", "The body is not valid UTF-8.");
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new ManageError("invalid_json", explainJson(error));
  }
}

function assertShallow(value: unknown, level: number): void {
  if (level > maxLevels) throw new ManageError("invalid_json", `The body is nested deeper than ${maxLevels} levels.`);
  if (typeof value !== "object" || value === null) return;
  for (const member of Object.values(value)) assertShallow(member, level + 1);
}
