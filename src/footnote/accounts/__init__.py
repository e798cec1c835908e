"""Users, and how they authenticate.

- `accounts`     `Accounts`: users, logins, tokens
- `credentials`  passwords and tokens, of which only hashes are stored, and the token of the user of this machine
"""
