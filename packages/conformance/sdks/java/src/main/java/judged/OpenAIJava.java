package judged;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.openai.client.OpenAIClient;
import com.openai.client.okhttp.OpenAIOkHttpClient;
import com.openai.core.JsonValue;
import com.openai.errors.OpenAIServiceException;
import com.openai.models.FunctionDefinition;
import com.openai.models.FunctionParameters;
import com.openai.models.chat.completions.ChatCompletionCreateParams;
import com.openai.models.chat.completions.ChatCompletionFunctionTool;
import com.openai.models.chat.completions.ChatCompletionStreamOptions;
import java.time.Duration;
import java.util.concurrent.Callable;

final class OpenAIJava {
  private OpenAIJava() {}

  public static void main(String[] arguments) throws Exception {
    Adapter.serve(OpenAIJava::prepare);
  }

  private static Callable<ObjectNode> prepare(JsonNode task) {
    var client =
        OpenAIOkHttpClient.builder()
            .baseUrl(task.get("baseUrl").asText())
            .apiKey(task.get("apiKey").asText())
            .maxRetries(task.get("maxRetries").asInt())
            .timeout(Duration.ofMillis(task.get("timeoutMs").asLong()))
            .build();
    var params = toParams(task);
    return () -> {
      var collected = new Adapter.Collected();
      try {
        if (task.get("call").asText().equals("create")) create(client, params, collected);
        else stream(client, params, task, collected);
      } catch (Exception error) {
        collected.answer.set("error", describe(error));
      }
      return collected.finish();
    };
  }

  private static ObjectNode describe(Exception error) {
    var described = Adapter.describe(error);
    if (error instanceof OpenAIServiceException refusal) {
      described.put("status", refusal.statusCode());
      described.put("code", refusal.code().orElse(null));
      described.put("param", refusal.param().orElse(null));
      described.put("requestId", refusal.headers().values("x-request-id").stream().findFirst().orElse(null));
    }
    return described;
  }

  private static ChatCompletionCreateParams toParams(JsonNode task) {
    var params = ChatCompletionCreateParams.builder().model(task.get("model").asText());
    for (var message : task.get("messages")) {
      var content = message.get("content").asText();
      switch (message.get("role").asText()) {
        case "system" -> params.addSystemMessage(content);
        case "assistant" -> params.addAssistantMessage(content);
        default -> params.addUserMessage(content);
      }
    }
    for (var tool : task.path("tools")) {
      var function = tool.get("function");
      var parameters = FunctionParameters.builder();
      function.get("parameters").fields().forEachRemaining(
          field -> parameters.putAdditionalProperty(field.getKey(), JsonValue.fromJsonNode(field.getValue())));
      var definition =
          FunctionDefinition.builder()
              .name(function.get("name").asText())
              .description(function.get("description").asText())
              .parameters(parameters.build())
              .build();
      params.addTool(ChatCompletionFunctionTool.builder().function(definition).build());
    }
    if (task.has("n")) params.n(task.get("n").asLong());
    if (task.path("includeUsage").asBoolean()) {
      params.streamOptions(ChatCompletionStreamOptions.builder().includeUsage(true).build());
    }
    return params.build();
  }

  private static void create(OpenAIClient client, ChatCompletionCreateParams params, Adapter.Collected collected) {
    var completion = client.chat().completions().create(params);
    var unknown = collected.answer.putObject("unknownMembers");
    for (var name : new String[] {"x_text", "x_number"}) {
      var value = completion._additionalProperties().get(name);
      if (value != null) unknown.set(name, value.convert(JsonNode.class));
    }
    completion.usage().ifPresent(usage -> collected.setUsage(usage.promptTokens(), usage.completionTokens()));
    var choice = completion.choices().get(0);
    choice.message().content().ifPresent(text -> collected.addText(0, text));
    collected.answer.put("finishReason", choice.finishReason().asString());
    var calls = choice.message().toolCalls().orElse(java.util.List.of());
    for (var call : calls) {
      var function = call.asFunction();
      collected.addCall(calls.indexOf(call), function.id(), function.function().name(), function.function().arguments());
    }
  }

  private static void stream(
      OpenAIClient client, ChatCompletionCreateParams params, JsonNode task, Adapter.Collected collected) {
    try (var response = client.chat().completions().createStreaming(params)) {
      var chunks = response.stream().iterator();
      while (chunks.hasNext()) {
        var chunk = chunks.next();
        chunk.usage().ifPresent(usage -> collected.setUsage(usage.promptTokens(), usage.completionTokens()));
        for (var choice : chunk.choices()) {
          choice.delta().content().ifPresent(text -> collected.addText(choice.index(), text));
          for (var call : choice.delta().toolCalls().orElse(java.util.List.of())) {
            var function = call.function().orElseThrow();
            collected.addCall(call.index(), call.id().orElse(null), function.name().orElse(null), function.arguments().orElse(""));
          }
          if (choice.index() == 0) {
            choice.finishReason().ifPresent(reason -> collected.answer.put("finishReason", reason.asString()));
          }
        }
        if (Adapter.pause(task)) {
          collected.answer.put("aborted", true);
          return;
        }
      }
    }
  }
}
