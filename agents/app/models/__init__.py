"""The language and speech models that the settings name."""
