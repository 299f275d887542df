import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;

public class Tools {
  private static final String REQUEST =
      """
      {
        "model": "vendor/model-1",
        "messages": [
          {"role": "user", "content": "What does gas cost on Ethereum?"}
        ],
        "tools": [{
          "type": "function",
          "function": {
            "name": "get_gas_price",
            "description": "The price of gas on a chain, in gwei.",
            "strict": true,
            "parameters": {
              "type": "object",
              "properties": {"chain": {"enum": ["ethereum", "polygon"]}},
              "required": ["chain"],
              "additionalProperties": false
            }
          }
        }],
        "tool_choice": "required"
      }
      """;

  private static String getGasPrice(JsonObject arguments) {
    arguments.addProperty("gwei", 12);
    return arguments.toString();
  }

  private static JsonObject ask(JsonObject body) throws Exception {
    var url = URI.create(System.getenv("PARLEY_URL") + "/chat/completions");
    var request =
        HttpRequest.newBuilder(url)
            .header("Authorization", "Bearer " + System.getenv("PARLEY_KEY"))
            .header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString(body.toString()))
            .build();
    var client = HttpClient.newHttpClient();
    var response = client.send(request, BodyHandlers.ofString());
    if (response.statusCode() != 200) throw new Exception(response.body());
    var answer = JsonParser.parseString(response.body()).getAsJsonObject();
    return answer.getAsJsonArray("choices").get(0).getAsJsonObject();
  }

  public static void main(String[] args) throws Exception {
    var body = JsonParser.parseString(REQUEST).getAsJsonObject();
    JsonArray messages = body.getAsJsonArray("messages");
    // The first answer has to call a function. Later ones may.
    var choice = ask(body);
    body.addProperty("tool_choice", "auto");
    while (choice.get("finish_reason").getAsString().equals("tool_calls")) {
      var message = choice.getAsJsonObject("message");
      messages.add(message); // an answer can be sent back as it is
      for (var call : message.getAsJsonArray("tool_calls")) {
        var id = call.getAsJsonObject().get("id").getAsString();
        var function = call.getAsJsonObject().getAsJsonObject("function");
        var text = function.get("arguments").getAsString();
        var arguments = JsonParser.parseString(text).getAsJsonObject();
        var result = new JsonObject();
        result.addProperty("role", "tool");
        result.addProperty("tool_call_id", id);
        result.addProperty("content", getGasPrice(arguments));
        messages.add(result);
      }
      choice = ask(body);
    }
    var message = choice.getAsJsonObject("message");
    System.out.println(message.get("content").getAsString());
  }
}
