import com.google.gson.JsonObject;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/** A client is called with URLs, and prints one JSON line for each: the text that it gave, and how it says it ended. */
class Shared {
  interface Read {
    void read(String url, Consumer<String> say) throws Throwable;
  }

  static void each(String[] urls, Read read) {
    for (var url : urls) {
      var text = new StringBuffer();
      var ended = "whole";
      try {
        read.read(url, piece -> {
          text.append(piece);
          if (url.contains("/slow/")) LockSupport.parkNanos(10_000_000);
        });
      } catch (Throwable error) {
        var cause = error.getCause() == null ? "" : " (" + error.getCause().getMessage() + ")";
        ended = error.getClass().getSimpleName() + ": " + error.getMessage() + cause;
      }
      var line = new JsonObject();
      line.addProperty("url", url);
      line.addProperty("text", text.toString());
      line.addProperty("ended", ended);
      System.out.println(line);
    }
    System.exit(0);
  }
}
