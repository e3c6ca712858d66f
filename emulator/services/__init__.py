"""One folder per service: `routes.py` (operations), `rules.py` (what may happen), `errors.py` (codes and texts)."""
