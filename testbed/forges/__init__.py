"""Stand-ins for the APIs of GitHub and GitLab, as far as stacks of pull requests ask them."""
