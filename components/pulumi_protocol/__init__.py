"""Pulumi's protocol between the engine and the processes it starts: plugin, policy pack, stand-in.

`values.py` and `names.py` are plain data and pure, `encoding.py` turns values into messages and back, `serving.py` runs
the process, `engine_log.py` tells the user something through the engine.
"""
