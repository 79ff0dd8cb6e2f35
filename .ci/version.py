"""The version of what is built; `make dist` adds the commit."""

import os

VERSION = "0.1.0" + os.environ.get("CHARTER_BUILD", "")
