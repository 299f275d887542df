import { expect, test } from "vitest";
import { findSystemPlacement } from "./system-placement.ts";
import type { SystemPlacement } from "./system-placement.ts";

const turn = "<|{{ m.role }}|>{{ m.content }}";
const others = "{% if m.role != 'system' %}" + turn + "{% endif %}";

test.each<[string, string, SystemPlacement]>([
  ["writes every message where it stands", `{% for m in messages %}${turn}{% endfor %}`, "in place"],
  [
    "refuses a system message behind the first",
    `{% for m in messages %}{% if m.role == 'system' and not loop.first %}{{ raise_exception('no') }}{% endif %}${turn}{% endfor %}`,
    "in front",
  ],
  [
    "drops all but the first",
    `{{ messages[0].content if messages[0].role == 'system' }}{% for m in messages %}${others}{% endfor %}`,
    "in front",
  ],
  [
    "moves them to the front itself",
    `{% for m in messages if m.role == 'system' %}${turn}{% endfor %}{% for m in messages %}${others}{% endfor %}`,
    "in front",
  ],
  [
    "takes them for a user's",
    "{% for m in messages %}<|{{ 'assistant' if m.role == 'assistant' else 'user' }}|>{{ m.content }}{% endfor %}",
    "in front",
  ],
])("a template that %s", (_title, template, want) => {
  expect(findSystemPlacement({ template, bosToken: "", eosToken: "" })).toBe(want);
});
