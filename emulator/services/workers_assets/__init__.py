"""Upload sessions for static assets of Workers."""
