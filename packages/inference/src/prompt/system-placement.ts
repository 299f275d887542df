import { Template } from "@huggingface/jinja";
import type { PromptModel } from "./render-prompt.ts";
import type { TemplateMessage } from "./template-messages.ts";

/** Whether a chat template takes system messages where they stand, or is given one in front that holds them all. */
export type SystemPlacement = "in place" | "in front";

/** The same conversation with every system message moved: in the middle, at the end, and one behind the other. */
const conversations: readonly (readonly TemplateMessage["role"][])[] = [
  ["system", "user", "assistant", "system", "user"],
  ["user", "system"],
  ["system", "system", "user"],
];

/** Asks the template itself. */
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

/** Every text comes in its place, and a system message does not come as a user's. */
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
    return false; // it refuses such a conversation
  }
}

const textAt = (index: number): string => `text number ${index}`;
