import { AnswerPanel } from "./try/answer-panel.ts";
import { openConnection } from "./try/connection.ts";
import type { Connection } from "./try/connection.ts";
import { byId, element, makeReady } from "./try/element.ts";
import { RequestEditor } from "./try/request-editor.ts";
import type { Samples } from "./try/samples.ts";
import { send } from "./try/send.ts";
import { showFailure } from "./try/show-failure.ts";

/** `/docs/try`: sends any request, and shows the answer while it arrives. */

const connection = await openConnection();
const editor = new RequestEditor(connection);
const samplesBox = byId("samples", HTMLElement);
/** They are loaded when they come into view. */
let samples: Samples | undefined;
const operation = byId("operation", HTMLSelectElement);
const modelId = byId("model-id", HTMLInputElement);
const example = byId("example", HTMLSelectElement);
const [sendButton, stopButton] = [byId("send", HTMLButtonElement), byId("stop", HTMLButtonElement)];
const failureBox = byId("failure", HTMLElement);
const panel = new AnswerPanel();
let running: AbortController | undefined;

const isChat = (): boolean => operation.value === "createChatCompletion";

/** The method and path that are chosen, with the id of the model in its place. */
function target(): { method: string; path: string } {
  const { method = "", path = "" } = operation.selectedOptions[0]?.dataset ?? {};
  return { method, path: path.replace("{model}", encodeURIComponent(modelId.value.trim()).replaceAll("%2F", "/")) };
}

function showSamples(): void {
  if (!samples) return;
  if (isChat()) samples.showChat(editor.request, editor.body);
  else samples.showGet(target().path);
}

function showOperation(): void {
  byId("body", HTMLElement).hidden = !isChat();
  byId("faults", HTMLElement).hidden = !isChat();
  byId("example-field", HTMLElement).hidden = !isChat();
  byId("path-field", HTMLElement).hidden = operation.value !== "retrieveModel";
  showSamples();
}

const examplesOf = ({ data, demo }: Connection): Connection["data"]["examples"] => [
  ...data.examples,
  ...(demo?.examples ?? []),
];

function listExamples(): void {
  const chosen = example.value;
  const options = examplesOf(connection).map(({ name, summary }) =>
    element("option", { value: name, textContent: summary }),
  );
  example.replaceChildren(...options);
  if (chosen !== "") example.value = chosen;
}

function loadExample(): void {
  const found = examplesOf(connection).find(({ name }) => name === example.value);
  if (found) editor.set(found.request);
}

function setRunning(controller: AbortController | undefined): void {
  running = controller;
  sendButton.disabled = controller !== undefined;
  stopButton.disabled = controller === undefined;
  byId("answer", HTMLElement).setAttribute("aria-busy", String(controller !== undefined));
}

/** In a narrow window the answer is below the request. */
function showAnswer(): void {
  const answer = byId("answer", HTMLElement);
  if (answer.getBoundingClientRect().top > innerHeight - 150) answer.scrollIntoView({ block: "start" });
}

async function start(): Promise<void> {
  if (running) return;
  const controller = new AbortController();
  const type = isChat() ? "application/json" : undefined;
  const request = { ...target(), ...(isChat() && { body: editor.body }), headers: connection.headers(type) };
  setRunning(controller);
  showAnswer();
  failureBox.replaceChildren();
  panel.begin(
    isChat(),
    connection.models.find(({ id }) => id === editor.request["model"]),
  );
  const outcome = await send({ ...request, signal: controller.signal }, panel);
  setRunning(undefined);
  panel.end(outcome);
  if (outcome.kind !== "failed") return;
  const { failure } = outcome;
  failureBox.replaceChildren(showFailure(failure, connection.data.errorCodes, () => void start()));
  if (failure.param !== undefined && isChat()) editor.showRefusal(failure.param, failure.code, failure.message);
}

byId("request", HTMLFormElement).addEventListener("submit", (event) => {
  event.preventDefault();
  void start();
});
stopButton.addEventListener("click", () => running?.abort());
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && !document.querySelector("dialog[open]")) running?.abort();
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) void start();
});
operation.addEventListener("change", showOperation);
modelId.addEventListener("input", showSamples);
example.addEventListener("change", loadExample);
editor.onChange = showSamples;
connection.onChange = () => {
  listExamples();
  modelId.value ||= connection.models[0]?.id ?? "";
};

function chooseFromAddress(): void {
  const asked = location.hash.slice(1);
  if ([...operation.options].some(({ value }) => value === asked)) operation.value = asked;
  showOperation();
}

async function loadSamples(): Promise<void> {
  const module = await import("./try/samples.ts");
  samples = new module.Samples(samplesBox);
  showSamples();
}

const observer = new IntersectionObserver(([entry]) => {
  if (!entry?.isIntersecting) return;
  observer.disconnect();
  void loadSamples();
});
observer.observe(samplesBox);
addEventListener("hashchange", chooseFromAddress);
byId("base-url", HTMLElement).textContent = `${location.origin}/v1`;
connection.onChange();
operation.value = "createChatCompletion";
loadExample();
chooseFromAddress();
makeReady();
