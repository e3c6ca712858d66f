"""Containers: applications, versions, instances, rollouts, image preparations, registries and their credentials."""
