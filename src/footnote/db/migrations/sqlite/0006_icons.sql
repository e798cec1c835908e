-- Pages have icons, and files stay with the turn that made them.

-- Where the icon of a page is, as the page or a search provider says.
ALTER TABLE reading ADD COLUMN icon TEXT;
DROP VIEW reading_with_text;
CREATE VIEW reading_with_text AS
SELECT
    reading.url, reading.snapshot_id, reading.title, reading.author, reading.published, reading.language,
    reading.site_name, reading.canonical_url, reading.media_type, reading.fetched_at, reading.links, reading.pages,
    reading.kept_at, snapshot.text, snapshot.characters, reading.icon
FROM reading JOIN snapshot ON snapshot.id = reading.snapshot_id;

-- Until now, every change moved a file to the turn that changed it.
UPDATE workspace_file SET message_id = (
    SELECT message_id FROM file_version WHERE file_id = workspace_file.id ORDER BY number LIMIT 1
)
WHERE source = 'generated';
