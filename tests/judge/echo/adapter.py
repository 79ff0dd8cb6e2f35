"""Shows the state that it was given."""

import protocol

from conform import sdk


class Echo(protocol.Adapter):
    def start(self, question):
        if question.given is None:
            raise sdk.NotLoadable("nothing is given")
        self.given = question.given

    def observe(self):
        return self.given

    def image(self):
        return self.given

    def next(self, order, epoch, cookie, session):
        if cookie == sdk.NEVER_ISSUED_TEXT:
            raise sdk.Fault("NoCookie", "never issued")
        if cookie == "broken":
            raise ValueError("it is broken")
        if order == protocol.ClearAll():
            raise sdk.Unsupported("clear_all")
        return epoch


protocol.serve(protocol.about("echo", "1", ("load", "image")), Echo())
