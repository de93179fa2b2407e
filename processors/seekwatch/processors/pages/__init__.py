"""Bodies of fetched pages, unpacked under limits and reduced to what scorers read."""
