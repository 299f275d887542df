import com.google.gson.JsonParser;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.Set;

public class Errors {
  private static final String QUESTION =
      """
      {
        "model": "MODEL",
        "messages": [{"role": "user", "content": "What is a reentrancy attack?"}]
      }
      """;
  private static final int MAX_ATTEMPTS = 5;
  private static final Set<Integer> RETRIED = Set.of(408, 429, 500, 502, 503, 504);
  private static final HttpClient client = HttpClient.newHttpClient();

  /** Sends a request, and sends it again where that may help. */
  private static HttpResponse<String> post(String body) throws Exception {
    var url = URI.create(System.getenv("PARLEY_URL") + "/chat/completions");
    var request =
        HttpRequest.newBuilder(url)
            .header("Authorization", "Bearer " + System.getenv("PARLEY_KEY"))
            .header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString(body))
            .build();
    for (int attempt = 1; ; attempt++) {
      var response = client.send(request, BodyHandlers.ofString());
      var headers = response.headers();
      boolean mayHelp =
          RETRIED.contains(response.statusCode())
              && !headers.firstValue("x-should-retry").orElse("").equals("false");
      if (!mayHelp || attempt == MAX_ATTEMPTS) return response;
      long pause = (long) ((500 + Math.random() * 500) * Math.pow(2, attempt - 1));
      Thread.sleep(headers.firstValueAsLong("retry-after-ms").orElse(pause));
    }
  }

  /** Asks a question. If that fails, it prints what to do. */
  private static void ask(String model) throws Exception {
    var response = post(QUESTION.replace("MODEL", model));
    var answer = JsonParser.parseString(response.body()).getAsJsonObject();
    if (response.statusCode() == 200) {
      var choice = answer.getAsJsonArray("choices").get(0).getAsJsonObject();
      var message = choice.getAsJsonObject("message");
      System.out.println(message.get("content").getAsString());
    } else if (response.statusCode() == 429) {
      var wait = response.headers().firstValue("retry-after").orElse("?");
      System.out.printf("Come back in %s seconds.%n", wait);
    } else {
      var error = answer.getAsJsonObject("error");
      var code = error.get("code").getAsString();
      var message = error.get("message").getAsString();
      var id = answer.get("request_id").getAsString();
      System.out.printf("%s: %s (request %s)%n", code, message, id);
    }
  }

  public static void main(String[] args) throws Exception {
    ask("vendor/model-1");
    ask("vendor/no-such-model");
  }
}
