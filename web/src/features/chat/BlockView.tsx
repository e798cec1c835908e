import { memo } from "react";
import type { Block } from "../../state/answer";
import { FileCards } from "./FileCards";
import { TextBlock } from "./TextBlock";
import { Thinking } from "./Thinking";
import { ToolCard } from "./tools/ToolCard";

/** One block of an answer, or of an item of its plan. Blocks that did not change are not drawn again. */
export const BlockView = memo(function BlockView({
  block,
  at,
  turnKey,
}: {
  block: Block;
  at: number;
  turnKey: string;
}) {
  switch (block.type) {
    case "text":
      return <TextBlock block={block} at={at} turnKey={turnKey} />;
    case "thinking":
      return <Thinking block={block} />;
    case "tool_use":
      return <ToolCard call={block} />;
    case "attachments":
      return <FileCards files={block.files} />;
    default:
      return null;
  }
});
