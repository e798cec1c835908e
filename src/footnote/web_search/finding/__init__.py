"""From a query to results: whom to ask, how often, and who stands in when one fails."""
