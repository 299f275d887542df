import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;

public class Limits {
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
    System.out.println(response.statusCode());
    var headers = response.headers();
    for (var unit : new String[] {"requests", "tokens"}) {
      var limit = headers.firstValue("x-ratelimit-limit-" + unit).get();
      var remaining = headers.firstValue("x-ratelimit-remaining-" + unit).get();
      var reset = headers.firstValue("x-ratelimit-reset-" + unit).get();
      System.out.printf("%s of %s %s left, ", remaining, limit, unit);
      System.out.printf("all again in %s%n", reset);
    }
  }
}
