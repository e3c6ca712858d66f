"""Starts the plugin from a checkout: the engine runs this folder with the packages of `requirements.txt` beside it."""

import sys
from pathlib import Path

sys.path[0] = str(Path(__file__).resolve().parent.parent)

from components.provider.__main__ import main

main()
