"""`python mended.py RELEASE`: an adapter of the toy protocol whose leader stays in 1.0 alone."""

import sys

from tests.support.fakes import fake


class AnotherRelease(fake.Fake):
    def __init__(self):
        super().__init__()
        self.about = self.about._replace(version=sys.argv[1])


if __name__ == "__main__":
    fake.KINDS["another_release"] = AnotherRelease
    fake.main("keeps_leader" if sys.argv[1] == "1.0" else "another_release")
