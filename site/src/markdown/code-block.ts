import { escapeHtml } from "./escape-html.ts";
import { highlight } from "./highlight.ts";

/** A code block of Markdown: its text, and the words after the fence: the language, and a label for its tab. */
export interface CodeSample {
  readonly text: string;
  readonly info: string;
  /** The address of a file with the text. The page then has a link to it, and its tab loads the text when it is chosen. */
  readonly src?: string;
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
  const panels = samples.map(({ text, info, src }) => {
    const [language = "", ...words] = info.split(" ");
    const label = escapeHtml(words.join(" "));
    const name = `<p class="tab-name">${label}</p>`;
    if (src === undefined) return `<section data-tab="${label}">${name}${bareBlock(text, language)}</section>`;
    const link = `<p class="elsewhere"><a href="${src}">${src.split("/").at(-1)}</a></p>`;
    return `<section data-tab="${label}" data-src="${src}" data-language="${language}">${name}${link}</section>`;
  });
  return `<div class="tabs code">${panels.join("")}</div>\n`;
}
