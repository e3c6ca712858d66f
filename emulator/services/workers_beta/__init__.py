"""Workers and versions as resources of their own: the newer view, which Terraform, Pulumi and wrangler use."""
