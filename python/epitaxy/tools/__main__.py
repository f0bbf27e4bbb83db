"""`python -m epitaxy.tools`: the command `epitaxy`."""

from epitaxy.tools.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
