"""What a stack costs a month by list prices: from settings, from a preview, from a workload, with every assumption."""
