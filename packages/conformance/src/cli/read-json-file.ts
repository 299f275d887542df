import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import type { ErrorObject } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import { clauses } from "../contract/contract.ts";
import { selectors } from "../contract/select-clauses.ts";
import { remedyFor } from "./nearest.ts";

const ids = clauses.map(({ id }) => id);
const ownFormats: Readonly<Record<string, readonly string[]>> = { "clause-id": ids, "clause-selector": selectors };

/** A file that the user gave is not as its schema says. The message is one sentence with the member and the nearest right name. */
class FileError extends Error {
  override readonly name = "FileError";
}

/**
 * Reads a JSON file of the user and holds it to one of the schemas of this package.
 * @param file the path, for messages as well
 * @param schema the file name of the schema
 * @throws FileError if it cannot be read, is not JSON, or breaks the schema
 */
export function readJsonFile(file: string, schema: "baseline.schema.json" | "profile.schema.json"): unknown {
  const value = parse(file, read(file));
  const ajv = new Ajv2020({ verbose: true, discriminator: true });
  formats.default(ajv);
  for (const [name, names] of Object.entries(ownFormats))
    ajv.addFormat(name, (text: string) => names.some((one) => one.toLowerCase() === text.toLowerCase()));
  const text = readFileSync(new URL(`../../${schema}`, import.meta.url), "utf8");
  const validate = ajv.compile(JSON.parse(text) as object); // one of this package's schemas
  if (!validate(value)) throw new FileError(`${file}: ${describeFault(validate.errors?.[0])}`);
  return value;
}

function read(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    const isMissing = error instanceof Error && "code" in error && error.code === "ENOENT";
    throw new FileError(isMissing ? `There is no file ${file}.` : `${file} cannot be read.`);
  }
}

function parse(file: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new FileError(`${file} is not JSON: ${error instanceof Error ? error.message : String(error)}.`);
  }
}

/** Says in one sentence which member is wrong, and the nearest right name. */
function describeFault(fault: ErrorObject | undefined): string {
  if (!fault) return "it is not valid.";
  const { instancePath, keyword, params, data, parentSchema, propertyName } = fault;
  const at = instancePath === "" ? "the file" : `\`${instancePath.slice(1).replaceAll("/", ".")}\``;
  const shown = JSON.stringify(data);
  switch (keyword) {
    case "additionalProperties": {
      const name = String(params["additionalProperty"]);
      return `${at} has the unknown member \`${name}\`; ${remedyFor(name, Object.keys(Object(parentSchema?.["properties"])))}`;
    }
    case "required":
      return `${at} lacks the member \`${params["missingProperty"]}\`.`;
    case "enum": {
      const remedy = remedyFor(String(data), (params["allowedValues"] as readonly string[]).map(String)); // of an enum
      return propertyName === undefined
        ? `${at} is ${shown}; ${remedy}`
        : `${at} has the unknown member \`${propertyName}\`; ${remedy}`;
    }
    case "format": {
      const names = ownFormats[String(params["format"])];
      return names === undefined
        ? `${at} is ${shown}, which is not a ${params["format"]}${params["format"] === "date" ? " such as 2027-01-31" : ""}.`
        : `${at} is ${shown}, which is not a clause${names === ids ? "" : ", a chapter or a tag"}; ${remedyFor(String(data), names)}`;
    }
    default:
      return `${at} ${fault.message ?? "is not valid"}, and it is ${shown}.`;
  }
}
