"""What an operator decides: `config.json`, `agents.json` and the environment, as frozen values with their origin.

- `settings`, `agents`   the values, their defaults and their limits: one Struct a section
- `kinds`                what a string must look like, and how much of it may be shown
- `providers`            facts about search and model providers, as data
- `json_file`, `environment`   where values come from
- `aliases`              names that stand for others
- `shape`, `rules`       what is wrong with them: each value by itself, then values against each other
- `problems`             how that is said
- `load`                 all of it together, or every problem at once
- `configuration`        the outcome, and how it is listed
- `resolve`              what a run needs, worked out once
"""
