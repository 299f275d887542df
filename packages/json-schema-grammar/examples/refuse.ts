import { compileSchema, nearestForm } from "@parley/json-schema-grammar";

const compiled = compileSchema({
  properties: {
    tags: { type: "array", items: { type: "string" }, uniqueItems: true },
  },
});
if ("fault" in compiled) {
  const { path, keyword, reason } = compiled.fault;
  console.log(`${compiled.kind} at ${path}: ${reason}`);
  console.log(`Use ${nearestForm(keyword)}.`);
}
