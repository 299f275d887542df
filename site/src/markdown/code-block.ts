import { escapeHtml } from "./escape-html.ts";
import { highlight } from "./highlight.ts";

/** A code block of Markdown: its text, and the words after the fence: the language, and a label for its tab. */
export interface CodeSample {
  readonly text: string;
  readonly info: string;
}

const copyButton = '<button type="button" class="copy" hidden>Copy</button>';

/** Returns a code block with a button that copies it. A label (the words behind the language) becomes its caption. */
export function codeBlock(text: string, info: string): string {
  const [language = "", ...label] = info.split(" ");
  const caption = label.length === 0 ? "" : `<figcaption>${escapeHtml(label.join(" "))}</figcaption>`;
  return `<figure class="code">${caption}${bareBlock(text, language)}</figure>\n`;
}

const bareBlock = (text: string, language: string): string =>
  `${copyButton}<pre tabindex="0"><code>${highlight(text, language)}</code></pre>`;

/** Returns code blocks as tabs. Without a script, all of them are shown, each under its label. */
export function tabs(samples: readonly CodeSample[]): string {
  const panels = samples.map(({ text, info }) => {
    const [language = "", ...label] = info.split(" ");
    return `<section data-tab="${escapeHtml(label.join(" "))}"><p class="tab-name">${escapeHtml(label.join(" "))}</p>${bareBlock(text, language)}</section>`;
  });
  return `<div class="tabs code">${panels.join("")}</div>\n`;
}
