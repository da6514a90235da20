"""How a case ends when it does not pass."""


class Failure(Exception):
    """What the profile shows is not what is true."""


class Missing(Exception):
    """The case cannot be run here: what is missing, and for what."""


class Unavailable(Missing):
    """It cannot be run on any machine today: what it needs is not to be had. Never a failure."""


def require(condition, message):
    if not condition:
        raise Failure(message)
