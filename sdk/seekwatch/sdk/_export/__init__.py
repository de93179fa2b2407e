"""The way out: providers, batches, the last stage before the wire, exporters."""
