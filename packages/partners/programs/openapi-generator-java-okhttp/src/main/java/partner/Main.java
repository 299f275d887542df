package partner;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import okhttp3.OkHttpClient;
import okhttp3.sse.EventSources;
import partner.parley.ApiClient;
import partner.parley.ApiException;
import partner.parley.JSON;
import partner.parley.api.ChatApi;
import partner.parley.api.ModelsApi;
import partner.parley.model.ChatCompletionRequest;
import partner.parley.model.ChatMessage;
import partner.parley.model.ErrorResponse;
import partner.parley.model.FunctionDefinition;
import partner.parley.model.JsonSchemaFormat;
import partner.parley.model.MessageContent;
import partner.parley.model.ResponseFormat;
import partner.parley.model.ResponseFormatJsonSchema;
import partner.parley.model.Tool;
import partner.parley.model.UserMessage;

/** Usage: program models | program answer PROMPT | program error | program stream PROMPT. */
public final class Main {
  private static final String MODEL = "vendor/model-1";
  private static final Map<String, Object> CITY =
      Map.of("type", "object", "properties", Map.of("city", Map.of("type", "string")));

  private Main() {}

  public static void main(String[] args) throws Exception {
    var prompt = args.length > 1 ? args[1] : "";
    try {
      switch (args[0]) {
        case "models" -> listModels();
        case "answer" -> answer(prompt);
        case "error" -> refusal();
        default -> stream(prompt);
      }
    } catch (StreamFailure failure) {
      System.out.println(failure.getMessage());
      System.exit(1);
    }
  }

  private static ApiClient connect() {
    var client = new ApiClient(new OkHttpClient()).setBasePath(System.getenv("PARLEY_URL"));
    client.setBearerToken(System.getenv("PARLEY_KEY"));
    return client;
  }

  private static ChatCompletionRequest newRequest(String model, String prompt) {
    var message = new UserMessage().role(UserMessage.RoleEnum.USER).content(new MessageContent(prompt));
    return new ChatCompletionRequest().model(model).addMessagesItem(new ChatMessage(message));
  }

  private static void listModels() throws ApiException {
    for (var model : new ModelsApi(connect()).listModels(null).getData()) {
      System.out.println(model.getId());
    }
  }

  private static void answer(String prompt) throws ApiException {
    var function = new FunctionDefinition().name("get_weather").parameters(CITY);
    var format =
        new ResponseFormatJsonSchema()
            .type(ResponseFormatJsonSchema.TypeEnum.JSON_SCHEMA)
            .jsonSchema(new JsonSchemaFormat().name("city").schema(CITY));
    var request =
        newRequest(MODEL, prompt)
            .tools(List.of(new Tool().type(Tool.TypeEnum.FUNCTION).function(function)))
            .responseFormat(new ResponseFormat(format));
    var completion = new ChatApi(connect()).createChatCompletion(request, null, null);
    for (var choice : completion.getChoices()) {
      System.out.println(choice.getFinishReason() + " " + choice.getMessage().getContent());
      for (var call : choice.getMessage().getToolCalls()) {
        System.out.println(call.getFunction().getName() + " " + call.getFunction().getArguments());
      }
    }
  }

  private static void refusal() {
    try {
      new ChatApi(connect()).createChatCompletion(newRequest("vendor/none", "Hello"), null, null);
    } catch (ApiException failure) {
      ErrorResponse refused = JSON.deserialize(failure.getResponseBody(), ErrorResponse.class);
      System.out.println(failure.getCode() + " " + refused.getError().getType() + " " + refused.getError().getCode());
    }
  }

  private static void stream(String prompt) throws ApiException, IOException, StreamFailure {
    var call = new ChatApi(connect()).createChatCompletionCall(newRequest(MODEL, prompt).stream(true), null, null, null);
    var reader = new ChunkReader();
    try (var response = call.execute()) {
      EventSources.processResponse(response, reader);
    }
    reader.requireWhole();
  }
}
