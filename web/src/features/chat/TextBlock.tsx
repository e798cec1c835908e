import { useMemo } from "react";
import { api } from "../../protocol/client";
import type { TextPart } from "../../state/answer";
import { conversation } from "../../state/conversation";
import { type Footnotes, Markdown, type MarkdownImages } from "../../ui/markdown";
import { Evidence } from "./footnotes/Evidence";
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

export interface TextBlockProps {
  block: TextPart;
  /** Its index in the answer. */
  at: number;
  turnKey: string;
}

export function TextBlock({ block, at, turnKey }: TextBlockProps) {
  const { citations, text } = block;
  // Verdicts come when a text is whole, though a second look may go on.
  const open = block.open && citations.length === 0;
  // While it streams, a chip is not drawn again for each piece of it.
  const judged = open ? "" : text;
  const footnotes = useMemo(
    (): Footnotes => ({
      citations,
      isKnown: (number) => isKnownIn(turnKey, number),
      render: ({ number, citation }) => <FootnoteChip number={number} citation={citation} text={judged} open={open} />,
      explain: ({ citations: [citation = null] }) => (
        <Evidence number={citation?.number ?? 0} citation={citation} text={judged} open={open} />
      ),
    }),
    [citations, open, judged, turnKey],
  );
  if (text.trim() === "") return null;
  return (
    <div className="chat-text" data-block={at}>
      <Markdown text={text} open={open} footnotes={footnotes} images={IMAGES} />
    </div>
  );
}
