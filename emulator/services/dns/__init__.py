"""DNS records of a zone, with the checks the API makes before it takes one."""
