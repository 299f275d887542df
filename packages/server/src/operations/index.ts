import type { Operations } from "./call.ts";
import { createChatCompletion } from "./create-chat-completion/create-chat-completion.ts";
import type { ChatDeps } from "./create-chat-completion/create-chat-completion.ts";
import { listModels } from "./list-models/list-models.ts";
import { retrieveModel } from "./retrieve-model/retrieve-model.ts";

/** Returns all operations of the contract, by id. */
export const buildOperations = (deps: ChatDeps): Operations => ({
  createChatCompletion: createChatCompletion(deps),
  listModels: listModels(deps.models),
  retrieveModel: retrieveModel(deps.models),
});
