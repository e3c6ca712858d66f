"""The user's own `pulumi`, asked about a project and its stacks by the commands that look after what is deployed."""
