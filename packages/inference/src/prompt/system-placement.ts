import { Template } from "@huggingface/jinja";
import type { PromptModel } from "./render-prompt.ts";
import type { TemplateMessage } from "./template-messages.ts";

/**
 * `in place`: the chat template accepts system messages anywhere. `in front`: it gets one system message at the start that
 * joins them all.
 */
export type SystemPlacement = "in place" | "in front";

/** A conversation with system messages in the middle, at the end, and one after the other. */
const conversations: readonly (readonly TemplateMessage["role"][])[] = [
  ["system", "user", "assistant", "system", "user"],
  ["user", "system"],
  ["system", "system", "user"],
];

/** Renders a trial conversation with the template to find its placement. */
export function findSystemPlacement(model: Pick<PromptModel, "template" | "bosToken" | "eosToken">): SystemPlacement {
  const template = new Template(model.template);
  const render = (roles: readonly TemplateMessage["role"][]): string =>
    template.render({
      messages: roles.map((role, index) => ({ role, content: textAt(index) })),
      add_generation_prompt: true,
      enable_thinking: false,
      bos_token: model.bosToken,
      eos_token: model.eosToken,
    });
  return conversations.every((roles) => takesInPlace(roles, render)) ? "in place" : "in front";
}

/** Checks that every text is in its place, and that a system message is not rendered like a user's. */
function takesInPlace(
  roles: readonly TemplateMessage["role"][],
  render: (roles: readonly TemplateMessage["role"][]) => string,
): boolean {
  try {
    const rendered = render(roles);
    const places = roles.map((_, index) => rendered.indexOf(textAt(index)));
    const areInOrder = places.every((place, index) => place > (places[index - 1] ?? -1));
    return areInOrder && rendered !== render(roles.map((role) => (role === "system" ? "user" : role)));
  } catch {
    return false; // the template refuses such a conversation
  }
}

const textAt = (index: number): string => `text number ${index}`;
