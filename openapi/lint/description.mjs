/** All that a partner reads has a description: operations, parameters, answers, headers, schemas and their members. */
export function description() {
  const check = (node, { report, location }) => {
    if (!isFilled(node)) report({ message: "A description is missing.", location });
  };
  return {
    Operation: check,
    Parameter: check,
    RequestBody: check,
    Response: check,
    Header: check,
    SecurityScheme: check,
    Components({ schemas = {} }, ctx) {
      for (const [name, schema] of Object.entries(schemas)) {
        const { node, location } = ctx.resolve(schema);
        if (node && !isFilled(node)) ctx.report({ message: `The schema ${name} has no description.`, location });
      }
    },
    Schema(schema, { report, location, resolve }) {
      for (const [name, property] of Object.entries(schema.properties ?? {})) {
        const isDescribed = isFilled(property) || (property.$ref && isFilled(resolve(property).node ?? {}));
        if (isDescribed) continue;
        report({ message: `"${name}" has no description.`, location: location.child(["properties", name]) });
      }
    },
  };
}

function isFilled(node) {
  return typeof node.description === "string" && node.description.trim() !== "";
}
