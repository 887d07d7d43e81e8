"""A plain loop over onnxruntime: all-MiniLM-L6-v2 in float32, as exporters write it.

``python -m bench.peers.float32`` runs in an environment of its own; it builds the graph from the
published weights, embeds the texts it is given and says what that took.
"""

from __future__ import annotations

import importlib
import json
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bench.texts import DIMENSIONS, Array
from bench.timing import Times

LAYERS, HEADS, TOKENS_MAX = 6, 12, 256
HEAD = DIMENSIONS // HEADS
BATCHES = (8, 32)  # the better one counts
QUERIES = 50


class Graph:
    """Nodes and constants as they are added."""

    def __init__(self, weights: dict[str, Array]) -> None:
        self._onnx: Any = importlib.import_module("onnx")
        self.weights = weights
        self.nodes: list[Any] = []
        self.constants: dict[str, Any] = {}

    def op(self, kind: str, *inputs: str, **how: Any) -> str:
        name = how.pop("output", f"{kind}_{len(self.nodes)}")
        node = self._onnx.helper.make_node(kind, list(inputs), [name], name=name, **how)
        self.nodes.append(node)
        return str(name)

    def constant(self, name: str, value: Any, dtype: Any = np.float32) -> str:
        array = np.ascontiguousarray(np.asarray(value, dtype=dtype).reshape(np.shape(value)))
        self.constants[name] = self._onnx.numpy_helper.from_array(array, name)
        return name

    def weight(self, name: str) -> str:
        return self.constant(name, self.weights[name])

    def dense(self, value: str, name: str) -> str:
        matrix = self.constant(name + ".weight", self.weights[name + ".weight"].T)
        return self.op("Add", self.op("MatMul", value, matrix), self.weight(name + ".bias"))

    def normalised(self, value: str, name: str) -> str:
        parts = (self.weight(f"{name}.{part}") for part in ("weight", "bias"))
        return self.op("LayerNormalization", value, *parts, axis=-1, epsilon=1e-12)

    def content(self) -> bytes:
        helper, proto = self._onnx.helper, self._onnx.TensorProto
        inputs = [
            helper.make_tensor_value_info(name, proto.INT64, ["texts", "tokens"])
            for name in ("input_ids", "attention_mask")
        ]
        output = helper.make_tensor_value_info("embedding", proto.FLOAT, ["texts", DIMENSIONS])
        graph = helper.make_graph(
            self.nodes, "minilm", inputs, [output], initializer=list(self.constants.values())
        )
        opset = [helper.make_opsetid("", 18)]
        model = helper.make_model(graph, opset_imports=opset, ir_version=9)
        return bytes(model.SerializeToString())


def build(weights: dict[str, Array]) -> bytes:
    graph = Graph(weights)
    floats = graph.op("Cast", "attention_mask", to=1)
    hidden = _embeddings(graph)
    wide = graph.op("Unsqueeze", floats, graph.constant("middle", [1, 2], np.int64))
    away = graph.op("Sub", graph.constant("one", 1.0), wide)
    mask = graph.op("Mul", away, graph.constant("minus_much", -10_000.0))
    for layer in range(LAYERS):
        hidden = _layer(graph, hidden, mask, f"encoder.layer.{layer}.")
    column = graph.op("Unsqueeze", floats, graph.constant("last", [-1], np.int64))
    tokens = graph.constant("tokens_axis", [1], np.int64)
    total = graph.op("ReduceSum", graph.op("Mul", hidden, column), tokens, keepdims=0)
    mean = graph.op("Div", total, graph.op("ReduceSum", floats, tokens, keepdims=1))
    graph.op("LpNormalization", mean, axis=1, p=2, output="embedding")
    return graph.content()


def _embeddings(graph: Graph) -> str:
    prefix = "embeddings."
    words = graph.op("Gather", graph.weight(prefix + "word_embeddings.weight"), "input_ids")
    places = graph.constant(
        "positions",
        graph.weights[prefix + "position_embeddings.weight"]
        + graph.weights[prefix + "token_type_embeddings.weight"][0],
    )
    start = graph.constant("start", [0], np.int64)
    length = graph.op("Shape", "input_ids", start=1, end=2)
    added = graph.op("Add", words, graph.op("Slice", places, start, length, start))
    return graph.normalised(added, prefix + "LayerNorm")


