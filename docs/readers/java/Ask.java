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
    var request =
        HttpRequest.newBuilder(URI.create(System.getenv("PARLEY_URL") + "/chat/completions"))
            .header("Authorization", "Bearer " + System.getenv("PARLEY_KEY"))
            .header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString(QUESTION))
            .build();
    var response = HttpClient.newHttpClient().send(request, BodyHandlers.ofInputStream());
    if (response.statusCode() != 200) throw new Exception("HTTP " + response.statusCode());
    try (var reader = new StreamReader(response.body())) {
      for (StreamReader.Chunk chunk; (chunk = reader.next()) != null; )
        for (var choice : chunk.choices())
          if (choice.delta().content() != null) System.out.print(choice.delta().content());
    }
    System.out.println();
  }
}
