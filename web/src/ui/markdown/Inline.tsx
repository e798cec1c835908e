import type { PhrasingContent } from "mdast";
import { Fragment, type ReactNode } from "react";
import { Link } from "../Link";
import { Formula } from "./Formula";
import { MarkRunView, NoteReference } from "./Marks";
import { linePartsOf } from "./markRuns";
import { Picture } from "./Picture";
import { StatementView } from "./StatementView";

const BREAK = /^<br\s*\/?>$/i;

/** What stands in a line. Of HTML only a break is one; all else is shown as it was written. */
export function inline(nodes: readonly PhrasingContent[], inLink = false): ReactNode[] {
  const hasMarks = !inLink && nodes.some(({ type }) => type === "footnoteMark");
  const parts = hasMarks ? linePartsOf(nodes) : nodes.map((node) => ({ node }));
  // Verdicts cut the words of a line anew. What stands between them keeps its key by that, and so the keyboard and its card.
  const counts = { run: 0, statement: 0, other: 0 };
  return parts.map((part) => {
    if ("run" in part) {
      counts.run += 1;
      return <MarkRunView key={`run ${counts.run}`} run={part.run} />;
    }
    const { node } = part;
    if (node.type === "text") return node.value;
    const kind = node.type === "statement" ? "statement" : "other";
    counts[kind] += 1;
    return one(node, `${kind} ${counts[kind]}`, inLink);
  });
}

function one(node: PhrasingContent, key: string, inLink: boolean): ReactNode {
  switch (node.type) {
    case "text":
      return node.value;
    case "strong":
      return <strong key={key}>{inline(node.children, inLink)}</strong>;
    case "emphasis":
      return <em key={key}>{inline(node.children, inLink)}</em>;
    case "delete":
      return <del key={key}>{inline(node.children, inLink)}</del>;
    case "inlineCode":
      return (
        <code key={key} className="md-inline-code">
          {node.value}
        </code>
      );
    case "break":
      return <br key={key} />;
    case "link":
      // A link has no link in it.
      if (inLink) return <Fragment key={key}>{inline(node.children, true)}</Fragment>;
      return (
        <Link key={key} href={node.url}>
          {inline(node.children, true)}
        </Link>
      );
    case "image":
      return <Picture key={key} url={node.url} alt={node.alt ?? ""} inLink={inLink} />;
    case "html":
      return BREAK.test(node.value) ? <br key={key} /> : node.value;
    case "inlineMath":
      return (
        <Formula
          key={key}
          value={node.value}
          source={node.source ?? node.value}
          display={node.display ?? false}
          closed={node.closed ?? true}
        />
      );
    case "statement":
      return <StatementView key={key} part={node} content={inline(node.children, inLink)} />;
    case "footnoteMark":
      return node.value;
    case "footnoteReference":
      return inLink ? `[^${node.label}]` : <NoteReference key={key} node={node} name={node.identifier} />;
    default:
      return null;
  }
}
