import type { AnswerPlan } from "../../answer/answer-parser.ts";
import { specialToken } from "../../prompt/special-tokens.ts";
import type { Vocabulary } from "../../prompt/vocabulary.ts";
import type { Grammars } from "../../engine.ts";

/** A format of xgrammar's structural tags, which constrain an answer token by token. */
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

export interface ConstrainedAnswer {
  readonly plan: AnswerPlan;
  readonly grammars: Grammars;
  readonly vocabulary: Vocabulary;
  /** The prompt ends inside a reasoning section. */
  readonly opensInReasoning: boolean;
}

/**
 * Returns the structured-output constraint of a whole answer: reasoning, then content or calls. Undefined: the answer is text
 * only. Special tokens are given as token ids, so text that merely spells one does not match. The arguments of every function
 * are constrained by its schema.
 */
export function constraintFor(wanted: ConstrainedAnswer): Format | undefined {
  const { plan, grammars } = wanted;
  const isReasoning = plan.isReasoning || wanted.opensInReasoning;
  if (!isReasoning && plan.tools === "off") return plan.isConstrained ? contentOf(grammars) : undefined;
  const answer = answerFormat(wanted);
  return isReasoning ? sequence(...reasoningFormats(wanted), answer) : answer;
}

/** Returns the id of a special token. Only called for tokens that the model's capabilities imply. */
function idOf({ specialTokenId }: Vocabulary, spelling: string): number {
  const id = specialTokenId(spelling);
  if (id === undefined) throw new RangeError(`the model has no token ${spelling}`);
  return id;
}

const sequence = (...elements: readonly Format[]): Format => ({ type: "sequence", elements });
const text = (value: string): Format => ({ type: "const_string", value });
const token = (id: number): Format => ({ type: "token", token: id });

const contentOf = ({ contentGrammar }: Grammars): Format => ({ type: "grammar", grammar: contentGrammar ?? "" });

/** `<think>` and a line break, unless the prompt ends with them; the reasoning; `</think>`. */
function reasoningFormats({ vocabulary, opensInReasoning }: ConstrainedAnswer): Format[] {
  const reasoning: Format = { type: "any_tokens", exclude_tokens: vocabulary.specialTokenIds };
  const end = token(idOf(vocabulary, specialToken.thinkEnd));
  if (opensInReasoning) return [reasoning, end];
  const content = sequence(text("\n"), reasoning);
  return [{ type: "tag", begin: token(idOf(vocabulary, specialToken.thinkStart)), content, end }];
}

function answerFormat(wanted: ConstrainedAnswer): Format {
  const { plan, grammars, vocabulary, opensInReasoning } = wanted;
  const free: Format = { type: "any_tokens", exclude_tokens: vocabulary.specialTokenIds };
  if (plan.tools === "off") return plan.isConstrained ? contentOf(grammars) : free;
  if (plan.tools === "required") {
    const calls = callsFormat(wanted);
    return plan.isReasoning || opensInReasoning ? sequence(text("\n\n"), calls) : calls;
  }
  if (plan.isConstrained) return { type: "or", elements: [contentOf(grammars), callsFormat(wanted)] };
  const start = idOf(vocabulary, specialToken.callStart);
  return {
    type: "token_triggered_tags",
    trigger_tokens: [start],
    tags: [callTag(wanted)],
    exclude_tokens: vocabulary.specialTokenIds.filter((id) => id !== start),
    stop_after_first: !plan.isParallel,
  };
}

const callsFormat = (wanted: ConstrainedAnswer): Format => ({
  type: "tags_with_separator",
  tags: [callTag(wanted)],
  separator: "\n",
  at_least_one: true,
  stop_after_first: !wanted.plan.isParallel,
});

function callTag({ vocabulary, grammars }: ConstrainedAnswer): Tag {
  const { specialTokenId } = vocabulary;
  const begin = specialTokenId(specialToken.callStart);
  const end = specialTokenId(specialToken.callEnd);
  return {
    type: "tag",
    // A model that was not trained for calls has no special tokens for them, so a forced call spells them as text.
    begin: begin === undefined ? text(specialToken.callStart) : token(begin),
    content: sequence(text("\n"), { type: "grammar", grammar: grammars.toolGrammar ?? "" }),
    end: end === undefined ? text(specialToken.callEnd) : token(end),
  };
}
