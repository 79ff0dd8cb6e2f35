"""Shows the state that it was given."""

from dataclasses import fields

import protocol

from conform import sdk


class Echo(protocol.Adapter):
    def start(self, question):
        if question.given is None:
            raise sdk.NotLoadable("nothing is given")
        given = question.given
        self.shown = protocol.Observation(
            **{field.name: getattr(given, field.name) for field in fields(given)}
        )

    def observe(self):
        return self.shown

    def image(self):
        return self.shown

    def next(self, order, epoch, cookie, session):
        if cookie == sdk.NEVER_ISSUED_TEXT:
            raise sdk.Fault("NoCookie", "never issued")
        if cookie == "broken":
            raise ValueError("it is broken")
        if order == protocol.ClearAll():
            raise sdk.Unsupported("clear_all")
        return epoch


protocol.serve_sessions(protocol.about("echo", "1", ("load", "image")), Echo, 3)
