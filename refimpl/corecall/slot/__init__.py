"""The Slot call."""
