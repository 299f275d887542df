import { chunk, chunksOf, completion, done, event, reply, stream, text, usageChunk } from "../answers.ts";
import { both, broken, describeAnswer, givesText, givesUsage, show } from "../clause.ts";
import type { Case, ClientClause } from "../clause.ts";

const unknown = { x_text: "0.000012300", x_number: 4_503_599_627_370_497, x_list: [{ deep: null }] };

const streamed = (name: string, chunks: readonly string[], judge: Case["judge"], task: Case["task"] = {}): Case => ({
  name,
  task: { call: "stream", ...task },
  serve: (_request, wire) => stream(wire, ...chunks.map(event), done),
  judge,
});

const created = (name: string, body: object, judge: Case["judge"], task: Case["task"] = {}): Case => ({
  name,
  task,
  serve: (_request, wire) => reply(wire, 200, body),
  judge,
});

/** Adds members to each chunk, and to its choice and delta. */
const withUnknown = (one: string): string => {
  const parsed = JSON.parse(one) as { readonly choices: readonly { readonly delta: object }[] }; // our own chunk
  const choices = parsed.choices.map((choice) => ({ ...choice, ...unknown, delta: { ...choice.delta, ...unknown } }));
  return JSON.stringify({ ...parsed, ...unknown, choices });
};

const tools = ["get_balance", "get_price"].map((name) => ({
  type: "function",
  function: {
    name,
    description: `Calls ${name}.`,
    parameters: { type: "object", properties: { of: { type: "string" } } },
  },
}));

const args = ['{"of":"Zürich 👩‍🚀"}', '{"of":"B"}'] as const;
const begin = (index: number, id: string, name: string): string =>
  chunk({ tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }] });
const more = (index: number, piece: string): string =>
  chunk({ tool_calls: [{ index, function: { arguments: piece } }] });
const piecesOf = (json: string): string[] => json.match(/.{1,3}/gsu) ?? [];

const calls = [
  { id: "call_8Hq2Lm4p", name: "get_balance", arguments: args[0] },
  { id: "call_3Nd9Rt7x", name: "get_price", arguments: args[1] },
] as const;
const role = chunk({ role: "assistant", content: "" });
const beginFirst = begin(0, calls[0].id, calls[0].name);
const beginSecond = begin(1, calls[1].id, calls[1].name);

const sequential = [
  role,
  beginFirst,
  ...piecesOf(args[0]).map((piece) => more(0, piece)),
  beginSecond,
  ...piecesOf(args[1]).map((piece) => more(1, piece)),
  chunk({}, "tool_calls"),
];

const [firstPieces, secondPieces] = [piecesOf(args[0]), piecesOf(args[1])];
const interleaved = [
  role,
  beginFirst,
  beginSecond,
  ...firstPieces.flatMap((piece, at) => [
    more(0, piece),
    ...(secondPieces[at] === undefined ? [] : [more(1, secondPieces[at])]),
  ]),
  chunk({}, "tool_calls"),
];

const normalize = (json: string): string => {
  try {
    return JSON.stringify(JSON.parse(json));
  } catch {
    return json;
  }
};

/** Judges the calls by name, arguments and, where the SDK shows it, id. */
const givesCalls: Case["judge"] = ({ answer }) => {
  const given = (answer.toolCalls ?? []).map(({ id, name, arguments: json }, at) => ({
    id: id ?? calls[at]?.id,
    name,
    arguments: normalize(json),
  }));
  return !answer.error && JSON.stringify(given) === JSON.stringify(calls)
    ? undefined
    : broken(`the calls ${show(calls)}`, answer.error ? show(answer.error) : show(answer.toolCalls));
};

const wei = '{"of":9007199254740993}';
const oneCall = { tool_calls: [{ id: "call_1", type: "function", function: { name: "get_balance", arguments: wei } }] };

const givesWei: Case["judge"] = ({ answer: { error, toolCalls } }) =>
  !error && toolCalls?.[0]?.arguments.includes("9007199254740993")
    ? undefined
    : broken("the arguments with 9007199254740993", show(error ?? toolCalls));

const twoChoices = [
  chunk({ role: "assistant", content: "" }, null, 0),
  chunk({ role: "assistant", content: "" }, null, 1),
  ...["A", "B", "C"].flatMap((letter) => [
    chunk({ content: letter }, null, 1),
    chunk({ content: letter.toLowerCase() }, null, 0),
  ]),
  chunk({}, "stop", 1),
  chunk({}, "stop", 0),
];

const givesChoices: Case["judge"] = ({ answer }) =>
  !answer.error && JSON.stringify(answer.texts) === '["abc","ABC"]'
    ? undefined
    : broken('the choices ["abc","ABC"]', show(answer.error ?? answer.texts ?? answer.text));

const readsUnknown: Case["judge"] = ({ answer: { unknownMembers } }) => {
  if (!unknownMembers)
    return broken(`a way to read ${show({ x_text: unknown.x_text, x_number: unknown.x_number })}`, "there is none");
  const { x_text, x_number } = unknownMembers;
  return x_text === unknown.x_text && String(x_number) === String(unknown.x_number)
    ? undefined
    : broken(show({ x_text: unknown.x_text, x_number: unknown.x_number }), show({ x_text, x_number }));
};

const nulls = { usage: null, service_tier: null, system_fingerprint: null };
const withNulls = chunksOf(text).map((one) => JSON.stringify({ ...(JSON.parse(one) as object), ...nulls })); // our own chunk

