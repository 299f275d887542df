import com.google.gson.Gson;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.List;

public class StructuredOutput {
  record Message(String content) {}

  record Choice(String finish_reason, Message message) {}

  record Answer(List<Choice> choices) {}

  record Assessment(String risk, List<String> reasons) {}

  private static final String QUESTION =
      """
      {
        "model": "vendor/model-1",
        "messages": [
          {
            "role": "user",
            "content": "The bridge is not audited, and one key can drain it."
          }
        ],
        "response_format": {
          "type": "json_schema",
          "json_schema": {
            "name": "assessment",
            "schema": {
              "type": "object",
              "properties": {
                "risk": {"enum": ["low", "high"]},
                "reasons": {"type": "array", "items": {"type": "string"}}
              },
              "required": ["risk", "reasons"],
              "additionalProperties": false
            }
          }
        }
      }
      """;

  public static void main(String[] args) throws Exception {
    var url = URI.create(System.getenv("PARLEY_URL") + "/chat/completions");
    var request =
        HttpRequest.newBuilder(url)
            .header("Authorization", "Bearer " + System.getenv("PARLEY_KEY"))
            .header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString(QUESTION))
            .build();
    var client = HttpClient.newHttpClient();
    var response = client.send(request, BodyHandlers.ofString());
    if (response.statusCode() != 200) throw new Exception(response.body());
    var gson = new Gson();
    var choice = gson.fromJson(response.body(), Answer.class).choices().get(0);
    boolean isComplete = choice.finish_reason().equals("stop");
    if (!isComplete) throw new Exception("The JSON is not complete.");
    var assessment = gson.fromJson(choice.message().content(), Assessment.class);
    System.out.println("The risk is " + assessment.risk() + ".");
    assessment.reasons().forEach(System.out::println);
  }
}
