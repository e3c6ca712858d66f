"""The older view of Workers as services with environments, which wrangler and the Terraform provider still read."""
