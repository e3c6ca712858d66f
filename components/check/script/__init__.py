"""JavaScript and TypeScript as the rules need it: parsed, names resolved, and values followed from where they begin."""
