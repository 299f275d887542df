import com.google.gson.Gson;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.List;

public class QuickStart {
  record Message(String content) {}

  record Choice(Message message) {}

  record Answer(List<Choice> choices) {}

  private static final String QUESTION =
      """
      {
        "model": "vendor/model-1",
        "messages": [{"role": "user", "content": "What is a reentrancy attack?"}]
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
    var answer = new Gson().fromJson(response.body(), Answer.class);
    System.out.println(answer.choices().get(0).message().content());
  }
}
