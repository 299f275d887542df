import com.google.gson.Gson;
import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.SequenceInputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;

/**
 * The program that readers.test.ts runs. Each line of the input is a stream, as pieces in hexadecimal digits. For each,
 * the program prints a line: a JSON array of the chunks that the reader found, and of the end of the stream.
 */
public class Feed {
  private static InputStream feed(String line) {
    var pieces = Arrays.stream(line.split(" ")).map(HexFormat.of()::parseHex).map(ByteArrayInputStream::new).toList();
    return new SequenceInputStream(Collections.enumeration(pieces));
  }

  private static String describe(StreamReader.Chunk chunk) {
    var text = new StringBuilder();
    for (var choice : chunk.choices()) {
      if (choice.delta().content() != null) text.append(choice.delta().content());
      if (choice.delta().tool_calls() != null)
        for (var call : choice.delta().tool_calls()) text.append(call.function().arguments());
      if (choice.finish_reason() != null) text.append(choice.finish_reason());
    }
    if (chunk.usage() != null) text.append(chunk.usage().total_tokens());
    return text.toString();
  }

  private static List<String> read(String line) throws IOException {
    List<String> found = new ArrayList<>();
    try (var reader = new StreamReader(feed(line))) {
      for (StreamReader.Chunk chunk; (chunk = reader.next()) != null; ) found.add(describe(chunk));
      found.add("done");
    } catch (EOFException truncated) {
      found.add("truncated");
    } catch (StreamReader.StreamFailed failure) {
      found.add(failure.code + " " + failure.requestId);
    }
    return found;
  }

  public static void main(String[] args) throws IOException {
    var json = new Gson().newBuilder().disableHtmlEscaping().create();
    var lines = new BufferedReader(new InputStreamReader(System.in));
    var answers = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    for (String line; (line = lines.readLine()) != null; ) answers.println(json.toJson(read(line)));
  }
}
