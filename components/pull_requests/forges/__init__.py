"""Where requests are: GitHub and GitLab, asked whether one is still open, and told about its stack in one comment."""
