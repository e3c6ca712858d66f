"""ContainerApplication: the instances behind a Durable Object class, and their rollouts."""
