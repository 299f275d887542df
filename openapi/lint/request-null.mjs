import { follow, visitRequestSchemas, typesOf } from "./walk-schemas.mjs";

/** In requests null means absent: every member that is not required accepts it. */
export const requestNull = visitRequestSchemas((schema, location, ctx) => {
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const at = location.child(["properties", name]);
    if (schema.required?.includes(name) || acceptsNull(property, at, ctx)) continue;
    ctx.report({ message: `"${name}" is optional and has to accept null.`, location: at });
  }
});

function acceptsNull(node, location, ctx) {
  const { schema, at } = follow(node, location, ctx);
  if (schema.oneOf) return schema.oneOf.some((branch) => acceptsNull(branch, at, ctx));
  return typesOf(schema).includes("null");
}
