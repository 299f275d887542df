import { escapeHtml } from "../markdown/escape-html.ts";
import type { Page } from "../page.ts";
import { endpointsOf } from "../reference/operations.ts";
import type { Contract, Sources } from "../sources.ts";

/** Returns the pages that send requests: the form for any request, and the chat. */
export const tryPages = ({ contract }: Sources): Page[] => [tryPage(contract), playgroundPage()];

const needsScripts =
  '<noscript><p class="notice">This page needs scripts. Every page of the documentation shows the same requests as programs.</p></noscript>';

/** The key, the model and the switch of the demo. */
const connection = `<div class="connection">
<p class="field"><label for="key">Your key</label><input id="key" type="password" autocomplete="off" spellcheck="false" aria-describedby="key-hint connection-status"><small id="key-hint">Kept in the memory of this page only.</small></p>
<p class="field"><label for="model">Model</label><select id="model" autocomplete="off"></select></p>
<p class="field demo-field"><label class="switch"><input id="demo" type="checkbox" role="switch" autocomplete="off" aria-describedby="demo-hint">Demo</label><small id="demo-hint">Recorded answers, without a server.</small></p>
</div>
<div id="connection-status" role="status"></div>
<p class="notice" id="demo-notice" hidden></p>`;

/** @param operations the options of the list of operations */
const tryBody = (operations: string): string => `<h1>Try it</h1>
<p class="lead">Send any request with your key, and watch the answer event by event. <a href="/docs/playground">To chat only, open the playground.</a></p>
${needsScripts}
<div class="try" inert>
<form class="try-request" id="request" aria-label="Request" autocomplete="off">
${connection}
<div class="row"><p class="field"><label for="operation">Request</label><select id="operation" autocomplete="off">${operations}</select></p>
<p class="field" id="example-field"><label for="example">Example</label><select id="example" autocomplete="off"></select></p>
<p class="field" id="path-field" hidden><label for="model-id">Model id</label><input id="model-id" type="text" autocomplete="off" spellcheck="false"></p></div>
<div id="body">
<div class="tab-list" role="tablist" aria-label="Body of the request"><button type="button" role="tab" id="tab-form" aria-controls="as-form" aria-selected="true">Form</button><button type="button" role="tab" id="tab-json" aria-controls="as-json" aria-selected="false" tabindex="-1">JSON</button></div>
<div class="panel" id="as-form" role="tabpanel" aria-labelledby="tab-form"></div>
<div class="panel" id="as-json" role="tabpanel" aria-labelledby="tab-json" hidden></div>
</div>
<div id="faults" role="status"></div>
<p class="actions"><button type="submit" class="primary" id="send">Send</button><button type="button" id="stop" disabled>Stop</button><span class="hint"><kbd>Ctrl</kbd> <kbd>Enter</kbd> sends, <kbd>Esc</kbd> stops</span></p>
</form>
<section class="try-answer" id="answer" aria-labelledby="answer-title"><h2 id="answer-title">Answer</h2>
<p id="state" role="status">Nothing was sent yet.</p>
<div id="failure"></div>
<div class="answer-columns"><div id="choices" tabindex="0" role="region" aria-label="Text of the answer"><p class="empty">The text appears here while the model writes it.</p></div><div id="events" tabindex="0" role="region" aria-label="Raw events"><p class="empty">Each raw event appears here. Open one to read its JSON.</p></div></div>
<p id="cost" hidden></p>
</section>
</div>
<h2 id="programs">The same request as a program</h2>
<p><code>PARLEY_URL</code> is <code id="base-url">the address of the service followed by /v1</code>, and <code>PARLEY_KEY</code> is your key.</p>
<div class="samples" id="samples"></div>`;

function tryPage(contract: Contract): Page {
  const endpoints = endpointsOf(contract);
  const options = endpoints.map(
    ({ method, path, operation: { operationId } }) =>
      `<option id="${operationId}" value="${operationId}" data-method="${method}" data-path="${escapeHtml(path)}">${method} ${escapeHtml(path)}</option>`,
  );
  const list = endpoints.map(
    ({ method, path, operation: { operationId, summary } }) =>
      `- [${summary}](/docs/reference/${operationId}.md): \`${method} ${path}\``,
  );
  return {
    path: "/docs/try",
    title: "Try it",
    label: "Send a request",
    summary: "Sends any request of the API with your key, and shows the answer event by event.",
    section: "try",
    isWide: true,
    scripts: ["try-page"],
    words: "try it console request form json send stream",
    markdown: `# Try it

In a browser, this page sends any request of the API with your own key, and shows the answer event by event. The requests are:

${list.join("\n")}

Without a browser, send the same requests with curl:

\`\`\`sh
curl -N "$PARLEY_URL/chat/completions" \\
  -H "Authorization: Bearer $PARLEY_KEY" \\
  -H "Content-Type: application/json" \\
  -d '{"model": "vendor/model-1", "messages": [{"role": "user", "content": "What is a gas fee?"}], "stream": true}'
\`\`\`
`,
    html: tryBody(options.toReversed().join("")),
  };
}

const playgroundPage = (): Page => ({
  path: "/docs/playground",
  title: "Playground",
  summary: "A chat with the models of this service, with your key.",
  section: "try",
  scripts: ["playground-page"],
  words: "playground chat talk conversation",
  markdown: `# Playground

In a browser, this page is a chat with the models of this service. It needs a key, which it keeps in memory only. It shows
reasoning, tool calls and JSON answers.

[Try it](/docs/try.md) sends any other request.
`,
  html: `<h1>Playground</h1>
<p class="lead">A chat with the models of this service. <a href="/docs/try">To send any other request, open Try it.</a></p>
${needsScripts}
<div class="chat" inert>
${connection}
<details class="settings"><summary>Instructions, form and tools</summary>
<p class="field"><label for="instructions">Instructions to the model</label><textarea id="instructions" rows="2" autocomplete="off"></textarea></p>
<div class="row"><p class="field"><label for="form">Form of the answer</label><select id="form" autocomplete="off"><option value="">Text</option><option value="json">A JSON object</option></select></p>
<p class="field"><label for="effort">Reasoning</label><select id="effort" autocomplete="off"></select></p>
<p class="field"><label class="switch"><input id="tool" type="checkbox" role="switch" autocomplete="off">Offer the tool get_balance</label><small>You write its result.</small></p></div>
</details>
<div class="log" id="log" role="log" tabindex="0" aria-label="Conversation"><p class="empty" id="empty">Ask something. The conversation stays on this page.</p></div>
<form class="compose" id="compose" autocomplete="off"><label class="hidden" for="message">Message</label><textarea id="message" rows="2" placeholder="Message" autocomplete="off" aria-describedby="compose-hint"></textarea>
<p class="actions"><button type="submit" class="primary" id="send">Send</button><button type="button" id="stop" disabled>Stop</button><button type="button" id="retry" disabled>Retry</button><button type="button" id="new">New chat</button><span class="hint" id="compose-hint"><kbd>Enter</kbd> sends, <kbd>Shift</kbd> <kbd>Enter</kbd> begins a line, <kbd>Esc</kbd> stops</span></p></form>
<p id="state" role="status"></p>
</div>`,
});
