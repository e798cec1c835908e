"""The model adapters one by one: profiles, the real model, what was recorded from real servers."""
