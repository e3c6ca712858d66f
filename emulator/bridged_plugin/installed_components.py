"""In an installed package this is `components/__init__.py` beside the emulator: the stand-in needs no more of it."""
