# SPDX-License-Identifier: Apache-2.0
"""A CUDA graph for each shape of what goes in: forward and backward, a step of `portrait` is some 2,000 operations, and launching them took the
processor longer than the GPU needed to do them."""
import torch


class Replayed:
    """`work`, a function of tensors to a tensor, which after its second call with tensors of the same shapes is replayed as one CUDA graph (Gray, "Getting Started with CUDA
    Graphs", 2019). The first one is launched, so that cuDNN has planned and Triton compiled everything. What `work` reads beside its arguments must stay in its place; what it
    decides by anything but shapes belongs in `state`. Elsewhere than on a GPU it is only called."""

    def __init__(self, work):
        self.work, self.graphs, self.met, self.pool = work, {}, set(), None
        self.stream = torch.cuda.Stream() if torch.cuda.is_available() else None

    def __call__(self, *inputs, state=None):
        if not inputs[0].is_cuda:
            return self.work(*inputs)
        outer, key = torch.cuda.current_stream(), (state, *(tensor.shape for tensor in inputs))
        self.stream.wait_stream(outer)
        # Launched ones on the same stream: gradients are summed on the one where a parameter was used first.
        with torch.cuda.stream(self.stream):
            if key not in self.met:
                self.met.add(key)
                result = self.work(*inputs)
            else:
                result = self.replay(key, inputs)
        outer.wait_stream(self.stream)
        return result

    def replay(self, key, inputs):
        if key not in self.graphs:
            self.graphs[key] = self.captured(inputs)
        graph, places, result = self.graphs[key]
        for place, tensor in zip(places, inputs):
            place.copy_(tensor)
        graph.replay()
        return result.clone()  # all graphs work in the same memory

    def captured(self, inputs):
        """(graph, where its arguments lie, where its result lies). Nothing of it is done yet."""
        graph, places = torch.cuda.CUDAGraph(), [tensor.clone() for tensor in inputs]
        self.pool = self.pool or torch.cuda.graph_pool_handle()
        # NCCL asks after its events from a thread of its own, which a stricter mode takes for a fault.
        graph.capture_begin(pool=self.pool, capture_error_mode="thread_local")
        try:
            result = self.work(*places)
        finally:
            graph.capture_end()
        return graph, places, result

    def forget(self):
        self.graphs.clear()
        self.met.clear()
        self.pool = None
