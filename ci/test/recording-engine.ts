import { once } from "node:events";
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { Kind, parse, valueFromASTUntyped } from "graphql";
import type { FieldNode } from "graphql";

/** One call of Dagger's API, with objects in place of their ids. */
export interface Call {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/** The chain of calls from the root that makes one object. */
export class Chain {
  readonly calls: readonly Call[];

  constructor(calls: readonly Call[]) {
    this.calls = calls;
  }

  /** Returns the arguments of every call with this name. */
  all(name: string): Readonly<Record<string, unknown>>[] {
    return this.calls.filter((call) => call.name === name).map(({ args }) => args);
  }
}

export interface RecordingEngine extends AsyncDisposable {
  /** Environment variables with which a client of Dagger reaches this engine. */
  readonly environment: Readonly<Record<string, string>>;
  /** Every query that asked for a value, in order. */
  readonly asked: readonly Chain[];
  /** The text of every query. */
  readonly texts: readonly string[];
}

/** Starts a server that speaks Dagger's GraphQL API, runs nothing, and gives these answers. */
export async function startRecordingEngine(answers: Readonly<Record<string, unknown>>): Promise<RecordingEngine> {
  const texts: string[] = [];
  const asked: Chain[] = [];
  const byId = new Map<string, Chain>();
  const answer = (query: string): unknown => {
    const fields = fieldsOf(query);
    const chain = new Chain(fields.map((field) => callOf(field, byId)));
    const leaf = fields.at(-1)?.name.value ?? "";
    const id = `id-${byId.size}`;
    if (leaf === "id") byId.set(id, new Chain(chain.calls.slice(0, -1)));
    else asked.push(chain);
    const value = leaf === "id" ? id : answers[leaf];
    return fields.reduceRight((inner, { name }) => ({ [name.value]: inner }), value);
  };
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await text(request);
    texts.push(body);
    const { query } = JSON.parse(body) as { readonly query: string }; // GraphQL over HTTP
    response.setHeader("content-type", "application/json").end(JSON.stringify({ data: answer(query) }));
  };
  const server = createServer((request, response) => void handle(request, response)).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo; // it listens on TCP
  return {
    environment: { DAGGER_SESSION_PORT: String(port), DAGGER_SESSION_TOKEN: "recording" },
    asked,
    texts,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** A query of the client is one path: each field has at most one field below it. */
function fieldsOf(query: string): FieldNode[] {
  const [definition] = parse(query).definitions;
  const fields: FieldNode[] = [];
  let below = definition && "selectionSet" in definition ? definition.selectionSet : undefined;
  while (below) {
    const [field] = below.selections;
    if (field?.kind !== Kind.FIELD) throw new Error(`this is not a query of Dagger's client: ${query}`);
    fields.push(field);
    below = field.selectionSet;
  }
  return fields;
}

function callOf({ name, arguments: args = [] }: FieldNode, byId: ReadonlyMap<string, Chain>): Call {
  const resolve = (value: unknown): unknown => (typeof value === "string" ? (byId.get(value) ?? value) : value);
  const values = args.map((arg) => [arg.name.value, resolve(valueFromASTUntyped(arg.value))] as const);
  return { name: name.value, args: Object.fromEntries(values) };
}
