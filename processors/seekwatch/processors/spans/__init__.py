"""What one span says, whoever wrote it: tool calls, messages, documents, values, cleaned."""
