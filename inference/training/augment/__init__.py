# SPDX-License-Identifier: Apache-2.0
"""Synthesis and augmentation of training pictures, as batches of tensors on the accelerator."""
