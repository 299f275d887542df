import { readFileSync } from "node:fs";
import { parse } from "yaml";
import admin from "@parley/contract/admin.json" with { type: "json" };
import contract from "@parley/contract/contract.json" with { type: "json" };
import type { Tally } from "./record.ts";

const documents = { public: contract, admin } as const;

/** Minimum counts that a run has to reach, from `floors.yaml`. */
export interface Floors {
  readonly answers: number;
  readonly takenShare: number;
  readonly streamedShare: number;
  readonly everyMember: boolean;
  /** The document whose statuses must all be seen; undefined: none. */
  readonly everyStatusOf?: keyof typeof documents;
}

export interface FloorsFile {
  readonly scripted: Floors;
  readonly embedded: Floors;
  readonly admin: Floors;
  /** Reasons why a fuzzer cannot cause a status, by operation or document, and status. */
  readonly unreachable: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

/** Reads `floors.yaml`. */
export const readFloors = (): FloorsFile =>
  parse(readFileSync(new URL("floors.yaml", import.meta.url), "utf8")) as FloorsFile; // a test reads it as well

/** Lists the floors that a run did not reach. The list is empty if the run was deep enough. */
export function findShallows(tally: Tally, least: Floors, unreachable = readFloors().unreachable): string[] {
  const { chats, chatsTaken, streamed } = tally;
  return [
    ...below("answers", tally.answers, least.answers),
    ...below("share of requests taken", shareOf(chatsTaken, chats), least.takenShare),
    ...below("share of taken requests streamed", shareOf(streamed, chatsTaken), least.streamedShare),
    ...(least.everyMember ? membersMissing(tally) : []),
    ...(least.everyStatusOf ? statusesMissing(tally, unreachable, least.everyStatusOf) : []),
  ];
}

export const shareOf = (part: number, whole: number): number => (whole === 0 ? 0 : part / whole);

const below = (what: string, found: number, least: number): string[] =>
  found < least ? [`${what}: ${Number(found.toFixed(3))}, and the floor is ${least}`] : [];

function membersMissing({ taken, refused }: Tally): string[] {
  const members = membersOfRequest();
  return [
    ...members.filter((one) => !taken.has(one)).map((one) => `the member ${one} was never taken`),
    ...members.filter((one) => !refused.has(one)).map((one) => `the member ${one} was never refused`),
  ];
}

function statusesMissing(
  { statuses }: Tally,
  unreachable: FloorsFile["unreachable"],
  document: keyof typeof documents,
): string[] {
  return declaredStatuses(document)
    .filter(
      ([operation, status]) => (unreachable[operation]?.[status] ?? unreachable[document]?.[status]) === undefined,
    )
    .filter(([operation, status]) => !statuses.has(`${operation} ${status}`))
    .map(([operation, status]) => `${operation} never answered ${status}`);
}

/** Lists every declared pair of operation and status. */
export function declaredStatuses(document: keyof typeof documents): [operation: string, status: string][] {
  const operations = Object.values(documents[document].paths).flatMap((item) => Object.values<object>(item));
  return operations
    .filter((one): one is { operationId: string; responses: object } => "operationId" in one && "responses" in one)
    .flatMap(({ operationId, responses }) =>
      Object.keys(responses).map((status): [string, string] => [operationId, status]),
    );
}

interface Schema {
  readonly $ref?: string;
  readonly oneOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
}

const schemas = contract.components.schemas as unknown as Readonly<Record<string, Schema>>; // lint holds it to these words

/** Lists every member of a request at every depth, such as `messages[].content[].text`. */
export function membersOfRequest(): string[] {
  return [...new Set(membersOf({ $ref: "ChatCompletionRequest" }, ""))];
}

function membersOf(schema: Schema, path: string): string[] {
  const {
    oneOf = [],
    items,
    properties = {},
  } = (schema.$ref && schemas[schema.$ref.split("/").at(-1) ?? ""]) || schema;
  return [
    ...oneOf.flatMap((branch) => membersOf(branch, path)),
    ...(items ? membersOf(items, `${path}[]`) : []),
    ...Object.entries(properties).flatMap(([name, member]) => {
      const at = path === "" ? name : `${path}.${name}`;
      return [at, ...membersOf(member, at)];
    }),
  ];
}
