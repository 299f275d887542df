package partner;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.Map;
import partner.parley.ApiClient;
import partner.parley.ApiException;
import partner.parley.JSON;
import partner.parley.api.ChatApi;
import partner.parley.api.ModelsApi;
import partner.parley.model.ChatCompletionChunk;
import partner.parley.model.ChatCompletionRequest;
import partner.parley.model.ChatMessage;
import partner.parley.model.ErrorResponse;
import partner.parley.model.FunctionDefinition;
import partner.parley.model.JsonSchemaFormat;
import partner.parley.model.MessageContent;
import partner.parley.model.ResponseFormat;
import partner.parley.model.ResponseFormatJsonSchema;
import partner.parley.model.StreamError;
import partner.parley.model.Tool;
import partner.parley.model.UserMessage;

/** Usage: program models | program answer PROMPT | program error | program stream PROMPT. */
public final class Main {
  private static final String MODEL = "vendor/model-1";
  private static final Map<String, Object> CITY =
      Map.of("type", "object", "properties", Map.of("city", Map.of("type", "string")));

  private static final ObjectMapper json = JSON.getDefault().getMapper();

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
    var client = new ApiClient();
    client.updateBaseUri(System.getenv("PARLEY_URL"));
    client.setRequestInterceptor(Main::authorize);
    return client;
  }

  private static void authorize(HttpRequest.Builder request) {
    request.header("Authorization", "Bearer " + System.getenv("PARLEY_KEY"));
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

  private static void refusal() throws JsonProcessingException {
    try {
      new ChatApi(connect()).createChatCompletion(newRequest("vendor/none", "Hello"), null, null);
    } catch (ApiException failure) {
      var error = json.readValue(failure.getResponseBody(), ErrorResponse.class).getError();
      System.out.println(failure.getCode() + " " + error.getType() + " " + error.getCode());
    }
  }

  /** Sends the request itself, since the client reads the whole answer before it returns. */
  private static void stream(String prompt) throws IOException, InterruptedException, StreamFailure {
    var request =
        HttpRequest.newBuilder(URI.create(System.getenv("PARLEY_URL") + "/v1/chat/completions"))
            .header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString(json.writeValueAsString(newRequest(MODEL, prompt).stream(true))));
    authorize(request);
    var response = connect().getHttpClient().send(request.build(), HttpResponse.BodyHandlers.ofLines());
    if (response.statusCode() != 200) {
      throw new StreamFailure("status " + response.statusCode());
    }
    try (var lines = response.body()) {
      for (var line : (Iterable<String>) lines::iterator) {
        if (!line.startsWith("data: ")) {
          continue; // an empty line, or a keep-alive comment
        }
        var data = line.substring("data: ".length());
        if (data.equals("[DONE]")) {
          return;
        }
        printChunk(readChunk(data));
      }
    }
    throw new StreamFailure("truncated: the stream ended without [DONE]");
  }

  private static ChatCompletionChunk readChunk(String data) throws JsonProcessingException, StreamFailure {
    var event = json.readTree(data);
    if (event.has("error")) {
      var error = json.treeToValue(event, StreamError.class).getError();
      throw new StreamFailure("stream error: " + error.getCode());
    }
    return json.treeToValue(event, ChatCompletionChunk.class);
  }

  private static void printChunk(ChatCompletionChunk chunk) {
    for (var choice : chunk.getChoices()) {
      if (choice.getDelta().getContent() != null && !choice.getDelta().getContent().isEmpty()) {
        System.out.println(choice.getDelta().getContent());
      }
      if (choice.getFinishReason() != null) {
        System.out.println(choice.getFinishReason());
      }
    }
  }

  private static final class StreamFailure extends Exception {
    private static final long serialVersionUID = 1;

    StreamFailure(String message) {
      super(message);
    }
  }
}
