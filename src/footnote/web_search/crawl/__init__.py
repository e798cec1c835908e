"""The crawler: reads pages concurrently under one deadline, and follows robots.txt and a limit for each host."""
