/** The JSON types that a schema names; none where it leaves them open or is a union. */
export function typesOf(schema) {
  if (schema.type === undefined) return [];
  return Array.isArray(schema.type) ? schema.type : [schema.type];
}

/**
 * A rule that visits every schema of a request once: those of bodies and of parameters, at every depth and behind every
 * reference. (Redocly's own nested visitors stop at the first schema.)
 */
export function visitRequestSchemas(visit) {
  return () => {
    const visited = new Set();
    return {
      RequestBody: (body, ctx) => eachBody(body, ctx, visited, visit),
      Parameter(parameter, ctx) {
        eachSchema(parameter.schema, ctx.location.child("schema"), ctx, visited, visit);
      },
    };
  };
}

/** A rule that visits every schema of the bodies of answers once. */
export function visitAnswerSchemas(visit) {
  return () => {
    const visited = new Set();
    return { Response: (response, ctx) => eachBody(response, ctx, visited, visit) };
  };
}

function eachBody({ content = {} }, ctx, visited, visit) {
  for (const [type, media] of Object.entries(content))
    for (const keyword of ["schema", "itemSchema"])
      eachSchema(media[keyword], ctx.location.child(["content", type, keyword]), ctx, visited, visit);
}

function eachSchema(node, location, ctx, visited, visit) {
  const { schema, at } = follow(node, location, ctx);
  if (!schema || visited.has(schema)) return;
  visited.add(schema);
  visit(schema, at, ctx);
  for (const [path, child] of childrenOf(schema)) eachSchema(child, at.child(path), ctx, visited, visit);
}

/** The schema behind a reference, and where it stands. */
export function follow(node, location, ctx) {
  if (node?.$ref === undefined) return { schema: node, at: location };
  const target = ctx.resolve(node, location.source.absoluteRef);
  return { schema: target.node, at: target.location };
}

function childrenOf(schema) {
  const children = Object.entries(schema.properties ?? {}).map(([name, child]) => [["properties", name], child]);
  for (const keyword of ["oneOf", "anyOf", "allOf"])
    for (const [index, child] of (schema[keyword] ?? []).entries()) children.push([[keyword, index], child]);
  for (const keyword of ["items", "additionalProperties", "contentSchema"])
    if (typeof schema[keyword] === "object") children.push([[keyword], schema[keyword]]);
  return children;
}
