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
    var request =
        HttpRequest.newBuilder(URI.create(System.getenv("PARLEY_URL") + "/chat/completions"))
            .header("Authorization", "Bearer " + System.getenv("PARLEY_KEY"))
            .header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString(QUESTION))
            .build();
    var response = HttpClient.newHttpClient().send(request, BodyHandlers.ofString());
    System.out.println(response.statusCode());
    for (var unit : new String[] {"requests", "tokens"}) {
      System.out.printf(
          "%s of %s %s left, all of them again in %s%n",
          response.headers().firstValue("x-ratelimit-remaining-" + unit).orElse("?"),
          response.headers().firstValue("x-ratelimit-limit-" + unit).orElse("?"),
          unit,
          response.headers().firstValue("x-ratelimit-reset-" + unit).orElse("?"));
    }
  }
}
