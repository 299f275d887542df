import type { IncomingMessage, ServerResponse } from "node:http";
import type { Request, Response } from "express";
import * as OpenApiValidator from "express-openapi-validator";
import type { OpenApiRequestHandler } from "express-openapi-validator/dist/framework/types.js";
import contract from "../generated/contract.json" with { type: "json" };
import type { Schema } from "./schema.ts";

/** Judges a parsed body. The request has gone through Express. */
export type ExpressGate = (body: unknown, req: IncomingMessage, res: ServerResponse) => Promise<boolean>;

/**
 * express-openapi-validator, of which two stages are needed: the one that looks up the operation, and the one that
 * judges its body. Keys, paths and media types have been judged by then. It takes requests as Express has them.
 */
export function createExpressGate(schema: Schema): ExpressGate {
  const [, lookUp, , validate] = OpenApiValidator.middleware({
    apiSpec: specification(schema),
    validateApiSpec: false, // lint has held the contract to OpenAPI
    validateSecurity: false,
    validateResponses: false,
    fileUploader: false,
    validateRequests: { allowUnknownQueryParameters: true, allErrors: false },
  });
  if (!lookUp || !validate) throw new Error("express-openapi-validator has other stages than expected");
  return async (body, req, res) => {
    // Express has made them its own.
    const [request, response] = [req as Request, res as Response];
    request.body = body;
    try {
      for (const stage of [lookUp, validate]) await run(stage, request, response);
      return true;
    } catch (error) {
      if (error instanceof OpenApiValidator.error.BadRequest) return false;
      throw error;
    }
  };
}

type Specification = Parameters<typeof OpenApiValidator.middleware>[0]["apiSpec"];

/** A copy, which the validator writes into. It would match no path under a server given by a variable. */
function specification(schema: Schema): Specification {
  const { components, ...rest } = contract;
  const schemas = { ...components.schemas, ChatCompletionRequest: schema };
  const document = { ...rest, components: { ...components, schemas }, servers: [{ url: "/" }] };
  return structuredClone(document) as unknown as Specification; // a document of OpenAPI 3.1
}

/** One of the validator's stages as a promise. */
function run(stage: OpenApiRequestHandler, req: Request, res: Response): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  // The validator's own request type only adds what its stages write.
  const request = req as unknown as Parameters<OpenApiRequestHandler>[0];
  void stage(request, res, (error?: unknown) => (error === undefined ? resolve() : reject(error)));
  return promise;
}
