// The last messages of a session drawn at once by react-markdown: no sources, no tools, no list of sessions.
import { createRoot } from "react-dom/client";
import Markdown from "react-markdown";
import gfm from "remark-gfm";

const plugins = [gfm];
const last = Number(new URLSearchParams(location.search).get("last"));
const { messages } = await (await fetch("./history.json")).json();

function Message({ message }) {
  const text = message.content.map((block) => block.text ?? "").join("\n\n");
  return <article>{message.role === "user" ? <p>{text}</p> : <Markdown remarkPlugins={plugins}>{text}</Markdown>}</article>;
}

createRoot(document.getElementById("root")).render(
  messages.slice(-last).map((message, at) => <Message key={at} message={message} />),
);
