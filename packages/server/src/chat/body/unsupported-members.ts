import { ApiError } from "../../errors/api-error.ts";
import contract from "@parley/contract/contract.json" with { type: "json" };
import { fieldPath, itemPath } from "./field-path.ts";
import type { Path } from "./field-path.ts";
import { isRecord } from "@parley/common/is-record";

interface UnsupportedMember {
  /** The name of the member in the body or in a message. */
  readonly name: string;
  /** A sentence that says what to send instead. */
  readonly use: string;
  /** The values of this member that ask for nothing, besides the empty ones. */
  readonly harmless: readonly unknown[];
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
        harmless,
      }));
  return { ofBody: membersOf(false), ofMessages: membersOf(true) };
}

/** Returns the sentence that says what to send instead of a member that the schema has only to refuse it. */
export const useInstead = (path: Path): string =>
  // The description of such a member ends with the sentence, where another one takes its place.
  /Use `\w+`\.$/.exec(membersOfBody[path]?.description ?? "")?.[0] ?? "Leave it out.";

const membersOfBody: Readonly<Record<string, { readonly description?: string }>> =
  contract.components.schemas.ChatCompletionRequest.properties;

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
    if (isEmpty(value) || harmless.includes(value)) continue;
    const param = fieldPath(path, name);
    const message = `${param} is not supported, and ignoring it would change the answer. ${use}`;
    return new ApiError("unsupported_parameter", message, { param });
  }
  return undefined;
}

/** True for a value that asks for nothing, whatever the member. Null means the same as leaving a member out. */
function isEmpty(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  return (value ?? "") === "" || (isRecord(value) && Object.values(value).every((one) => one === null));
}
