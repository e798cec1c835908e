import { ChatLog } from "./ChatLog";
import { FootnoteChip, type FootnoteChipProps } from "./footnotes/FootnoteChip";
import { followAnswers, useUnseenAnswer } from "./unseenAnswer";

export { ChatLog, FootnoteChip, type FootnoteChipProps, followAnswers, useUnseenAnswer };
