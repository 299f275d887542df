import type { Step } from "../../judge/check.ts";
import type { Context } from "../../judge/context.ts";
import { cannot, must } from "../../judge/finding.ts";
import { valueAt, isRecord, listAt } from "../../judge/read.ts";
import { httpRequest, chat } from "../../requests/chat-request.ts";
import { modelId, modelObjectsOf, nameWithoutVendor } from "../../requests/listed-model.ts";
import { refusals } from "../../requests/refusals.ts";

export const plans = refusals([
  {
    clause: "MODL-11",
    want: { status: 404, code: "model_not_found", param: "model" },
    positiveControl: "retrieve, encoded",
    cases: [
      {
        title: "an unknown id",
        request: (context) => httpRequest(context, "GET", `${context.profile.basePath}/models/conformance%2Fnone`),
      },
      {
        title: "an unknown id, its slash raw",
        request: (context) => httpRequest(context, "GET", `${context.profile.basePath}/models/conformance/none`),
      },
    ],
  },
  {
    clause: "MODL-12",
    want: { status: 404, code: "model_not_found", param: "model" },
    cases: [
      { title: "an unknown id", members: { model: "conformance/none" }, coveredBy: "after an error #2" },
      { title: "an unknown id, streamed", members: { model: "conformance/none", stream: true }, isAlways: true },
    ],
  },
]);

export const steps: readonly Step[] = [
  { name: "models", requests: (context) => [httpRequest(context, "GET", `${context.profile.basePath}/models`)] },
  {
    name: "retrieve, raw",
    needs: ["models", "after an error"],
    coveredBy: (context) => {
      const answer = context.exchange("after an error #3");
      must(answer.status === 200, answer, "status 200", answer.summary);
      return answer.name;
    },
    requests: (context) => [httpRequest(context, "GET", `${context.profile.basePath}/models/${modelId(context)}`)],
  },
  {
    name: "retrieve, encoded",
    needs: ["models"],
    requests: (context) => [
      httpRequest(context, "GET", `${context.profile.basePath}/models/${modelId(context).replaceAll("/", "%2F")}`),
    ],
  },
  {
    name: "other models",
    needs: ["models"],
    requests: (context) => {
      const others = readyIds(context).filter((id) => id !== modelId(context));
      return (context.profile.isExhaustive ? others : others.slice(0, 2)).map((model) =>
        chat(context, { model, max_completion_tokens: 1 }),
      );
    },
  },
  {
    name: "sampling defaults",
    needs: ["models"],
    isValid: true,
    requests: (context) => {
      const defaults = valueAt(listedModel(context), "/default_sampling_parameters");
      if (!isRecord(defaults)) cannot("the model object has no default_sampling_parameters");
      const seeded = { seed: 4711, temperature: undefined };
      return [chat(context, seeded), chat(context, { ...seeded, ...defaults })];
    },
  },
  {
    name: "a model that this key may not use",
    needs: ["models"],
    requests: (context) => {
      const { restrictedModel: model, keyRoles } = context.profile;
      if (model === undefined || !keyRoles.includes("restricted"))
        cannot("name a key `restricted` and `restrictedModel` in the conformance profile");
      return [
        chat(context, { model }, { key: "restricted" }),
        chat(context, { model: "conformance/none" }, { key: "restricted" }),
        chat(context, { model, max_completion_tokens: 1 }),
        chat(context, { model: `${model}-x` }, { key: "restricted" }),
      ];
    },
  },
  {
    name: "a name without its vendor prefix",
    needs: ["models"],
    requests: (context) => {
      const [model] = shortened(context) ?? [];
      if (model === undefined) return [];
      const path = `${context.profile.basePath}/models/${encodeURIComponent(model)}`;
      return [chat(context, { model, max_completion_tokens: 1 }), httpRequest(context, "GET", path)];
    },
  },
  {
    name: "an alias",
    needs: ["models"],
    requests: (context) => {
      const [model] = aliased(context) ?? [];
      return model === undefined ? [] : [chat(context, { model, max_completion_tokens: 1 })];
    },
  },
  {
    name: "retrieve an alias",
    needs: ["models"],
    requests: (context) => {
      const [alias] = aliased(context) ?? [];
      if (alias === undefined) return [];
      return [httpRequest(context, "GET", `${context.profile.basePath}/models/${encodeURIComponent(alias)}`)];
    },
  },
];

export const listedModel = (context: Context): unknown =>
  modelObjectsOf(context).find((one) => one["id"] === modelId(context));
export const readyIds = (context: Context): string[] =>
  modelObjectsOf(context).flatMap((one) =>
    one["is_ready"] === true && typeof one["id"] === "string" ? [one["id"]] : [],
  );

/** The id of a ready model without its vendor prefix, where no other name is the same, with the model object. */
export function shortened(context: Context): readonly [name: string, listed: Record<string, unknown>] | undefined {
  const models = modelObjectsOf(context);
  const taken = models.flatMap((one) => [one["id"], ...listAt(one, "/aliases"), nameWithoutVendor(one)]);
  const found = models.find((one) => {
    const same = taken.filter((name) => name === nameWithoutVendor(one));
    return one["is_ready"] === true && same.length === 1;
  });
  return found && [nameWithoutVendor(found), found];
}

/** An alias of a ready model, with the model object that lists it. */
export function aliased(context: Context): readonly [alias: string, listed: Record<string, unknown>] | undefined {
  const listed = modelObjectsOf(context).find((one) => one["is_ready"] === true && listAt(one, "/aliases").length > 0);
  return listed && [String(listAt(listed, "/aliases")[0]), listed];
}
