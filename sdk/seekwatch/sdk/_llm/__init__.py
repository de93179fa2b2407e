"""Model APIs: how a call to one is told and read."""
