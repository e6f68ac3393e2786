"""The LLM call."""
