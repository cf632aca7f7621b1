# SPDX-License-Identifier: Apache-2.0
"""Processes that train together or apart, each on a GPU of its own, or one by itself."""
import os
import socket
import subprocess
import sys
import time

import torch
from torch import distributed


class Team:
    """This process among the others, as the environment (RANK, WORLD_SIZE, LOCAL_RANK, as torchrun sets them) tells it. `apart`: each trains a replica until they unite."""

    def __init__(self, apart=False):
        self.apart = apart
        self.size, self.rank = int(os.environ.get("WORLD_SIZE", 1)), int(os.environ.get("RANK", 0))
        cuda = torch.cuda.is_available()
        self.device = torch.device("cuda", int(os.environ.get("LOCAL_RANK", 0))) if cuda else torch.device("cpu")
        if cuda:
            torch.cuda.set_device(self.device)
        if self.size > 1:
            distributed.init_process_group("nccl" if cuda else "gloo")

    @property
    def keeps_state(self):
        """Whether this process has weights to save that no other one saves."""
        return self.rank == 0 or self.apart

    def average(self, tensor):
        """Makes `tensor` the mean of everybody's, in place, where they train together."""
        if not self.apart:
            self.unite(tensor)

    def unite(self, tensor):
        """Makes `tensor` the mean of everybody's, in place."""
        if self.size > 1:
            distributed.all_reduce(tensor)
            tensor /= self.size

    def agreed(self, value):
        """The first process's value, where they train together."""
        if self.size == 1 or self.apart:
            return value
        tensor = torch.tensor([value], dtype=torch.float64, device=self.device)
        distributed.broadcast(tensor, 0)
        return float(tensor)

    def say(self, *words):
        if self.rank == 0:
            print(*words, flush=True)

    def part(self):
        if self.size > 1:
            distributed.destroy_process_group()


def launch(count):
    """Runs this program again in `count` processes that find each other; returns the exit status. One that fails ends them all, for the others would wait for it for ever."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    common = {**os.environ, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "WORLD_SIZE": str(count)}
    common.setdefault("OMP_NUM_THREADS", "2")
    running = [
        subprocess.Popen([sys.executable, *sys.argv], env={**common, "RANK": str(rank), "LOCAL_RANK": str(rank)}) for rank in range(count)
    ]
    while any(process.poll() is None for process in running) and not any(process.poll() for process in running):
        time.sleep(0.2)
    failed = [process.returncode for process in running if process.poll()]
    for process in running:
        if process.poll() is None:
            process.kill()
        process.wait()
    return failed[0] if failed else 0
