import { ApiError } from "../errors/api-error.ts";
import contract from "../generated/contract.json" with { type: "json" };
import { fieldPath, itemPath } from "./field-path.ts";
import type { Path } from "./field-path.ts";
import { isRecord } from "./schema.ts";

interface UnsupportedMember {
  /** The name of the member in the body or in a message. */
  readonly name: string;
  /** A sentence that says what to send instead. */
  readonly use: string;
  /** JSON texts of the values that have no effect, and so are accepted. */
  readonly harmless: ReadonlySet<string>;
}

const inMessages = "messages[].";

type Listed = { readonly member: string; readonly use: string; readonly harmless?: readonly unknown[] };

/**
 * Filled at the first request, not at import: while `generate` runs, the generated contract may be older than this file.
 */
let lists:
  | { readonly ofBody: readonly UnsupportedMember[]; readonly ofMessages: readonly UnsupportedMember[] }
  | undefined;

function readLists(): NonNullable<typeof lists> {
  const listed: readonly Listed[] = contract.components.schemas.ChatCompletionRequest["x-unsupported-members"];
  const membersOf = (isInMessages: boolean): readonly UnsupportedMember[] =>
    listed
      .filter(({ member }) => member.startsWith(inMessages) === isInMessages)
      .map(({ member, use, harmless = [] }) => ({
        name: member.replace(inMessages, ""),
        use,
        harmless: new Set(harmless.map((value) => JSON.stringify(value))),
      }));
  return { ofBody: membersOf(false), ofMessages: membersOf(true) };
}

/**
 * Returns the error for the first member, in the contract's order, that other services support and that would change the
 * answer.
 */
export function findUnsupported(body: unknown): ApiError | undefined {
  if (!isRecord(body)) return undefined;
  const { ofBody, ofMessages } = (lists ??= readLists());
  const found = findIn(ofBody, body, "");
  if (found) return found;
  for (const [index, message] of (Array.isArray(body["messages"]) ? body["messages"] : []).entries()) {
    const inMessage = isRecord(message) ? findIn(ofMessages, message, itemPath("messages", index)) : undefined;
    if (inMessage) return inMessage;
  }
  return undefined;
}

function findIn(
  members: readonly UnsupportedMember[],
  owner: Readonly<Record<string, unknown>>,
  path: Path,
): ApiError | undefined {
  for (const { name, use, harmless } of members) {
    const value = owner[name];
    if (value === undefined || value === null || harmless.has(JSON.stringify(value))) continue;
    const param = fieldPath(path, name);
    const message = `${param} is not supported, and the answer would be another one without it. ${use}`;
    return new ApiError("unsupported_parameter", message, { param });
  }
  return undefined;
}
