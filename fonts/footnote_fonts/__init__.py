"""The fonts that Footnote sets documents in, as files beside this one. `SHA256SUMS` has the hash of each, `licences`
the licence of each, and the README of this project says where each comes from."""
