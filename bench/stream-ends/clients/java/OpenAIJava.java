import com.openai.client.okhttp.OpenAIOkHttpClient;
import com.openai.models.chat.completions.ChatCompletionCreateParams;
import java.util.function.Consumer;

class OpenAIJava {
  public static void main(String[] urls) {
    Shared.each(urls, OpenAIJava::read);
  }

  static void read(String url, Consumer<String> say) {
    var client = OpenAIOkHttpClient.builder().apiKey("sk-measured").baseUrl(url).build();
    var asked = ChatCompletionCreateParams.builder().model("vendor/model-1").addUserMessage("x").build();
    try (var stream = client.chat().completions().createStreaming(asked)) {
      stream.stream().forEach(chunk -> chunk.choices().forEach(choice -> choice.delta().content().ifPresent(say)));
    }
  }
}
