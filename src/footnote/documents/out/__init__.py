"""The writers of documents: a document tree as PDF and as DOCX."""
