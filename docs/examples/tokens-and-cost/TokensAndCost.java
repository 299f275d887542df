import com.google.gson.Gson;
import java.math.BigDecimal;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.List;

public class TokensAndCost {
  record Message(String content) {}

  record Choice(Message message) {}

  record Usage(int prompt_tokens, int completion_tokens, BigDecimal cost_usd) {}

  record Answer(List<Choice> choices, Usage usage) {}

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
    var usage = answer.usage();
    System.out.println(answer.choices().get(0).message().content());
    var cost = usage.cost_usd().toPlainString();
    int prompt = usage.prompt_tokens(), completion = usage.completion_tokens();
    System.out.printf("%d + %d tokens, %s US dollars%n", prompt, completion, cost);
  }
}
