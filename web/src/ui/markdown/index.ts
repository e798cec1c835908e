export { Code } from "./Code";
export type { FootnoteMark, Footnotes, MarkdownImages } from "./context";
export { Markdown } from "./Markdown";
export { plainText, readableText, sentenceText } from "./plain";
export { BEST_FIRST, keyOf, type Statement, statementsOf } from "./statements";
