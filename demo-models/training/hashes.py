"""Records the hashes of the exported files, so that a start can detect a broken download."""

import hashlib

from training.tokenizer import write_json

HASHED = ("*.gguf", "*.safetensors", "*.json", "*.jinja")


def describe(path):
    content = path.read_bytes()
    return {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}


def write_hashes(root, names):
    """Writes `hashes.json`: file, relative to the folder of the models → sha256 and size."""
    files = sorted(path for name in names for pattern in HASHED for path in (root / name).glob(pattern))
    write_json(root / "hashes.json", {path.relative_to(root).as_posix(): describe(path) for path in files})
