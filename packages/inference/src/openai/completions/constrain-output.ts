import type { AnswerPlan } from "../../answer/answer-parser.ts";
import { specialToken } from "../../prompt/special-tokens.ts";
import type { Vocabulary } from "../../prompt/vocabulary.ts";
import type { Grammars } from "../../engine.ts";

/** A format of xgrammar's structural tags, which hold an answer to a form token by token. */
export type Format =
  | { readonly type: "const_string"; readonly value: string }
  | { readonly type: "grammar"; readonly grammar: string }
  | { readonly type: "token"; readonly token: number }
  | { readonly type: "any_tokens"; readonly exclude_tokens: readonly number[] }
  | { readonly type: "sequence" | "or"; readonly elements: readonly Format[] }
  | Tag
  | {
      readonly type: "tags_with_separator";
      readonly tags: readonly Tag[];
      readonly separator: string;
      readonly at_least_one: true;
      readonly stop_after_first: boolean;
    }
  | {
      readonly type: "token_triggered_tags";
      readonly trigger_tokens: readonly number[];
      readonly tags: readonly Tag[];
      readonly exclude_tokens: readonly number[];
      readonly stop_after_first: boolean;
    };

interface Tag {
  readonly type: "tag";
  readonly begin: Format;
  readonly content: Format;
  readonly end: Format;
}

export interface Guided {
  readonly plan: AnswerPlan;
  readonly grammars: Grammars;
  readonly vocabulary: Vocabulary;
  /** The prompt ends inside a thought. */
  readonly opensInReasoning: boolean;
}

/**
 * The form that a whole answer must have: thought, then content or calls; undefined: text, and nothing but text.
 * Special tokens are tokens here, so that no text which spells one counts, and every function is held to its schema.
 */
export function guideFor(guided: Guided): Format | undefined {
  const { plan, grammars } = guided;
  const isReasoning = plan.isReasoning || guided.opensInReasoning;
  if (!isReasoning && plan.tools === "off") return plan.isConstrained ? contentOf(grammars) : undefined;
  const answer = answerFormat(guided);
  return isReasoning ? sequence(...thoughtFormats(guided), answer) : answer;
}

/** The special tokens as token ids. Only called with those that the model's capabilities imply. */
function idOf({ specialTokenId }: Vocabulary, spelling: string): number {
  const id = specialTokenId(spelling);
  if (id === undefined) throw new RangeError(`the model has no token ${spelling}`);
  return id;
}

const sequence = (...elements: readonly Format[]): Format => ({ type: "sequence", elements });
const text = (value: string): Format => ({ type: "const_string", value });
const token = (id: number): Format => ({ type: "token", token: id });

const contentOf = ({ contentGrammar }: Grammars): Format => ({ type: "grammar", grammar: contentGrammar ?? "" });

/** `<think>` and a line break, unless the prompt has written them; the thought; `</think>`. */
function thoughtFormats({ vocabulary, opensInReasoning }: Guided): Format[] {
  const thought: Format = { type: "any_tokens", exclude_tokens: vocabulary.specialTokenIds };
  const end = token(idOf(vocabulary, specialToken.thinkEnd));
  if (opensInReasoning) return [thought, end];
  const content = sequence(text("\n"), thought);
  return [{ type: "tag", begin: token(idOf(vocabulary, specialToken.thinkStart)), content, end }];
}

function answerFormat(guided: Guided): Format {
  const { plan, grammars, vocabulary, opensInReasoning } = guided;
  const free: Format = { type: "any_tokens", exclude_tokens: vocabulary.specialTokenIds };
  if (plan.tools === "off") return plan.isConstrained ? contentOf(grammars) : free;
  if (plan.tools === "required") {
    const calls = callsFormat(guided);
    return plan.isReasoning || opensInReasoning ? sequence(text("\n\n"), calls) : calls;
  }
  if (plan.isConstrained) return { type: "or", elements: [contentOf(grammars), callsFormat(guided)] };
  const start = idOf(vocabulary, specialToken.callStart);
  return {
    type: "token_triggered_tags",
    trigger_tokens: [start],
    tags: [callTag(guided)],
    exclude_tokens: vocabulary.specialTokenIds.filter((id) => id !== start),
    stop_after_first: !plan.isParallel,
  };
}

const callsFormat = (guided: Guided): Format => ({
  type: "tags_with_separator",
  tags: [callTag(guided)],
  separator: "\n",
  at_least_one: true,
  stop_after_first: !guided.plan.isParallel,
});

function callTag({ vocabulary, grammars }: Guided): Tag {
  const { specialTokenId } = vocabulary;
  const begin = specialTokenId(specialToken.callStart);
  const end = specialTokenId(specialToken.callEnd);
  return {
    type: "tag",
    // A model that was not taught to call has no tokens for it; a forced call is spelled out then.
    begin: begin === undefined ? text(specialToken.callStart) : token(begin),
    content: sequence(text("\n"), { type: "grammar", grammar: grammars.toolGrammar ?? "" }),
    end: end === undefined ? text(specialToken.callEnd) : token(end),
  };
}
