import { Markdown } from "footnote-page/ui/markdown";
import { offer } from "./stream.jsx";

const footnotes = { citations: [], isKnown: (number) => number < 100, render: ({ number }) => <sup>{number}</sup> };

offer(({ text, open }) => <Markdown text={text} open={open} footnotes={footnotes} />);
