"""The model adapters one by one: profiles, a real model, and responses recorded from real servers."""
