"""The toy charter's model with some of its functions replaced, for tests of what a model does."""

from tests.support.toy import charter


class EditedModel:
    """The model, but what is named does something else."""

    def __init__(self, **functions):
        self.functions = functions

    def __getattr__(self, name):
        return self.functions.get(name) or getattr(charter, name)


def raises(error):
    def function(*_):
        raise error

    return function
