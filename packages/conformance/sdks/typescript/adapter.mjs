/**
 * Reads a task per line, carries it out, and prints its answer as a line.
 * @param {(task: object) => Promise<object>} carryOut
 */
export async function serve(carryOut) {
  process.stdin.setEncoding("utf8");
  let rest = "";
  for await (const text of process.stdin) {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const task = JSON.parse(line);
      const answer = await carryOut(task);
      process.stdout.write(`${JSON.stringify({ task: task.task, ...answer })}\n`);
    }
  }
}

export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Makes the call once, or twice with a pause, as the task says. */
export async function repeat(task, call) {
  const answer = await call();
  if (task.secondCallAfterMs === undefined) return answer;
  await sleep(task.secondCallAfterMs);
  return call();
}

/** An unhandled rejection is a fault of the SDK, but it must not hide the answer. */
process.on("unhandledRejection", (reason) => process.stderr.write(`unhandled rejection: ${reason}\n`));

/** Returns what the caller of an SDK sees of a completion in OpenAI's form. */
export function seenOf({ choices, usage, ...rest }) {
  const { message, finish_reason } = choices?.[0] ?? {};
  return {
    text: message?.content,
    finishReason: finish_reason,
    toolCalls: message?.tool_calls?.map(({ id, function: called }) => ({
      id,
      name: called.name,
      arguments: called.arguments,
    })),
    usage: { promptTokens: usage?.prompt_tokens, completionTokens: usage?.completion_tokens },
    unknownMembers: { x_text: rest.x_text, x_number: rest.x_number },
  };
}

/** Collects what the caller of a stream sees of its chunks, one after the other, into an answer. */
export async function collectChunks(chunks, task, answer) {
  const texts = [];
  const calls = [];
  for await (const { choices, usage } of chunks) {
    if (usage) answer.usage = { promptTokens: usage.prompt_tokens, completionTokens: usage.completion_tokens };
    for (const { index, delta, finish_reason } of choices) {
      texts[index] = (texts[index] ?? "") + (delta.content ?? "");
      for (const call of delta.tool_calls ?? []) {
        calls[call.index] ??= { id: call.id, name: call.function.name, arguments: "" };
        calls[call.index].arguments += call.function.arguments;
      }
      if (index === 0 && finish_reason) answer.finishReason = finish_reason;
    }
    Object.assign(answer, { text: texts[0], texts, toolCalls: calls });
    if (task.pauseAfterFirstChunkMs) await sleep(task.pauseAfterFirstChunkMs);
    if (task.abortAfterFirstChunk) return (answer.aborted = true);
  }
}
