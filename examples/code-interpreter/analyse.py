"""Analyse data in a code context, which keeps its state between runs, and save the chart that it draws."""

import base64
import struct
from pathlib import Path
from typing import Any

from sandbox_api import call, run

SANDBOX = "/v1/sandboxes/analysis"
LOAD = """
import pandas
sales = pandas.DataFrame({"month": ["Jan", "Feb", "Mar", "Apr"], "sold": [12, 19, 31, 24]})
print(len(sales), "months")
float(sales["sold"].mean())
"""
DRAW = """
import matplotlib.pyplot as plt
plt.bar(sales["month"], sales["sold"])
plt.title("Sold per month")
plt.show()
"""


def interpret(context: str, code: str) -> Any:
    answer = call("POST", f"{SANDBOX}/code?kind=python", {"context": context, "code": code})
    if problem := answer.get("error"):
        print(f"{problem['name']}: {problem['message']}")
    return answer


def main() -> None:
    try:
        context = call("POST", f"{SANDBOX}/code/contexts?kind=python", {"language": "python"})["context"]
        loaded = interpret(context, LOAD)
        print(loaded["stdout"].strip(), "with an average of", loaded["results"][-1]["text"])
        drawn = interpret(context, DRAW)
        chart = next(base64.b64decode(each["png"]) for each in drawn["results"] if "png" in each)
        Path("chart.png").write_bytes(chart)
        width, height = struct.unpack(">II", chart[16:24])
        print(f"chart.png has {width} x {height} pixels")
        interpret(context, "sales['profit']")
    finally:
        call("DELETE", f"{SANDBOX}?kind=python")


if __name__ == "__main__":
    run(main)
