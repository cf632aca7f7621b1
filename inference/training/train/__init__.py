# SPDX-License-Identifier: Apache-2.0
"""The matting network, its training, its evaluation and its model files."""
