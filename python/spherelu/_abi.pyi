# SPDX-License-Identifier: MIT
# Made by python/make-abi from the headers.
from typing import Any

def __getattr__(name: str) -> Any: ...