const newError = {
  error: { message: "The judge made this up.", type: "tomorrow_error", param: null, code: "made_tomorrow" },
  request_id: "req_0b7e4a92c6d81f35",
};

export const memberClauses: readonly ClientClause[] = [
  {
    id: "CLNT-13",
    keyword: "MUST",
    sentence: "Members that the SDK does not know do not disturb it, at any level of an answer or chunk.",
    why: "Each new member of a service breaks every installed SDK.",
    comply: "Ignore unknown members when you decode.",
    cases: [
      created("create", completion(unknown, "stop", unknown), givesText(text)),
      streamed("stream", chunksOf(text).map(withUnknown), givesText(text)),
    ],
  },
  {
    id: "CLNT-14",
    keyword: "MUST",
    sentence:
      "An unknown value of a list that may grow does not disturb it: finish reason, service tier, code and type of an error.",
    why: "The list grows on the server's side, and users of old versions get a decoding error instead of a paid answer.",
    comply: "Decode such a member as text, or map unknown values to one value for all of them.",
    cases: [
      created("finish reason, create", completion({}, "paused"), givesText(text)),
      streamed("finish reason, stream", chunksOf(text, "paused"), givesText(text)),
      created("service tier", completion({}, "stop", { service_tier: "express" }), givesText(text)),
      {
        name: "code and type of an error",
        task: { maxRetries: 0 },
        serve: (_request, wire) => reply(wire, 409, newError),
        judge: ({ answer }) =>
          answer.error?.status === 409 && answer.error.message?.includes(newError.error.message)
            ? undefined
            : broken("the error, with status 409", describeAnswer(answer)),
      },
    ],
  },
  {
    id: "CLNT-15",
    keyword: "MUST",
    sentence: "Members may be null where the contract allows it: content, usage, logprobs, fingerprint.",
    why: "An answer without text, or a chunk without usage, ends the program.",
    comply: "Make these members optional, and read null like an absent one.",
    cases: [
      streamed("nulls in chunks", withNulls, givesText(text)),
      created(
        "content of a call",
        completion(
          {
            content: null,
            tool_calls: [{ id: calls[1].id, type: "function", function: { name: "get_price", arguments: args[1] } }],
          },
          "tool_calls",
        ),
        ({ answer }) =>
          !answer.error && answer.toolCalls?.length === 1
            ? undefined
            : broken("one call", show(answer.error ?? answer.toolCalls)),
        { tools },
      ),
    ],
  },
  {
    id: "CLNT-16",
    keyword: "MUST",
    sentence: "The usage of a stream is read from a last chunk without choices.",
    why: "Programs that read `choices[0]` end with an error at the end of every answer, or cost is never known.",
    comply: "Expect `choices` to be empty, and hand the usage on.",
    cases: [
      streamed("usage", [...chunksOf(text), usageChunk], both(givesText(text), givesUsage), { includeUsage: true }),
    ],
  },
  {
    id: "CLNT-17",
    keyword: "MUST",
    sentence: "Several choices are kept apart by their index, in whatever order their chunks come.",
    why: "Two answers are mixed into one text.",
    comply: "Collect by `index`, not by position in the list.",
    cases: [streamed("two choices, interleaved", twoChoices, givesChoices, { n: 2 })],
  },
  {
    id: "CLNT-18",
    keyword: "MUST",
    sentence:
      "Tool calls are put together from their pieces by their index, also if the pieces of two calls alternate.",
    why: "A tool runs with arguments of another call, or with half of them.",
    comply: "Collect by `index`. Take id and name from the first piece, and append the arguments of the others.",
    cases: [
      streamed("one after the other", sequential, givesCalls, { tools }),
      streamed("alternating", interleaved, givesCalls, { tools }),
    ],
  },
  {
    id: "CLNT-19",
    keyword: "MUST",
    sentence: "Reasoning does not become part of the text.",
    why: "The user reads the model's thoughts as its answer, and a parser of the answer fails.",
    comply: "Keep `reasoning` and `reasoning_content` apart from `content`.",
    cases: [
      streamed(
        "stream",
        [
          role,
          ...["I think", " hard."].map((piece) => chunk({ reasoning: piece, reasoning_content: piece })),
          ...chunksOf(text).slice(1),
        ],
        givesText(text),
      ),
      created(
        "create",
        completion({ reasoning: "I think hard.", reasoning_content: "I think hard." }),
        givesText(text),
      ),
    ],
  },
  {
    id: "CLNT-20",
    keyword: "SHOULD",
    sentence: "The caller can read members that the SDK does not know, with their exact values.",
    why: "Users cannot reach what a service offers beyond OpenAI's API, such as the cost of a request.",
    comply: "Offer the raw JSON, or a map of the members that were not decoded.",
    cases: [created("two members of the answer", completion({}, "stop", unknown), readsUnknown)],
  },
  {
    id: "CLNT-21",
    keyword: "SHOULD",
    sentence: "Numbers keep their value: times after 2038, and integers above 2^53 in the arguments of a tool.",
    why: "An amount of money is changed by one unit, or each answer fails from 2038 on.",
    comply: "Use 64 bits for times. Give the arguments of a tool as the text that arrived.",
    cases: [
      created("created in 2100", completion({}, "stop", { created: 4_102_444_800 }), givesText(text)),
      created("integer in arguments", completion({ content: null, ...oneCall }, "tool_calls"), givesWei, { tools }),
    ],
  },
];
