/** Shows the button of each code block that copies its code. */
export function addCopyButtons(within: ParentNode): void {
  for (const button of within.querySelectorAll<HTMLButtonElement>("button.copy")) {
    const code = button.parentElement?.querySelector("pre");
    if (!code) continue;
    button.hidden = false;
    button.addEventListener("click", () => void copyFrom(code, button));
  }
}

async function copyFrom(code: HTMLElement, button: HTMLButtonElement): Promise<void> {
  button.textContent = (await copy(code.textContent ?? "")) ? "Copied" : "Select and copy";
  setTimeout(() => (button.textContent = "Copy"), 1500);
}

/** The clipboard is refused on pages without HTTPS, except on this machine. */
async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
