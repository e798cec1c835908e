import { useMemo } from "react";
import { api } from "../../protocol/client";
import type { TextPart } from "../../state/answer";
import { conversation } from "../../state/conversation";
import { type Footnotes, Markdown, type MarkdownImages } from "../../ui/markdown";
import { FootnoteChip } from "./footnotes/FootnoteChip";
import { isKnownIn } from "./footnotes/knownSources";

/** Pictures that the agent made are shown; those of the web only when somebody asks for one. */
const IMAGES: MarkdownImages = {
  workspace(path) {
    const { sessionId, files } = conversation.get();
    const wanted = path.startsWith("/") ? path : `/${path.replace(/^\.\//, "")}`;
    const file = files.find((one) => one.path === wanted || one.path === path);
    return sessionId !== null && file?.icon_type === "image" ? api.rawUrl(sessionId, file.path) : null;
  },
  remote: (url) => api.image(url),
};

export function TextBlock({ block, turnKey }: { block: TextPart; turnKey: string }) {
  const { citations, open, text } = block;
  const footnotes = useMemo(
    (): Footnotes => ({
      citations,
      isKnown: (number) => isKnownIn(turnKey, number),
      render: ({ number, citation }) => <FootnoteChip number={number} citation={citation} open={open} />,
    }),
    [citations, open, turnKey],
  );
  if (text.trim() === "") return null;
  return (
    <div className="chat-text">
      <Markdown text={text} open={open} footnotes={footnotes} images={IMAGES} />
    </div>
  );
}
