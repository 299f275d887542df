package partner;

/** A stream that was not whole. */
final class StreamFailure extends Exception {
  private static final long serialVersionUID = 1;

  StreamFailure(String message) {
    super(message);
  }
}