def _layer(graph: Graph, hidden: str, mask: str, prefix: str) -> str:
    parted = graph.constant("parted", [0, 0, HEADS, HEAD], np.int64)
    query, key, value = (
        graph.op("Reshape", graph.dense(hidden, f"{prefix}attention.self.{part}"), parted)
        for part in ("query", "key", "value")
    )
    query = graph.op("Transpose", query, perm=[0, 2, 1, 3])
    key = graph.op("Transpose", key, perm=[0, 2, 3, 1])
    value = graph.op("Transpose", value, perm=[0, 2, 1, 3])
    scale = graph.constant("scale", math.sqrt(HEAD))
    scores = graph.op("Div", graph.op("MatMul", query, key), scale)
    shares = graph.op("Softmax", graph.op("Add", scores, mask), axis=-1)
    mixed = graph.op("Transpose", graph.op("MatMul", shares, value), perm=[0, 2, 1, 3])
    whole = graph.op("Reshape", mixed, graph.constant("whole", [0, 0, DIMENSIONS], np.int64))
    attended = graph.op("Add", graph.dense(whole, prefix + "attention.output.dense"), hidden)
    attended = graph.normalised(attended, prefix + "attention.output.LayerNorm")
    inner = _gelu(graph, graph.dense(attended, prefix + "intermediate.dense"))
    added = graph.op("Add", graph.dense(inner, prefix + "output.dense"), attended)
    return graph.normalised(added, prefix + "output.LayerNorm")


def _gelu(graph: Graph, value: str) -> str:
    divided = graph.op("Div", value, graph.constant("root_two", math.sqrt(2)))
    lifted = graph.op("Add", graph.op("Erf", divided), graph.constant("one", 1.0))
    return graph.op("Mul", graph.op("Mul", value, lifted), graph.constant("half", 0.5))


class Model:
    def __init__(self, folder: Path, threads: int) -> None:
        runtime: Any = importlib.import_module("onnxruntime")
        load = importlib.import_module("safetensors.numpy").load_file
        weights = {
            name: np.asarray(value, dtype=np.float32)
            for name, value in load(folder / "model.safetensors").items()
            if value.dtype.kind == "f"
        }
        options = runtime.SessionOptions()
        options.intra_op_num_threads = threads
        self._session = runtime.InferenceSession(
            build(weights), options, providers=["CPUExecutionProvider"]
        )
        tokenizers: Any = importlib.import_module("tokenizers")
        self._tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.enable_truncation(max_length=TOKENS_MAX)
        self._tokenizer.enable_padding()

    def embed(self, texts: Sequence[str], batch: int) -> Array:
        """In batches of texts of similar length."""
        order = sorted(range(len(texts)), key=lambda place: len(texts[place]))
        found: Array = np.empty((len(texts), DIMENSIONS), dtype=np.float32)
        for start in range(0, len(order), batch):
            some = order[start : start + batch]
            tokens = self._tokenizer.encode_batch([texts[place] for place in some])
            given = {
                "input_ids": np.array([one.ids for one in tokens]),
                "attention_mask": np.array([one.attention_mask for one in tokens]),
            }
            found[some] = self._session.run(None, given)[0]
        return found

    def tokens(self, texts: Sequence[str]) -> int:
        return sum(sum(one.attention_mask) for one in self._tokenizer.encode_batch(list(texts)))


def work(told: dict[str, Any]) -> dict[str, Any]:
    texts: list[str] = told["texts"]
    model = Model(Path(told["model"]), told["threads"])
    model.embed(texts[:32], 8)
    best = math.inf
    for batch in BATCHES:
        times = Times()
        with times.one():
            vectors = model.embed(texts, batch)
        best = min(best, times.median)
    query = Times()
    for text in texts[:QUERIES]:
        with query.one():
            model.embed([text[:60]], 1)
    np.save(told["vectors"], vectors)
    return {
        "texts": len(texts) / best,
        "tokens": model.tokens(texts) / best,
        "query": query.median,
        "token_count": model.tokens(texts),
    }


if __name__ == "__main__":
    print(json.dumps(work(json.load(sys.stdin))))
