import java.net.http.HttpClient;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.function.Consumer;

class Reader {
  private static final HttpClient client = HttpClient.newHttpClient();

  public static void main(String[] urls) {
    Shared.each(urls, Reader::read);
  }

  static void read(String url, Consumer<String> say) throws Exception {
    var response = client.send(Jdk.post(url), BodyHandlers.ofInputStream());
    try (var reader = new StreamReader(response.body())) {
      for (StreamReader.Chunk chunk; (chunk = reader.next()) != null; )
        for (var choice : chunk.choices()) if (choice.delta().content() != null) say.accept(choice.delta().content());
    }
  }
}
