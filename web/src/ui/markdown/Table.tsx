import { Download } from "lucide-react";
import type { AlignType, Table as TableNode, TableRow } from "mdast";
import { memo } from "react";
import { useWords } from "../../lib/i18n";
import { Button } from "../Button";
import { CopyButton } from "./CopyButton";
import { directionOf } from "./direction";
import { download } from "./download";
import { inline } from "./Inline";
import { csvOf, tsvOf } from "./rows";
import { words } from "./words";

export function Table({ node }: { node: TableNode }) {
  const t = useWords(words);
  const [head, ...rows] = node.children;
  const align = node.align ?? [];
  return (
    <div className="md-table">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard */}
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for controls, and a region would be a landmark */}
      <div className="md-scroll" tabIndex={0} role="group" aria-label={t.table}>
        <table dir={directionOf(node)}>
          <thead>{head && <Row node={head} align={align} isHead />}</thead>
          <tbody>
            {rows.map((row, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: rows never change their order
              <Row key={at} node={row} align={align} />
            ))}
          </tbody>
        </table>
      </div>
      <div className="md-bar">
        <CopyButton text={() => tsvOf(node)} label={t.copyTable} />
        <Button
          look="quiet"
          small
          icon={Download}
          title={t.csv}
          onClick={() => download("table.csv", [csvOf(node)], "text/csv")}
        >
          CSV
        </Button>
      </div>
    </div>
  );
}

interface RowProps {
  node: TableRow;
  align: readonly AlignType[];
  isHead?: boolean;
}

const Row = memo(
  function Row({ node, align, isHead = false }: RowProps) {
    const Cell = isHead ? "th" : "td";
    return (
      <tr>
        {align.map((side, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: columns never change their order
          <Cell key={at} dir="auto" scope={isHead ? "col" : undefined} data-align={side ?? undefined}>
            {inline(node.children[at]?.children ?? [])}
          </Cell>
        ))}
      </tr>
    );
  },
  (before, now) => before.node === now.node && before.align.join() === now.align.join(),
);
