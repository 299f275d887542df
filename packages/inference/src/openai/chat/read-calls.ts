import type { AnswerDelta } from "../../answer/answer-parser.ts";
import { EngineError } from "../../engine.ts";
import type { Generation } from "../../engine.ts";
import { isJsonObject, validateArguments } from "./validate-answer.ts";
import type { CallDelta } from "./read-chat.ts";

type ToolDelta = Extract<AnswerDelta, { kind: "tool" }>;

interface Call {
  readonly given: CallDelta;
  readonly index: number;
  readonly name: string;
  arguments: string;
}

/**
 * Assembles the calls of one choice from their parts: each is named once, numbered from 0, and validated when it is finished.
 */
export class CallReader {
  readonly #request: Generation;
  readonly #calls: Call[] = [];

  constructor(request: Generation) {
    this.#request = request;
  }

  get count(): number {
    return this.#calls.length;
  }

  /** True if this part begins a new call. */
  isNew({ index, id, name }: CallDelta): boolean {
    const last = this.#calls.at(-1);
    if (!last) return true;
    if (index !== undefined) return this.#calls.every(({ given }) => given.index !== index);
    return name !== undefined && id !== last.given.id;
  }

  /** @throws {EngineError} `protocol` for a function that was not offered */
  push(delta: CallDelta): ToolDelta | undefined {
    if (this.isNew(delta)) return this.#begin(delta);
    const call = this.#calls.find(({ given }) => given.index === delta.index) ?? this.#calls.at(-1);
    if (!call || delta.arguments === "") return undefined;
    call.arguments += delta.arguments;
    return { kind: "tool", index: call.index, arguments: delta.arguments };
  }

  /** True if all calls are complete, although the answer reached the token limit. */
  get isComplete(): boolean {
    return this.#calls.every((call) => isJsonObject(call.arguments));
  }

  /**
   * Adds `{}` where a service omits the arguments of a function without parameters, and validates all calls.
   * @throws {EngineError} `protocol`
   */
  *finish(): Generator<ToolDelta> {
    const { tools, toolChoice } = this.#request;
    for (const { index, name, arguments: written } of this.#calls) {
      const tool = tools.find((one) => one.name === name);
      validateArguments(written || "{}", tool, toolChoice !== "auto");
      if (written === "") yield { kind: "tool", index, arguments: "{}" };
    }
  }

  /** All text of the calls. */
  get text(): string {
    return this.#calls.map((call) => call.name + call.arguments).join("\n");
  }

  #begin(given: CallDelta): ToolDelta {
    const { name = "" } = given;
    if (!this.#offered.includes(name)) {
      throw new EngineError("protocol", "the engine called a function that was not offered");
    }
    const index = this.#calls.length;
    this.#calls.push({ given, index, name, arguments: given.arguments });
    return { kind: "tool", index, name, arguments: given.arguments };
  }

  get #offered(): readonly string[] {
    const { tools, toolChoice } = this.#request;
    if (toolChoice === "none") return [];
    return toolChoice === "auto" ? tools.map(({ name }) => name) : toolChoice.oneOf;
  }
}
