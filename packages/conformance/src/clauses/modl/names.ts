import { isDeepStrictEqual } from "node:util";
import type { Check } from "../../judge/check.ts";
import type { Context } from "../../judge/context.ts";
import { cannot, doesNotApply, must, show } from "../../judge/finding.ts";
import { valueAt, isCompletion, listAt, mustRefuse, sentBody, textAt } from "../../judge/read.ts";
import { modelObjectsOf } from "../../requests/listed-model.ts";
import type { Answer } from "../../wire/answer.ts";
import { aliased, shortened } from "./requests.ts";

const unknown = "MODL-12 an unknown id, streamed";
const short = "a name without its vendor prefix";

/** Checks of the names by which a model is asked for. */
export const nameChecks: readonly Check[] = [
  {
    clause: "MODL-15",
    how: "Asks for a model that a key may not use, for one that does not exist, and for a name near the first.",
    uses: ["a model that this key may not use"],
    judge: (context) => {
      const [forbidden, unknown, allowed, near] = context.answers("a model that this key may not use");
      if (!forbidden || !unknown || !allowed || !near || !isCompletion(allowed))
        cannot("the model does not answer the ordinary key");
      mustRefuse(forbidden, { status: 404, code: "model_not_found", param: "model" });
      // The hint of a refusal may differ with the name that was asked for; the words around it may not.
      const { restrictedModel = "" } = context.profile;
      const others = listedIds(context).filter((id) => id !== restrictedModel);
      const [one, other] = [forbidden, unknown].map((answer) => withoutNames(answer, ["ID", ...others]));
      must(one === other, forbidden, `the message ${show(other)}`, `the message ${show(one)}`);
      for (const answer of [forbidden, unknown, near])
        must(
          !withoutNames(answer, ["ID"]).includes(restrictedModel),
          answer,
          "a message without the model",
          `the message ${show(one)}`,
        );
      return `both: ${one}`;
    },
  },
  {
    clause: "MODL-16",
    how: "Asks for a model by one of its aliases.",
    uses: ["models", "an alias"],
    judge: (context) => {
      const [alias] = mustList(context);
      const [answer] = context.answers("an alias");
      must(
        answer !== undefined && isCompletion(answer),
        answer,
        "status 200 with a chat completion",
        answer?.summary ?? "no answer",
      );
      must(
        textAt(answer.json, "/model") === alias,
        answer,
        `model ${show(alias)}`,
        `model ${show(valueAt(answer.json, "/model"))}`,
      );
      return `${show(alias)} answered as ${show(alias)}`;
    },
  },
  {
    clause: "MODL-17",
    how: "Retrieves a model by one of its aliases.",
    uses: ["models", "retrieve an alias"],
    judge: (context) => {
      const [alias, listed] = mustList(context);
      const [answer] = context.answers("retrieve an alias");
      must(
        answer?.status === 200 && isDeepStrictEqual(answer.json, listed),
        answer,
        `the model object ${show(listed)}`,
        `the body ${show(answer?.json)}`,
      );
      return `${show(alias)} gives ${show(listed["id"])}`;
    },
  },
  {
    clause: "MODL-18",
    how: "Compares all ids and aliases of the listing.",
    uses: ["models"],
    judge: (context) => {
      const names = modelObjectsOf(context).flatMap((one) => [one["id"], ...listAt(one, "/aliases")]);
      const twice = names.find((name, index) => names.indexOf(name) !== index);
      must(
        names.length > 0 && twice === undefined,
        context.answer("models"),
        "names that stand for one model each",
        `the name ${show(twice)} twice`,
      );
      return `${names.length} names`;
    },
  },
  {
    clause: "MODL-19",
    how: "Asks for a model by its id without the vendor prefix.",
    uses: ["models", short],
    judge: (context) => {
      const [name] = mustShorten(context);
      const [answer] = context.answers(short);
      must(
        answer !== undefined && isCompletion(answer),
        answer,
        "status 200 with a chat completion",
        answer?.summary ?? "no answer",
      );
      return `${show(name)} is answered`;
    },
  },
  {
    clause: "MODL-20",
    how: "Compares the model of that answer with the id.",
    uses: ["models", short],
    judge: (context) => {
      const [name, listed] = mustShorten(context);
      const [answer] = context.answers(short);
      if (!answer || !isCompletion(answer)) doesNotApply("names without their vendor prefix are not answered");
      must(
        textAt(answer.json, "/model") === listed["id"],
        answer,
        `model ${show(listed["id"])}`,
        `model ${show(valueAt(answer.json, "/model"))}`,
      );
      return `${show(name)} answered as ${show(listed["id"])}`;
    },
  },
  {
    clause: "MODL-21",
    how: "Retrieves a model by its id without the vendor prefix.",
    uses: ["models", short],
    judge: (context) => {
      const [name, listed] = mustShorten(context);
      const [asked, retrieved] = context.answers(short);
      const isTaken = asked !== undefined && isCompletion(asked);
      const wanted = isTaken ? isDeepStrictEqual(retrieved?.json, listed) : retrieved?.status === 404;
      must(
        wanted,
        retrieved,
        isTaken ? `the model object ${show(listed)}` : "status 404, as for a chat",
        `the body ${show(retrieved?.json)}`,
      );
      return `${show(name)} gives ${isTaken ? show(listed["id"]) : "404"} in both`;
    },
  },
  {
    clause: "MODL-22",
    how: "Reads the refusal of an unknown id.",
    uses: ["models", unknown],
    judge: (context) => {
      const answer = context.answer(unknown);
      mustRefuse(answer, { status: 404, code: "model_not_found", param: "model" });
      const message = withoutNames(answer, [""]);
      const named = listedIds(context).find((id) => message.includes(id));
      must(named !== undefined, answer, "an id of the listing in the message", `the message ${show(message)}`);
      return `the message names ${show(named)}`;
    },
  },
];

const listedIds = (context: Context): string[] => modelObjectsOf(context).map((one) => String(one["id"]));

/** The message of a refusal, with the first of these names in place of the name that was asked for and of the other names. */
const withoutNames = (answer: Answer, [name = "", ...others]: readonly string[]): string =>
  [textAt(sentBody(answer), "/model") ?? "", ...others.toSorted((one, other) => other.length - one.length)].reduce(
    (message, other) => message.replaceAll(other, name),
    textAt(answer.json, "/error/message") ?? "",
  );

/** The first alias of the listing with its model. */
function mustList(context: Context): readonly [alias: string, listed: Record<string, unknown>] {
  return aliased(context) ?? doesNotApply("no model lists an alias");
}

/** The first name that means a model without its vendor prefix, with that model. */
function mustShorten(context: Context): readonly [name: string, listed: Record<string, unknown>] {
  return shortened(context) ?? doesNotApply("no ready model has a name of its own behind the slash");
}
