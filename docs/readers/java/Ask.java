import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;

public class Ask {
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
    var response = client.send(request, BodyHandlers.ofInputStream());
    int status = response.statusCode();
    if (status != 200) throw new Exception("HTTP " + status);
    try (var reader = new StreamReader(response.body())) {
      for (StreamReader.Chunk chunk; (chunk = reader.next()) != null; )
        for (var choice : chunk.choices()) {
          var text = choice.delta().content();
          if (text != null) System.out.print(text);
        }
    }
    System.out.println();
  }
}
