import type { IncomingMessage } from "node:http";
import type { Request, RequestHandler, Response } from "express";
import * as OpenApiValidator from "express-openapi-validator";
import type { OpenApiRequestHandler } from "express-openapi-validator/dist/framework/types.js";
import { ApiError } from "../errors/api-error.ts";
import { BodyText } from "./body-text.ts";
import { dependenciesOf } from "./dependencies.ts";
import type { FindSchemaFaults } from "./dependencies.ts";
import { explainUrl } from "./explain-url.ts";
import { explainViolation } from "./explain-violation.ts";
import { findIgnoredFields, formatIgnored } from "./ignored-fields.ts";
import { validatorCopy } from "./load-contract.ts";
import type { Contract } from "./load-contract.ts";
import { namesInOrder } from "./member-order.ts";
import { parseJsonBody } from "./parse-json-body.ts";
import { requestSchema } from "./schema.ts";

/** The stages that hold a request to the contract; the body is read between them. */
export interface ContractStages {
  /** Which operation it is. @throws {ApiError} 404 `unknown_url`, 405 `method_not_allowed` */
  readonly matchOperation: RequestHandler;
  /** Turns the bytes of the body into what its operation declares. @throws {ApiError} 400 */
  readonly validateBody: RequestHandler;
}

/** Resolves the contract and every validator before the first request: a broken contract must not listen. */
export async function loadStages(contract: Contract, findSchemaFaults: FindSchemaFaults): Promise<ContractStages> {
  const [pathParams, metadata, , requestValidator] = OpenApiValidator.middleware({
    // Stripped of what the validator would act on; lint has held the document itself to OpenAPI.
    apiSpec: validatorCopy(contract) as Parameters<typeof OpenApiValidator.middleware>[0]["apiSpec"],
    validateApiSpec: false,
    validateSecurity: false,
    validateResponses: false,
    fileUploader: false,
    validateRequests: { allowUnknownQueryParameters: true, allErrors: false, discriminator: true },
  });
  if (!pathParams || !metadata || !requestValidator)
    throw new Error("express-openapi-validator has other stages than expected");
  return {
    matchOperation: async function matchOperation(req, res, next) {
      await match([pathParams, metadata], req, res);
      next();
    },
    validateBody: async function validateBody(req, res, next) {
      if (req.method === "POST") await validate(requestValidator, findSchemaFaults, req, res);
      next();
    },
  };
}

/** One of the validator's stages as a promise. */
function run(handler: OpenApiRequestHandler, req: Request, res: Response): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  // The validator's own request type only adds what its first stage writes.
  const asOwn = req as unknown as Parameters<OpenApiRequestHandler>[0];
  void handler(asOwn, res, (error?: unknown) => (error === undefined ? resolve() : reject(error)));
  return promise;
}

async function match(handlers: readonly OpenApiRequestHandler[], req: Request, res: Response): Promise<void> {
  // The validator takes a slash at the end for nothing.
  if (req.path.endsWith("/")) throw explainUrl(req.originalUrl);
  try {
    for (const handler of handlers) await run(handler, req, res);
  } catch (error) {
    if (error instanceof OpenApiValidator.error.MethodNotAllowed)
      throw methodNotAllowed(req.method, error.headers?.["Allow"] ?? "");
    if (error instanceof OpenApiValidator.error.NotFound) throw explainUrl(req.originalUrl);
    if (error instanceof OpenApiValidator.error.BadRequest) {
      throw new ApiError("invalid_value", "The path has a broken percent-encoding.", { cause: error });
    }
    throw error;
  }
  if (!("openapi" in req) || req.openapi === undefined) throw explainUrl(req.originalUrl);
}

const methodNotAllowed = (method: string, allow: string): ApiError =>
  new ApiError("method_not_allowed", `${method} is not allowed here. Use ${allow}.`, { allow });

const texts = new WeakMap<IncomingMessage, BodyText>();

/** The text of a body that has passed. */
export const bodyTextOf = (req: IncomingMessage): BodyText => texts.get(req) ?? new BodyText("null");

/** The validator judges; where it, or a rule that no schema can say, refuses, the first fault is told. */
async function validate(
  validator: OpenApiRequestHandler,
  findSchemaFaults: FindSchemaFaults,
  req: Request,
  res: Response,
): Promise<void> {
  const { value, text } = parseJsonBody(req.body as Buffer); // readBody has put them there
  req.body = value;
  texts.set(req, text);
  const isValid = await isAccepted(validator, req, res);
  const fault = explainViolation(requestSchema(), value, dependenciesOf(value, text, findSchemaFaults));
  if (fault) throw fault;
  // Both read the same schema; a test holds them to the same verdict.
  if (!isValid) throw new ApiError("invalid_value", "The body does not match the contract.");
  nameIgnored(req, res);
}

async function isAccepted(validator: OpenApiRequestHandler, req: Request, res: Response): Promise<boolean> {
  try {
    await run(validator, req, res);
    return true;
  } catch (error) {
    const { BadRequest, UnsupportedMediaType } = OpenApiValidator.error;
    if (error instanceof BadRequest || error instanceof UnsupportedMediaType) return false;
    throw error;
  }
}

function nameIgnored(req: Request, res: Response): void {
  if (findIgnoredFields(requestSchema(), req.body).length === 0) return;
  const namesOf = namesInOrder(bodyTextOf(req).text, req.body);
  const ignored = findIgnoredFields(requestSchema(), req.body, namesOf);
  const [first] = ignored;
  if (first !== undefined && req.get("x-strict-params")?.toLowerCase() === "true") {
    throw new ApiError("unknown_parameter", `${first} would have no effect, and x-strict-params was asked for.`, {
      param: first,
    });
  }
  res.setHeader("x-ignored-params", formatIgnored(ignored));
}
