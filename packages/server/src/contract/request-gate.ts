import { Ajv2020 } from "ajv/dist/2020.js";
import contract from "../generated/contract.json" with { type: "json" };

/** Whether a body satisfies the contract's schema. Why it does not is left to `explainViolation`. */
export type RequestGate = (body: unknown) => boolean;

/**
 * Compiles the schema of a chat request. The contract is used as it is: Ajv follows `oneOf` without `discriminator`, and
 * lint has held the keywords to their spelling. @throws when the contract cannot be compiled: the server must not start
 */
export function compileGate(): RequestGate {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  return ajv.compile({
    $ref: "#/components/schemas/ChatCompletionRequest",
    components: contract.components,
  });
}
