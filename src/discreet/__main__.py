"""``python -m discreet``: the command line, where the script ``discreet`` is not on the path."""

from discreet.cli.main import app

if __name__ == "__main__":
    app(prog_name="discreet")
