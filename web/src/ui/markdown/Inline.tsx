import type { PhrasingContent } from "mdast";
import { Fragment, type ReactNode } from "react";
import { Link } from "../Link";
import { Formula } from "./Formula";
import { MarkRunView, NoteReference } from "./Marks";
import { linePartsOf } from "./markRuns";
import { Picture } from "./Picture";

const BREAK = /^<br\s*\/?>$/i;

/** What stands in a line. Of HTML only a break is one; all else is shown as it was written. */
export function inline(nodes: readonly PhrasingContent[], inLink = false): ReactNode[] {
  if (inLink || !nodes.some(({ type }) => type === "footnoteMark"))
    return nodes.map((node, at) => one(node, at, inLink));
  return linePartsOf(nodes).map((part, at) => {
    // biome-ignore lint/suspicious/noArrayIndexKey: what stands in a line never changes its order
    if ("run" in part) return <MarkRunView key={at} run={part.run} />;
    return one(part.node, at, false);
  });
}

function one(node: PhrasingContent, key: number, inLink: boolean): ReactNode {
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
    case "footnoteMark":
      return node.value;
    case "footnoteReference":
      return inLink ? `[^${node.label}]` : <NoteReference key={key} node={node} name={node.identifier} />;
    default:
      return null;
  }
}
