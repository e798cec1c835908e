import { ChatLog } from "./ChatLog";
import { Evidence } from "./footnotes/Evidence";
import { FootnoteChip, type FootnoteChipProps } from "./footnotes/FootnoteChip";
import { followAnswers, useUnseenAnswer } from "./unseenAnswer";

export { ChatLog, Evidence, FootnoteChip, type FootnoteChipProps, followAnswers, useUnseenAnswer };
