import dev.langchain4j.model.chat.response.ChatResponse;
import dev.langchain4j.model.chat.response.StreamingChatResponseHandler;
import dev.langchain4j.model.openai.OpenAiStreamingChatModel;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

class LangChain4j {
  public static void main(String[] urls) {
    Shared.each(urls, LangChain4j::read);
  }

  static void read(String url, Consumer<String> say) throws Throwable {
    var model = OpenAiStreamingChatModel.builder().baseUrl(url).apiKey("sk-measured").modelName("vendor/model-1").build();
    var end = new CompletableFuture<Throwable>();
    var errors = new StringBuffer();
    model.chat(
        "x",
        new StreamingChatResponseHandler() {
          @Override
          public void onPartialResponse(String text) {
            say.accept(text);
          }

          @Override
          public void onCompleteResponse(ChatResponse response) {
            if (!errors.isEmpty()) say.accept(" [and complete]");
            if (response.finishReason() == null) say.accept(" [no finish reason]");
            end.complete(null);
          }

          @Override
          public void onError(Throwable error) {
            if (!errors.isEmpty()) say.accept(" [second error: " + error.getMessage() + "]");
            errors.append(error);
            end.complete(error);
          }
        });
    var error = end.get(20, TimeUnit.SECONDS);
    Thread.sleep(100); // for a second report
    if (error != null) throw error;
  }
}
