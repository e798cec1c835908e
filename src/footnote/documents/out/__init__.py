"""Documents made: a document tree as PDF and as DOCX."""
