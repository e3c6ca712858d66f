"""What the rules take: in `sandbox-stack check` and in the policy pack."""
