"""The configuration: schema, checks, composition, identity."""
