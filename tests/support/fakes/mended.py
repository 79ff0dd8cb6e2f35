"""`python mended.py RELEASE`: an adapter of the toy protocol whose leader stays in 1.0 alone."""

import sys

from tests.support.fakes import fake


class LaterRelease(fake.Fake):
    def __init__(self):
        super().__init__()
        self.about = self.about._replace(version="2.0")


if __name__ == "__main__":
    fake.KINDS["later_release"] = LaterRelease
    fake.main("keeps_leader" if sys.argv[1] == "1.0" else "later_release")
