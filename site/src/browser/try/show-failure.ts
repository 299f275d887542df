import { element, withCode } from "./element.ts";
import type { Failure } from "./send.ts";

/**
 * Shows a failure: its status, its code with a link to its page, its message, and the wait, which counts down.
 * @param retry is called by the button that the wait enables
 */
export function showFailure(failure: Failure, errorCodes: readonly string[], retry?: () => void): HTMLElement {
  const { status, code, message, param, requestId, waitMs, isInStream } = failure;
  const name = element("code", { textContent: code });
  const link = errorCodes.includes(code) ? element("a", { href: `/docs/errors/${code}` }, name) : name;
  const place = isInStream ? "The stream failed" : status === undefined ? "No answer" : `HTTP ${status}`;
  const title = element("p", { className: "failure-title" }, element("b", { textContent: place }));
  if (code !== "") title.append(" ", link);
  const card = element("div", { className: "failure" }, title, element("p", {}, ...withCode(message)));
  card.setAttribute("role", "alert");
  if (param !== undefined)
    card.append(element("p", {}, "The member at fault: ", element("code", { textContent: param })));
  if (isInStream)
    card.append(
      element("p", {
        textContent: "The text that has arrived is a part of the answer. Send the request again for a whole one.",
      }),
    );
  if (waitMs !== undefined) card.append(...waitRow(waitMs, retry));
  if (requestId !== undefined)
    card.append(element("p", { className: "quiet" }, "Request ", element("code", { textContent: requestId })));
  return card;
}

function waitRow(waitMs: number, retry: (() => void) | undefined): HTMLElement[] {
  const endsAt = Date.now() + waitMs;
  // Screen readers say the first text. The countdown would interrupt them each second.
  const text = element("span", { textContent: sentence(waitMs) });
  text.setAttribute("aria-live", "off");
  const button = element("button", { type: "button", textContent: "Send again", disabled: true, hidden: !retry });
  button.addEventListener("click", () => retry?.());
  const timer = setInterval(() => {
    const leftMs = endsAt - Date.now();
    text.textContent = sentence(leftMs);
    if (leftMs > 0) return;
    button.disabled = false;
    clearInterval(timer);
  }, 250);
  return [element("p", { className: "wait" }, text, " ", button)];
}

function sentence(ms: number): string {
  if (ms <= 0) return "The wait is over.";
  const seconds = Math.ceil(ms / 1000);
  return seconds < 120
    ? `Wait ${seconds} s, then send it again.`
    : `Wait ${Math.ceil(seconds / 60)} minutes, then send it again.`;
}
