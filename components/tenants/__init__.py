"""One stack for each tenant: many stacks of one project, brought up and taken down side by side in one process."""
