import type { IncomingMessage, ServerResponse } from "node:http";
import type { Request, Response } from "express";
import * as OpenApiValidator from "express-openapi-validator";
import type { OpenApiRequestHandler } from "express-openapi-validator/dist/framework/types.js";
import contract from "@parley/contract/contract.json" with { type: "json" };
import type { Schema } from "../chat/body/schema.ts";

/** Returns whether a parsed body satisfies its schema. The request must have gone through Express. */
export type ExpressGate = (body: unknown, req: IncomingMessage, res: ServerResponse) => Promise<boolean>;

/**
 * Creates a gate of express-openapi-validator. Only two of its middlewares are used: one finds the operation, the other
 * validates the body. Keys, paths and media types are checked before. It needs requests of Express.
 */
export function createExpressGate(schema: Schema): ExpressGate {
  const [, lookUp, , validate] = OpenApiValidator.middleware({
    apiSpec: specification(schema),
    validateApiSpec: false, // the lint step has checked the contract
    validateSecurity: false,
    validateResponses: false,
    fileUploader: false,
    validateRequests: { allowUnknownQueryParameters: true, allErrors: false },
  });
  if (!lookUp || !validate) throw new Error("express-openapi-validator has other middlewares than expected");
  return async (body, req, res) => {
    // Express has extended both objects.
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

/**
 * Returns a copy of the contract, since the validator writes into it. Its server has no variable, because the validator
 * would then match no path.
 */
function specification(schema: Schema): Specification {
  const { components, ...rest } = contract;
  const schemas = { ...components.schemas, ChatCompletionRequest: schema };
  const document = { ...rest, components: { ...components, schemas }, servers: [{ url: "/" }] };
  return structuredClone(document) as unknown as Specification; // a document of OpenAPI 3.1
}

/** Runs one of the validator's middlewares. */
function run(stage: OpenApiRequestHandler, req: Request, res: Response): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  // The validator's request type only adds members that its middlewares write.
  const request = req as unknown as Parameters<OpenApiRequestHandler>[0];
  void stage(request, res, (error?: unknown) => (error === undefined ? resolve() : reject(error)));
  return promise;
}
