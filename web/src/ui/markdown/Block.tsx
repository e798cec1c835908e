import type { BlockContent, DefinitionContent, Heading, List, ListItem, RootContent } from "mdast";
import { createElement, memo, type ReactNode, useContext } from "react";
import { useWords } from "../../lib/i18n";
import { Code } from "./Code";
import { SettingContext } from "./context";
import { directionOf } from "./direction";
import { Formula } from "./Formula";
import { inline } from "./Inline";
import { SourceNote } from "./Marks";
import { Table } from "./Table";
import { words } from "./words";

/** A block is drawn again only when it is another object. */
export const Block = memo(function Block({ node }: { node: RootContent }): ReactNode {
  switch (node.type) {
    case "paragraph":
      return <p dir="auto">{inline(node.children)}</p>;
    case "heading":
      return <HeadingView node={node} />;
    case "list":
      return <ListView node={node} />;
    case "code":
      return <Code code={node.value} language={node.lang} highlight={!node.data?.open} />;
    case "blockquote":
      return <blockquote dir={directionOf(node)}>{blocks(node.children)}</blockquote>;
    case "table":
      return <Table node={node} />;
    case "thematicBreak":
      return <hr />;
    case "math":
      return <FormulaBlock node={node} />;
    case "html":
      return (
        <p dir="auto" className="md-html">
          {node.value}
        </p>
      );
    case "footnoteDefinition":
      return <SourceNote node={node}>{blocks(node.children)}</SourceNote>;
    default:
      return null;
  }
});

export function blocks(nodes: readonly (BlockContent | DefinitionContent)[]): ReactNode[] {
  // biome-ignore lint/suspicious/noArrayIndexKey: blocks never change their order
  return nodes.map((node, at) => <Block key={at} node={node} />);
}

function HeadingView({ node }: { node: Heading }) {
  const { headingBase } = useContext(SettingContext);
  const level = Math.min(6, headingBase + (node.data?.rank ?? node.depth) - 1);
  return createElement(`h${level}`, { dir: "auto", "data-depth": node.depth }, ...inline(node.children));
}

function FormulaBlock({ node }: { node: Extract<RootContent, { type: "math" }> }) {
  return (
    <div className="md-formula-block">
      <Formula value={node.value} source={node.source ?? node.value} display closed={node.closed ?? true} />
    </div>
  );
}

function ListView({ node }: { node: List }) {
  const loose = node.spread === true || node.children.some((item) => item.spread ?? item.children.length > 1);
  const items = node.children.map((item, at) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: items never change their order
    <Item key={at} node={item} loose={loose} />
  ));
  const tasks = node.children.some((item) => typeof item.checked === "boolean") || undefined;
  const dir = directionOf(node);
  if (!node.ordered)
    return (
      <ul dir={dir} data-tasks={tasks}>
        {items}
      </ul>
    );
  return (
    <ol dir={dir} data-tasks={tasks} start={node.start === 1 ? undefined : (node.start ?? undefined)}>
      {items}
    </ol>
  );
}

const Item = memo(function Item({ node, loose }: { node: ListItem; loose: boolean }) {
  const t = useWords(words);
  const isTask = typeof node.checked === "boolean";
  return (
    <li dir={directionOf(node)} className={isTask ? "md-task" : undefined}>
      {isTask && (
        <input
          type="checkbox"
          checked={node.checked === true}
          disabled
          aria-label={node.checked ? t.done : t.notDone}
        />
      )}
      {node.children.map((child, at) => part(child, at, loose))}
    </li>
  );
});

function part(node: RootContent, key: number, loose: boolean): ReactNode {
  return node.type === "paragraph" && !loose ? <Tight key={key} node={node} /> : <Block key={key} node={node} />;
}

/** The paragraph of a list without gaps is no block of its own. */
const Tight = memo(function Tight({ node }: { node: Extract<RootContent, { type: "paragraph" }> }) {
  return <>{inline(node.children)}</>;
});
