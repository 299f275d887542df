import com.google.gson.Gson;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.List;

public class Streaming {
  record Delta(String content) {}

  record Choice(Delta delta) {}

  record Failure(String message) {}

  record Event(List<Choice> choices, Failure error) {}

  private static final String QUESTION =
      """
      {
        "model": "vendor/model-1",
        "messages": [{"role": "user", "content": "What is a reentrancy attack?"}],
        "stream": true
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
    var response = client.send(request, BodyHandlers.ofLines());
    int status = response.statusCode();
    if (status != 200) throw new Exception("HTTP " + status);
    var isComplete = false;
    try (var lines = response.body()) {
      for (var line : (Iterable<String>) lines::iterator) {
        // Other lines are empty, or comments that keep the connection open.
        if (!line.startsWith("data: ")) continue;
        var data = line.substring("data: ".length());
        if (data.equals("[DONE]")) {
          isComplete = true;
          break;
        }
        var event = new Gson().fromJson(data, Event.class);
        if (event.error() != null) throw new Exception(event.error().message());
        for (var choice : event.choices()) {
          var content = choice.delta().content();
          if (content != null) System.out.print(content);
        }
        System.out.flush();
      }
    }
    System.out.println();
    if (!isComplete) throw new Exception("No [DONE]: the answer is not complete.");
  }
}
