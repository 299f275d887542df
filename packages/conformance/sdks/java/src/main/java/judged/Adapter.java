package judged;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.function.Function;

/** Reads a task per line, has it carried out, and prints its answer as a line. */
final class Adapter {
  static final ObjectMapper JSON = new ObjectMapper();

  private Adapter() {}

  /** Prepares a client for a task. The call that it returns is made once or twice. */
  static void serve(Function<JsonNode, Callable<ObjectNode>> prepare) throws Exception {
    var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    var out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    for (var line = in.readLine(); line != null; line = in.readLine()) {
      var task = JSON.readTree(line);
      var call = prepare.apply(task);
      var answer = call.call();
      if (task.has("secondCallAfterMs")) {
        Thread.sleep(task.get("secondCallAfterMs").asLong());
        answer = call.call();
      }
      answer.set("task", task.get("task"));
      out.println(JSON.writeValueAsString(answer));
    }
    System.exit(0);
  }

  /** Pauses as the task says, after a chunk. True: leave the stream. */
  static boolean pause(JsonNode task) {
    try {
      Thread.sleep(task.path("pauseAfterFirstChunkMs").asLong(0));
    } catch (InterruptedException error) {
      Thread.currentThread().interrupt();
    }
    return task.path("abortAfterFirstChunk").asBoolean(false);
  }

  static ObjectNode unsupported(String why) {
    return JSON.createObjectNode().put("unsupported", why);
  }

  static ObjectNode describe(Throwable error) {
    var message = new StringBuilder(String.valueOf(error.getMessage()));
    for (var cause = error.getCause(); cause != null; cause = cause.getCause()) {
      message.append(": ").append(cause.getMessage());
    }
    return JSON.createObjectNode().put("class", error.getClass().getSimpleName()).put("message", message.toString());
  }

  /** Collects the pieces of an answer, as the caller of a stream sees them. */
  static final class Collected {
    final ObjectNode answer = JSON.createObjectNode();
    private final TreeMap<Long, StringBuilder> texts = new TreeMap<>();
    private final TreeMap<Long, ObjectNode> calls = new TreeMap<>();

    synchronized void addText(long index, String text) {
      texts.computeIfAbsent(index, key -> new StringBuilder()).append(text);
    }

    synchronized void addCall(long index, String id, String name, String arguments) {
      var call = calls.computeIfAbsent(
          index, key -> JSON.createObjectNode().put("id", id).put("name", name).put("arguments", ""));
      call.put("arguments", call.get("arguments").asText() + arguments);
    }

    void setUsage(long prompt, long completion) {
      answer.putObject("usage").put("promptTokens", prompt).put("completionTokens", completion);
    }

    synchronized ObjectNode finish() {
      if (texts.containsKey(0L)) answer.put("text", texts.get(0L).toString());
      texts.values().forEach(text -> answer.withArray("texts").add(text.toString()));
      calls.values().forEach(call -> answer.withArray("toolCalls").add(call));
      return answer;
    }
  }
}
