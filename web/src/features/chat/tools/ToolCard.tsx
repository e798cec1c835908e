import {
  BookOpen,
  FilePen,
  FilePlus,
  FileSearchCorner,
  Files,
  FileText,
  type LucideIcon,
  Search,
  Wrench,
} from "lucide-react";
import { memo } from "react";
import { useLocale } from "../../../lib/i18n";
import type { FileCitations, ProofCounts } from "../../../protocol/events.gen";
import type { CallPart } from "../../../state/answer";
import { searchOf } from "../../../state/select";
import { BEST_FIRST } from "../../../ui/markdown";
import { ProofLine } from "../../../ui/proof";
import { ApprovalQuestion } from "./ApprovalQuestion";
import { Card } from "./Card";
import { Exchange, problemOf } from "./Exchange";
import { FileChip } from "./FileChip";
import { progressText, tellingArgument } from "./progress";
import { SearchCard } from "./SearchCard";
import { StatusBadge } from "./StatusBadge";
import { ToolImages } from "./ToolImages";

const ICONS: Readonly<Record<string, LucideIcon>> = {
  web_search: Search,
  read_page: BookOpen,
  write_file: FilePlus,
  edit_file: FilePen,
  read_file: FileText,
  search_files: FileSearchCorner,
  list_files: Files,
};
const SEARCHES = new Set(["web_search", "read_page"]);
const WRITES = new Set(["write_file", "edit_file"]);

/** One call of a tool: what it is asked, how far it is, and what came of it. Tools that nobody knows here have one too. */
export const ToolCard = memo(function ToolCard({ call }: { call: CallPart }) {
  const icon = ICONS[call.name] ?? Wrench;
  if (!call.asked && (SEARCHES.has(call.name) || searchOf(call))) return <SearchCard call={call} icon={icon} />;
  return <PlainCard call={call} icon={icon} />;
});

function PlainCard({ call, icon }: { call: CallPart; icon: LucideIcon }) {
  const locale = useLocale();
  const argument = tellingArgument(call.input);
  const path = WRITES.has(call.name) ? writtenPath(call) : null;
  return (
    <Card
      icon={icon}
      title={call.title || call.name}
      argument={path ? "" : argument}
      badge={<StatusBadge call={call} />}
      progress={call.progress && progressText(call.progress, locale, argument)}
      problem={problemOf(call)}
      beside={path && <FileChip path={path} />}
      below={<Below call={call} />}
    >
      <Exchange call={call} />
    </Card>
  );
}

function Below({ call }: { call: CallPart }) {
  if (call.asked) return <ApprovalQuestion call={call} input={call.asked.input} />;
  const counts = WRITES.has(call.name) ? proofOf(call) : null;
  return (
    <>
      <ToolImages call={call} />
      {counts && (
        <div className="chat-tool-proof">
          <ProofLine counts={counts} />
        </div>
      )}
    </>
  );
}

/** The verdicts on the version that a call wrote. Null: it has no statements, or they are not known. */
function proofOf({ result }: CallPart): ProofCounts | null {
  const proof = result?.artifact?.proof as Partial<FileCitations> | null | undefined;
  const counts = proof?.counts;
  return counts && BEST_FIRST.every((verdict) => typeof counts[verdict] === "number") && counts.statements > 0
    ? counts
    : null;
}

function writtenPath({ input, result }: CallPart): string | null {
  const path = result?.artifact?.path ?? input.file_path;
  return typeof path === "string" && path !== "" ? path : null;
}
