import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.function.Consumer;
import java.util.regex.Pattern;

/** The JDK's HTTP client, read line by line. */
class Jdk {
  private static final HttpClient client = HttpClient.newHttpClient();
  private static final Pattern content = Pattern.compile("\"content\":\"([^\"]*)\"");

  public static void main(String[] urls) {
    Shared.each(urls, Jdk::read);
  }

  static HttpRequest post(String url) {
    return HttpRequest.newBuilder(URI.create(url + "/chat/completions"))
        .header("Content-Type", "application/json")
        .POST(HttpRequest.BodyPublishers.ofString("{\"stream\":true}"))
        .build();
  }

  static void read(String url, Consumer<String> say) throws Exception {
    var response = client.send(post(url), BodyHandlers.ofLines());
    response.body().forEach(line -> {
      var found = content.matcher(line);
      while (found.find()) say.accept(found.group(1));
      if (line.contains("\"error\":")) say.accept(" ERROR");
    });
  }
}
