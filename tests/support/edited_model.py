"""The toy charter's model with some of its functions replaced."""

from tests.support.toy import charter


class EditedModel:
    """The toy model, with the functions given by keyword instead of its own."""

    def __init__(self, **functions):
        self.functions = functions

    def __getattr__(self, name):
        return self.functions.get(name) or getattr(charter, name)


def raises(error):
    def function(*_):
        raise error

    return function
