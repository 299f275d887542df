import type { Answer } from "./judge-answer.ts";
import type { Case } from "./read-requests.ts";

export interface Server {
  /** Base URL, including `/v1`. */
  readonly url: string;
  readonly key: string;
  readonly model: string;
  /** Additional members of every request, such as sampling settings and the token cap. */
  readonly members: Readonly<Record<string, unknown>>;
}

interface Completion {
  readonly choices: readonly {
    readonly finish_reason: string;
    readonly message: {
      readonly content: string | null;
      readonly tool_calls?: readonly { readonly function: { readonly name: string; readonly arguments: string } }[];
    };
  }[];
  readonly usage: { readonly completion_tokens: number };
}

/** Asks one case. Consecutive user turns are asked one by one, each after the model's own answer. */
export async function ask(server: Server, { body }: Case): Promise<Answer> {
  const turns = body["messages"] as readonly { readonly role: string }[]; // as read-requests.ts makes them
  const said: object[] = [];
  let answer: Answer | undefined;
  for (const [index, turn] of turns.entries()) {
    said.push(turn);
    const isAsked = index === turns.length - 1 || (turn.role === "user" && turns[index + 1]?.role === "user");
    if (!isAsked) continue;
    answer = await complete(server, { ...body, messages: said });
    said.push({ role: "assistant", content: answer.content });
  }
  if (!answer) throw new Error("a case without messages");
  return answer;
}

async function complete({ url, key, model, members }: Server, body: object): Promise<Answer> {
  const response = await fetch(`${url}/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ ...body, ...members, model }),
  });
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  const { choices, usage } = (await response.json()) as Completion; // as the contract says
  const [choice] = choices;
  return {
    content: choice?.message.content ?? "",
    calls: (choice?.message.tool_calls ?? []).map((call) => call.function),
    finish: choice?.finish_reason ?? "",
    tokens: usage.completion_tokens,
  };
}
