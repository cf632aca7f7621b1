# SPDX-License-Identifier: Apache-2.0
"""Data-parallel training in several processes, each on its own GPU, or in one process."""

import os
import socket
import subprocess
import sys
import time

import torch
import torch.distributed
from torch import Tensor


class Distributed:
    """This process among the others, by the environment variables RANK, WORLD_SIZE and LOCAL_RANK,
    as torchrun sets them. With `independent` each process trains a replica of its own."""

    def __init__(self, independent: bool = False) -> None:
        self.independent = independent
        self.world_size = int(os.environ.get("WORLD_SIZE", 1))
        self.rank = int(os.environ.get("RANK", 0))
        cuda = torch.cuda.is_available()
        self.device = torch.device("cpu")
        if cuda:
            self.device = torch.device("cuda", int(os.environ.get("LOCAL_RANK", 0)))
            torch.cuda.set_device(self.device)
        if self.world_size > 1:
            torch.distributed.init_process_group("nccl" if cuda else "gloo")

    @property
    def saves_checkpoints(self) -> bool:
        """Whether this process has weights that no other process saves."""
        return self.rank == 0 or self.independent

    def synchronise(self, tensor: Tensor) -> None:
        """Replaces `tensor`, in place, by its mean over the processes, unless replicas are
        independent."""
        if not self.independent:
            self.average(tensor)

    def average(self, tensor: Tensor) -> None:
        """Replaces `tensor`, in place, by its mean over the processes."""
        if self.world_size > 1:
            torch.distributed.all_reduce(tensor)
            tensor /= self.world_size

    def broadcast(self, value: float) -> float:
        """The value of the first process, unless replicas are independent."""
        if self.world_size == 1 or self.independent:
            return value
        tensor = torch.tensor([value], dtype=torch.float64, device=self.device)
        torch.distributed.broadcast(tensor, 0)
        return float(tensor)

    def log(self, *words: object) -> None:
        """Prints in the first process."""
        if self.rank == 0:
            print(*words, flush=True)

    def close(self) -> None:
        """Leaves the process group."""
        if self.world_size > 1:
            torch.distributed.destroy_process_group()


def launch(count: int) -> int:
    """Runs this program again in `count` processes that find each other; returns the exit status.

    One process that fails ends all, because the others would wait for it for ever."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    common = {**os.environ, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    common["WORLD_SIZE"] = str(count)
    common.setdefault("OMP_NUM_THREADS", "2")
    processes = []
    for rank in range(count):
        environment = {**common, "RANK": str(rank), "LOCAL_RANK": str(rank)}
        processes.append(subprocess.Popen([sys.executable, *sys.argv], env=environment))
    while any(p.poll() is None for p in processes) and not any(p.poll() for p in processes):
        time.sleep(0.2)
    failed = [p.returncode for p in processes if p.poll()]
    for process in processes:
        if process.poll() is None:
            process.kill()
        process.wait()
    return failed[0] if failed else 0
