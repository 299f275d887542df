import { Template } from "@huggingface/jinja";
import type { PromptRequest } from "../engine.ts";
import { addToSystemMessage } from "./show-schema.ts";
import { SpecialTokenEscaper, spellingsToEscape } from "./escape-special-tokens.ts";
import { specialToken } from "./special-tokens.ts";
import { PromptTooLongError } from "./prompt-too-long.ts";
import { RequestRefusedError } from "../request-refused.ts";
import { findSystemPlacement } from "./system-placement.ts";
import type { SystemPlacement } from "./system-placement.ts";
import { toTemplateMessages, toTemplateTool } from "./template-messages.ts";

/** A model's own chat template and tokenizer. */
export interface PromptModel {
  /** Jinja, as in the model's files. */
  readonly template: string;
  /** The spellings of all special tokens. */
  readonly specialTokens: readonly string[];
  readonly bosToken: string;
  readonly eosToken: string;
  /** Returns the token ids of a text. Special tokens in it are recognised. */
  tokenize(text: string): readonly number[];
  /**
   * Returns a lower bound for the number of tokens that `tokenize` gives, in much less time. Absent where no bound is known.
   */
  fewestTokens?(text: string): number;
}

/** Bounds at which rendering stops early. */
export interface RenderBounds {
  /** Called between the parts of a prompt. Returns true when the prompt is no longer needed. */
  readonly isStopped?: () => boolean;
  /** A prompt with more tokens is not rendered. */
  readonly maxTokens?: number;
}

/** A rendered conversation. */
export interface Prompt {
  readonly tokens: number[];
  /** The prompt ends inside a reasoning section, which the model continues. */
  readonly opensInReasoning: boolean;
}

/** The chat template has refused the conversation. */
export class TemplateRefusalError extends RequestRefusedError {
  override name = "TemplateRefusalError";
}

/** Rendering stopped, because the prompt is no longer needed. */
export class RenderStoppedError extends Error {
  override name = "RenderStoppedError";
}

/** The UTF-8 bytes that one UTF-16 code unit takes at most. */
const maxBytesOfCharacter = 3;

/** Renders conversations of one model into token ids. */
export class PromptRenderer {
  readonly #model: PromptModel;
  readonly #template: Template;
  readonly #systemPlacement: SystemPlacement;
  readonly #spellings: RegExp;

  constructor(model: PromptModel) {
    this.#model = model;
    this.#template = new Template(model.template);
    this.#systemPlacement = findSystemPlacement(model);
    this.#spellings = spellingsToEscape(model.specialTokens);
  }

  /**
   * @throws {TemplateRefusalError} when the template calls `raise_exception`, cannot be applied, or makes an empty prompt
   * @throws {PromptTooLongError} {RenderStoppedError} when a bound is reached
   */
  render(request: PromptRequest, { isStopped, maxTokens = Number.POSITIVE_INFINITY }: RenderBounds = {}): Prompt {
    const escaper = new SpecialTokenEscaper(this.#spellings);
    const text = this.#renderText(request, escaper);
    const tokens: number[] = [];
    for (const part of escaper.split(text)) {
      if (isStopped?.() === true) throw new RenderStoppedError();
      // Tokenizing a long text takes a hundred times its memory, so a text that cannot fit is not tokenized.
      const fewest = tokens.length + this.#fewestTokens(part, maxTokens - tokens.length);
      if (fewest > maxTokens) throw new PromptTooLongError(fewest);
      for (const token of this.#model.tokenize(part)) tokens.push(token);
    }
    if (tokens.length > maxTokens) throw new PromptTooLongError(tokens.length);
    if (tokens.length === 0) {
      throw new TemplateRefusalError("The model's chat template makes an empty prompt of these messages.");
    }
    return { tokens, opensInReasoning: this.#opensInReasoning(text) };
  }

  /** Returns the number of tokens of a text that an engine has written. */
  countText(text: string): number {
    return this.#model.tokenize(text).length;
  }

  /** Returns a lower bound for the number of tokens of a text, or 0 if the text has too few bytes to exceed `tokens`. */
  #fewestTokens(text: string, tokens: number): number {
    return text.length * maxBytesOfCharacter <= tokens ? 0 : (this.#model.fewestTokens?.(text) ?? 0);
  }

  /**
   * Checked only where the model has both special tokens. Otherwise they are not escaped, and a caller may have written them.
   */
  #opensInReasoning(text: string): boolean {
    const { thinkStart, thinkEnd } = specialToken;
    if (![thinkStart, thinkEnd].every((spelling) => this.#model.specialTokens.includes(spelling))) return false;
    return text.lastIndexOf(thinkStart) > text.lastIndexOf(thinkEnd);
  }

  #renderText(request: PromptRequest, escaper: SpecialTokenEscaper): string {
    const tools = request.toolChoice === "none" ? [] : request.tools;
    const messages = toTemplateMessages(request.messages, this.#systemPlacement);
    try {
      const rendered = this.#template.render({
        messages: escaper.escape(addToSystemMessage(messages, request.shownSchema)),
        // Always given, even if empty: the library throws and catches an error for each unknown name, which is slow.
        tools: tools.length > 0 ? escaper.escape(tools.map(toTemplateTool)) : undefined,
        add_generation_prompt: true,
        enable_thinking: request.isReasoning,
        bos_token: this.#model.bosToken,
        eos_token: this.#model.eosToken,
      });
      return escaper.restoreNumbers(rendered);
    } catch (error) {
      // The template's own `raise_exception` arrives here, too.
      const reason = error instanceof Error ? error.message : String(error);
      throw new TemplateRefusalError(`The model's chat template refuses these messages: ${reason}`, { cause: error });
    }
  }
}
