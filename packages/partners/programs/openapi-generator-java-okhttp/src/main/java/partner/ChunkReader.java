package partner;

import okhttp3.Response;
import okhttp3.sse.EventSource;
import okhttp3.sse.EventSourceListener;
import partner.parley.JSON;
import partner.parley.model.ChatCompletionChunk;
import partner.parley.model.StreamEvent;

/** Prints the chunks of a stream, and keeps how it ended. */
final class ChunkReader extends EventSourceListener {
  private boolean isWhole = false;
  private String failure = "truncated: the stream ended without [DONE]";

  void requireWhole() throws StreamFailure {
    if (!isWhole) {
      throw new StreamFailure(failure);
    }
  }

  @Override
  public void onEvent(EventSource source, String id, String type, String data) {
    if (data.equals("[DONE]")) {
      isWhole = true;
      return;
    }
    StreamEvent event = JSON.deserialize(data, StreamEvent.class);
    if (event.getActualInstance() instanceof ChatCompletionChunk chunk) {
      print(chunk);
    } else {
      failure = "stream error: " + event.getStreamError().getError().getCode();
    }
  }

  @Override
  public void onFailure(EventSource source, Throwable thrown, Response response) {
    failure = thrown == null ? "status " + response.code() : thrown.toString();
  }

  private static void print(ChatCompletionChunk chunk) {
    for (var choice : chunk.getChoices()) {
      if (choice.getDelta().getContent() != null && !choice.getDelta().getContent().isEmpty()) {
        System.out.println(choice.getDelta().getContent());
      }
      if (choice.getFinishReason() != null) {
        System.out.println(choice.getFinishReason());
      }
    }
  }
}
