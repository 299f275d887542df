import com.google.gson.Gson;
import java.io.BufferedReader;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.StringJoiner;

/** Reads a streamed answer: bytes in, typed chunks out. Java 17 and Gson. */
public final class StreamReader implements AutoCloseable {
  // The fields that most programs read, by their names on the wire; /streams.json describes all of them.
  public record Chunk(List<Choice> choices, Usage usage) {}
  public record Choice(int index, Delta delta, String finish_reason) {}
  public record Delta(String content, List<ToolCallPart> tool_calls) {}
  public record ToolCallPart(int index, String id, FunctionPart function) {}
  public record FunctionPart(String name, String arguments) {}
  public record Usage(int total_tokens, String cost_usd) {}

  private record Event(List<Choice> choices, Usage usage, Failure error, String request_id) {}
  private record Failure(String code, String message) {}

  /** The service ended the stream with an error. */
  public static final class StreamFailed extends IOException {
    public final String code;
    public final String requestId;

    StreamFailed(Failure error, String requestId) {
      super(error.message());
      this.code = error.code();
      this.requestId = requestId;
    }
  }

  private static final Gson JSON = new Gson();
  private final BufferedReader lines;
  private boolean isFirst = true;

  public StreamReader(InputStream body) {
    lines = new BufferedReader(new InputStreamReader(body, StandardCharsets.UTF_8)); // ends lines with LF, CR or CRLF
  }

  /**
   * @return the next chunk, or null at the end of a complete answer
   * @throws StreamFailed if the service ended the stream with an error
   * @throws EOFException if the bytes ended before `[DONE]`, so the answer is not complete, even if it looks complete
   */
  public Chunk next() throws IOException {
    String data = nextEvent();
    if (data.equals("[DONE]")) return null;
    Event event = JSON.fromJson(data, Event.class);
    if (event.error() != null) throw new StreamFailed(event.error(), event.request_id());
    return new Chunk(event.choices(), event.usage());
  }

  private String nextEvent() throws IOException {
    StringJoiner data = null;
    for (String line; (line = lines.readLine()) != null; ) {
      if (isFirst && line.startsWith("\ufeff")) line = line.substring(1); // a byte order mark
      isFirst = false;
      if (line.startsWith("data:")) {
        if (data == null) data = new StringJoiner("\n");
        data.add(line.startsWith("data: ") ? line.substring(6) : line.substring(5));
      }
      if (line.isEmpty() && data != null) return data.toString(); // an empty line ends an event; others are skipped
    }
    throw new EOFException("the stream ended without [DONE]");
  }

  @Override
  public void close() throws IOException {
    lines.close();
  }
}
