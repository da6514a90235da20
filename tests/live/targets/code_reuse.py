"""Compiles and drops functions all the time, so that other code soon lies where one was. Outer function, inner one,
file and lines have the same number, so that no mixture can pass for a real stack."""
import truth

SOURCE = """{lines}
def outer_{number}():
    inner_{number}()
def inner_{number}():
    burn(work)
"""


def rounds():
    number = 0
    while True:
        number = (number + 1) % 1000
        space = {"burn": next, "work": truth.work}
        eval(compile(SOURCE.format(lines="\n" * number, number=number), "file_{}".format(number), "exec"), space)
        space["outer_{}".format(number)]()


truth.run(lambda: truth.burn(truth.work), seconds=0)
rounds()
