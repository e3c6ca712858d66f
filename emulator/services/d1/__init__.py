"""D1: databases of an account, each a SQLite file, queried over the API and by Workers."""
