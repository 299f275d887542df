package judged;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.langchain4j.agent.tool.ToolSpecification;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.exception.HttpException;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.model.chat.request.json.JsonObjectSchema;
import dev.langchain4j.model.chat.response.ChatResponse;
import dev.langchain4j.model.chat.response.PartialResponse;
import dev.langchain4j.model.chat.response.PartialResponseContext;
import dev.langchain4j.model.chat.response.StreamingChatResponseHandler;
import dev.langchain4j.model.openai.OpenAiChatModel;
import dev.langchain4j.model.openai.OpenAiChatResponseMetadata;
import dev.langchain4j.model.openai.OpenAiStreamingChatModel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;

final class LangChain4j {
  private LangChain4j() {}

  public static void main(String[] arguments) throws Exception {
    Adapter.serve(LangChain4j::prepare);
  }

  private static Callable<ObjectNode> prepare(JsonNode task) {
    if (task.has("n")) return () -> Adapter.unsupported("a ChatResponse has one message");
    var request = toRequest(task);
    var timeout = Duration.ofMillis(task.get("timeoutMs").asLong());
    if (task.get("call").asText().equals("create")) {
      var model =
          OpenAiChatModel.builder()
              .baseUrl(task.get("baseUrl").asText())
              .apiKey(task.get("apiKey").asText())
              .modelName(task.get("model").asText())
              .maxRetries(task.get("maxRetries").asInt())
              .timeout(timeout)
              .build();
      return () ->
          collect(
              collected -> {
                var response = model.chat(request);
                take(response, collected);
                takeUnknown(response, collected);
              });
    }
    var model =
        OpenAiStreamingChatModel.builder()
            .baseUrl(task.get("baseUrl").asText())
            .apiKey(task.get("apiKey").asText())
            .modelName(task.get("model").asText())
            .timeout(timeout)
            .build();
    return () -> collect(collected -> stream(model, request, task, collected));
  }

  private interface Work {
    void run(Adapter.Collected collected) throws Throwable;
  }

  private static ObjectNode collect(Work work) {
    var collected = new Adapter.Collected();
    try {
      work.run(collected);
    } catch (Throwable error) {
      var described = Adapter.describe(error);
      for (var cause = error; cause != null; cause = cause.getCause()) {
        if (cause instanceof HttpException refusal) described.put("status", refusal.statusCode());
      }
      collected.answer.set("error", described);
    }
    return collected.finish();
  }

  private static ChatRequest toRequest(JsonNode task) {
    var messages = new ArrayList<ChatMessage>();
    for (var message : task.get("messages")) {
      var content = message.get("content").asText();
      messages.add(
          switch (message.get("role").asText()) {
            case "system" -> SystemMessage.from(content);
            case "assistant" -> AiMessage.from(content);
            default -> UserMessage.from(content);
          });
    }
    var tools = new ArrayList<ToolSpecification>();
    for (var tool : task.path("tools")) {
      var parameters = JsonObjectSchema.builder().addStringProperty("of").build();
      var name = tool.get("function").get("name").asText();
      tools.add(ToolSpecification.builder().name(name).parameters(parameters).build());
    }
    return ChatRequest.builder().messages(messages).toolSpecifications(tools).build();
  }

  private static void take(ChatResponse response, Adapter.Collected collected) {
    var message = response.aiMessage();
    if (message.text() != null) collected.addText(0, message.text());
    var reason = response.finishReason();
    collected.answer.put("finishReason", reason == null ? null : reason.name());
    var usage = response.tokenUsage();
    if (usage != null && usage.inputTokenCount() != null) {
      collected.setUsage(usage.inputTokenCount(), usage.outputTokenCount());
    }
    var calls = message.toolExecutionRequests();
    for (var call : calls) collected.addCall(calls.indexOf(call), call.id(), call.name(), call.arguments());
  }

  private static void takeUnknown(ChatResponse response, Adapter.Collected collected) throws Exception {
    if (!(response.metadata() instanceof OpenAiChatResponseMetadata metadata)) return;
    var raw = metadata.rawHttpResponse();
    var body = Adapter.JSON.readTree(raw == null ? "{}" : raw.body());
    var unknown = collected.answer.putObject("unknownMembers");
    for (var name : new String[] {"x_text", "x_number"}) if (body.has(name)) unknown.set(name, body.get(name));
  }

  private static void stream(
      OpenAiStreamingChatModel model, ChatRequest request, JsonNode task, Adapter.Collected collected)
      throws Throwable {
    var partial = new Adapter.Collected();
    var end = new CompletableFuture<Object>();
    model.chat(
        request,
        new StreamingChatResponseHandler() {
          @Override
          public void onPartialResponse(PartialResponse piece, PartialResponseContext context) {
            partial.addText(0, piece.text());
            if (Adapter.pause(task)) {
              context.streamingHandle().cancel();
              end.complete("aborted");
            }
          }

          @Override
          public void onCompleteResponse(ChatResponse response) {
            end.complete(response);
          }

          @Override
          public void onError(Throwable error) {
            end.complete(error);
          }
        });
    var last = end.get();
    if (last instanceof ChatResponse response) {
      take(response, collected);
      return;
    }
    var text = partial.finish().path("text").asText("");
    if (!text.isEmpty()) collected.addText(0, text);
    if (last instanceof Throwable error) throw error;
    collected.answer.put("aborted", true);
  }
}
