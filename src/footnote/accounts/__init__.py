"""Who asks, and what proves it: users, passwords, tokens.

- `accounts`   `Accounts`: all that can be done with them
- `names`      what a user may be called, and when two names are the same
- `passwords`  hashed and verified, a few at a time
- `proofs`     tokens and cookies, of which only hashes are kept
- `local`      the token of the person at the machine itself
"""
