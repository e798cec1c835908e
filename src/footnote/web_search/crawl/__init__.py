"""From addresses to pages that were read: politely, side by side, under one deadline."""
