export { Code } from "./Code";
export type { FootnoteMark, Footnotes, MarkdownImages } from "./context";
export { Markdown } from "./Markdown";
export { plainText, readableText } from "./plain";
