"""Tests of the page in a real Chromium, served by the real server, with a scripted model and a small web behind it."""
