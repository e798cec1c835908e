import { useMemo } from "react";
import { api } from "../../../protocol/client";
import { conversation } from "../../../state/conversation";
import { type Footnotes, Markdown } from "../../../ui/markdown";
import { imagePath } from "../kinds";
import { topLevel } from "./headings";
import type { Shown } from "./versions";

export interface MarkdownTextProps {
  shown: Shown;
  text: string;
  footnotes: Footnotes | undefined;
}

/** A document as it is meant to look. Images of the workspace are found beside it. */
export function MarkdownText({ shown, text, footnotes }: MarkdownTextProps) {
  const { sessionId, file } = shown;
  const images = useMemo(
    () => ({
      workspace: (wanted: string) => {
        const path = imagePath(conversation.get().files, file.path, wanted);
        return path === null ? null : api.rawUrl(sessionId, path);
      },
      remote: api.image,
    }),
    [sessionId, file.path],
  );
  // Below the name of the file, whatever the document begins with.
  const headingBase = useMemo(() => 4 - topLevel(text), [text]);
  return (
    <article className="files-document">
      <Markdown text={text} headingBase={headingBase} images={images} {...(footnotes ? { footnotes } : {})} />
    </article>
  );
}
