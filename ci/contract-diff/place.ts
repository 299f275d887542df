/** Describes the place of a JSON Pointer in the reader's words. */
export function placeOf(pointer: string): string {
  const [first = "", ...rest] = pointer
    .replace(/^#?\//, "")
    .split("/")
    .map((segment) => segment.replaceAll("~1", "/").replaceAll("~0", "~"));
  if (first !== "paths") return [first, ...rest].join(" ");
  const [path = "", method = "", part = "", ...inner] = rest;
  const operation = `${method.toUpperCase()} ${path}`.trim();
  if (part === "requestBody") return join(operation, "request", memberAt(inner));
  if (part !== "responses") return join(operation, part, inner.join(" "));
  const [status = "", ...answer] = inner;
  if (answer[0] !== "content") return join(operation, `answer ${status}`, answer.join(" "));
  return join(operation, `answer ${status}`, memberAt(answer));
}

const join = (operation: string, part: string, member: string): string =>
  [[operation, part].filter((text) => text !== "").join(", "), member].filter((text) => text !== "").join(": ");

/** Returns the path of a member in the form of `error.param`, without media type and schema keywords. */
function memberAt([content, , ...segments]: readonly string[]): string {
  if (content !== "content") return content ?? "";
  let path = "";
  for (let index = 0; index < segments.length; index += 1) {
    const segment = segments[index];
    if (segment === "properties") path += `${path === "" ? "" : "."}${segments[(index += 1)] ?? ""}`;
    else if (segment === "items") path += "[]";
    else if (segment === "oneOf" || segment === "anyOf") index += 1;
    else if (segment !== "schema") path += ` ${segment}`;
  }
  return path.trim();
}
