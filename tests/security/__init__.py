"""What somebody who means harm would try, each with a test by name."""
