"""callbench: replay, score and compare LLM Calls."""
