"""The driver for a database that several replicas share: PostgreSQL, one transaction for each script."""
