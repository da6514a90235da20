"""How a case ends when it does not pass."""
import os

SKIPPED = 77


class Failure(Exception):
    """What the profile shows is not what is true."""


class Missing(Exception):
    """The case cannot be run here: what is missing, and for what."""


class Unavailable(Missing):
    """It cannot be run on any machine today: what it needs is not to be had. Never a failure."""


def require(condition, message):
    if not condition:
        raise Failure(message)


def exit_code_of(name, check):
    """Runs it, and says by which of these exceptions it ended: 0, 1, or 77 for what cannot be run here (1 with
    PYPERF_REQUIRE_ALL=1, if it could be run on some machine)."""
    try:
        check()
    except Missing as missing:
        print(f"{name}: SKIPPED: {missing}")
        required = os.environ.get("PYPERF_REQUIRE_ALL") == "1" and not isinstance(missing, Unavailable)
        return 1 if required else SKIPPED
    except Failure as failure:
        print(f"{name}: FAILED: {failure}")
        return 1
    return 0


def exit_code_of_all(codes):
    return 1 if 1 in codes else SKIPPED if SKIPPED in codes else 0
