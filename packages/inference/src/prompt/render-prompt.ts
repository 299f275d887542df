import { Template } from "@huggingface/jinja";
import type { EngineRequest } from "../engine.ts";
import { TextGuard } from "./guard-text.ts";
import { specialToken } from "./special-tokens.ts";
import { RequestRefused } from "../request-refused.ts";
import { toTemplateMessages, toTemplateTool } from "./template-messages.ts";

/** What of a request decides its prompt. */
export type PromptRequest = Pick<EngineRequest, "messages" | "tools" | "tool_choice" | "isReasoning">;

/** A model's own chat template and tokenizer. */
export interface PromptModel {
  /** Jinja, as in the model's files. */
  readonly template: string;
  /** Every spelling that the template or the tokenizer gives a meaning to. */
  readonly specialTokens: readonly string[];
  readonly bosToken: string;
  readonly eosToken: string;
  /** Token ids of a text; special tokens are recognised. */
  tokenize(text: string): readonly number[];
}

/** A rendered conversation. */
export interface Prompt {
  readonly tokens: number[];
  /** The prompt ends inside a thought that the model goes on with. */
  readonly opensInReasoning: boolean;
}

/** The template itself has refused the conversation. */
export class TemplateRefusal extends RequestRefused {}

/** Renders conversations of one model into token ids. The only place where a prompt is made, for counting and for generating. */
export class PromptRenderer {
  readonly #model: PromptModel;
  readonly #template: Template;

  constructor(model: PromptModel) {
    this.#model = model;
    this.#template = new Template(model.template);
  }

  /** @throws {TemplateRefusal} when the template calls `raise_exception` or cannot be applied */
  render(request: PromptRequest): Prompt {
    const guard = new TextGuard(this.#model.specialTokens);
    const text = this.#renderText(request, guard);
    const tokens = guard.split(text).flatMap((piece) => [...this.#model.tokenize(piece)]);
    return { tokens, opensInReasoning: this.#opensInReasoning(text) };
  }

  /** How many tokens a text has that an engine has written. */
  countText(text: string): number {
    return this.#model.tokenize(text).length;
  }

  /** Only where both are special tokens: a caller's text is guarded against special tokens, and against nothing else. */
  #opensInReasoning(text: string): boolean {
    const { thinkStart, thinkEnd } = specialToken;
    if (![thinkStart, thinkEnd].every((spelling) => this.#model.specialTokens.includes(spelling))) return false;
    return text.lastIndexOf(thinkStart) > text.lastIndexOf(thinkEnd);
  }

  #renderText(request: PromptRequest, guard: TextGuard): string {
    const tools = request.tool_choice === "none" ? [] : request.tools;
    try {
      return this.#template.render({
        messages: guard.protect(toTemplateMessages(request.messages)),
        ...(tools.length > 0 && { tools: guard.protect(tools.map(toTemplateTool)) }),
        add_generation_prompt: true,
        enable_thinking: request.isReasoning,
        bos_token: this.#model.bosToken,
        eos_token: this.#model.eosToken,
      });
    } catch (error) {
      // The template's own `raise_exception` arrives here, too.
      const reason = error instanceof Error ? error.message : String(error);
      throw new TemplateRefusal(`The model's chat template refuses these messages: ${reason}`, { cause: error });
    }
  }
}
