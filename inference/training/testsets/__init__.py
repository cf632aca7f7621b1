# SPDX-License-Identifier: Apache-2.0
"""Test sets made from the validation photos."""
