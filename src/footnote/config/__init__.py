"""The configuration: `config.json`, `agents.json` and the environment, as frozen values with their origin.

- `settings`                   the values of both files, their defaults and limits: one Struct for each section
- `formats`                    formats of strings, and how they are masked
- `providers`                  the names of search and model providers, and the settings that they imply
- `json_file`, `environment`   the sources of values
- `validation`                 violations of types, formats and limits
- `load`                       the whole configuration, or every problem at once; its entries for display, and the
                               secrets in it
- `resolve`                    the values that a run needs
"""
