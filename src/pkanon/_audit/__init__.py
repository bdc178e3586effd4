"""Looking at tables and releases from the outside."""
