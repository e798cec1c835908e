import type { FileRecord, StreamEvent } from "../protocol/events.gen";

/** The files of a session after an event: a path that is written again is replaced, not doubled. */
export function filesAfter(files: readonly FileRecord[], event: StreamEvent): readonly FileRecord[] {
  if (event.type !== "content_block_start") return files;
  const block = event.content_block;
  if (block.type === "attachments") return block.files.reduce(withFile, files);
  if (block.type === "tool_result" && block.status === "success" && isFile(block.artifact)) {
    const { path, filename, icon_type, source } = block.artifact;
    const known = files.find((file) => file.path === path);
    const fresh = { id: path, created_at: new Date().toISOString(), url: "", message_id: null };
    return withFile(files, { ...(known ?? fresh), path, filename, icon_type, source });
  }
  return files;
}

/** New files belong to the message that wrote them; until its run has ended, the server's list does not say so. */
export function madeBy(
  messageId: string | null,
  before: readonly FileRecord[],
  after: readonly FileRecord[],
): readonly FileRecord[] {
  if (before === after) return after;
  const known = new Set(before.map((file) => file.path));
  const isNew = (file: FileRecord) => file.source === "generated" && file.message_id === null && !known.has(file.path);
  return after.map((file) => (isNew(file) ? { ...file, message_id: messageId } : file));
}

export function withFile(files: readonly FileRecord[], file: FileRecord): readonly FileRecord[] {
  const index = files.findIndex((known) => known.path === file.path);
  return index < 0 ? [...files, file] : files.with(index, file);
}

type Written = Pick<FileRecord, "path" | "filename" | "icon_type" | "source">;

function isFile(artifact: unknown): artifact is Written {
  return typeof artifact === "object" && artifact !== null && "path" in artifact && "icon_type" in artifact;
}
