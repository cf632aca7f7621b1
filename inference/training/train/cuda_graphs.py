# SPDX-License-Identifier: Apache-2.0
"""Functions of tensors captured as CUDA graphs, one for each set of shapes. Forward and backward, a
training step of `portrait` is some 2,000 operations, and launching them takes the processor longer
than the GPU needs to do them."""

from collections.abc import Callable, Hashable

import torch
from torch import Tensor


class GraphedFunction:
    """`function`, of tensors to a tensor, captured at its second call with tensors of the same
    shapes and replayed from then on (Gray, "Getting Started with CUDA Graphs", 2019).

    The first call is launched as usual, so that cuDNN plans and Triton compiles everything. Tensors
    that `function` reads beside its arguments must stay where they are. It gets the numbers
    `static` after the tensors; whatever else it decides by anything but shapes belongs in
    `variant`. Without a GPU it is simply called."""

    def __init__(self, function: Callable[..., Tensor]) -> None:
        self.function, self.graphs, self.warmed_up, self.pool = function, {}, set(), None
        self.stream = torch.cuda.Stream() if torch.cuda.is_available() else None

    def __call__(
        self, *inputs: Tensor, static: tuple[int, ...] = (), variant: Hashable = None
    ) -> Tensor:
        """The result of `function` for `inputs` and `static`."""
        if not inputs[0].is_cuda:
            return self.function(*inputs, *static)
        outer = torch.cuda.current_stream()
        key = (variant, static, *(tensor.shape for tensor in inputs))
        self.stream.wait_stream(outer)
        # Launched calls use the same stream, because autograd accumulates a gradient on the stream
        # where its parameter was first used.
        with torch.cuda.stream(self.stream):
            if key not in self.warmed_up:
                self.warmed_up.add(key)
                result = self.function(*inputs, *static)
            else:
                result = self.replay(key, inputs, static)
        outer.wait_stream(self.stream)
        return result

    def replay(self, key: Hashable, inputs: tuple[Tensor, ...], static: tuple[int, ...]) -> Tensor:
        """The result of the graph for `key`, captured first if there is none."""
        if key not in self.graphs:
            self.graphs[key] = self.capture(inputs, static)
        graph, static_inputs, result = self.graphs[key]
        for static_input, tensor in zip(static_inputs, inputs):
            static_input.copy_(tensor)
        graph.replay()
        return result.clone()  # all graphs use the same memory

    def capture(
        self, inputs: tuple[Tensor, ...], static: tuple[int, ...]
    ) -> tuple["torch.cuda.CUDAGraph", list[Tensor], Tensor]:
        """A graph, its static inputs and its static result; nothing is computed yet."""
        graph, static_inputs = torch.cuda.CUDAGraph(), [tensor.clone() for tensor in inputs]
        self.pool = self.pool or torch.cuda.graph_pool_handle()
        # NCCL queries its events from a thread of its own, which a stricter mode takes for an
        # error.
        graph.capture_begin(pool=self.pool, capture_error_mode="thread_local")
        try:
            result = self.function(*static_inputs, *static)
        finally:
            graph.capture_end()
        return graph, static_inputs, result

    def reset(self) -> None:
        """Drops all graphs."""
        self.graphs.clear()
        self.warmed_up.clear()
        self.pool = None
