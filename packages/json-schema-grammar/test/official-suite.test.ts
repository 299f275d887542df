import { expect, test } from "vitest";
import { drafts, judgeDraft } from "./official-suite/judge-suite.ts";
import type { Draft } from "./official-suite/judge-suite.ts";

// `vitest -u` writes the lists of exceptions. A group that starts to work, and one that ceases to, changes its list.

test.each(Object.keys(drafts) as Draft[])(
  "%s: what is not listed is judged as the official suite says",
  async (draft) => {
    const { groups, refused, validRejected, invalidAccepted } = judgeDraft(draft);
    expect(invalidAccepted).toEqual([]);
    const page = [
      `# ${draft}: ${groups - refused.length} of ${groups} groups are enforced`,
      `## Groups whose schema is refused (${refused.length})`,
      ...refused.map((line) => `- ${line}`),
      `## Valid instances that cannot be written (${validRejected.length})`,
      ...validRejected.map((line) => `- ${line}`),
      "",
    ];
    await expect(page.join("\n")).toMatchFileSnapshot(`official-suite/exceptions/${draft}.md`);
  },
);
