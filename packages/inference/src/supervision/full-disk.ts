/** Checks if a write failed because the disk is full. An operator can repair this while the server runs. */
export const isFullDisk = (error: unknown): boolean =>
  error instanceof Error && "code" in error && (error.code === "ENOSPC" || error.code === "EDQUOT");
