"""Word between replicas: hints that make things fast, and limits that all of them count together."""
