import { ChatLog } from "./ChatLog";
import { FootnoteChip, type FootnoteChipProps } from "./footnotes/FootnoteChip";
import { useUnseenAnswer } from "./unseen";

export { ChatLog, FootnoteChip, type FootnoteChipProps, useUnseenAnswer };
