"""Reads existing projects (wrangler, npm, Dockerfiles, Pulumi) and judges them by the rules."""
