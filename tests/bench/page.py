from pathlib import Path
import json
FIGURES=Path('/tmp/bench.json')
def wanted(p): return {}
def text(f): return json.dumps(f)[:3000]
