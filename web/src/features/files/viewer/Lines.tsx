import { useMemo } from "react";
import { Code } from "../../../ui/markdown";

/** Text with the numbers of its lines, which go away while long lines are wrapped. */
export function Lines({ text, language }: { text: string; language: string | null }) {
  const shown = text.endsWith("\n") ? text.slice(0, -1) : text;
  const numbers = useMemo(() => shown.split("\n").map((_, index) => index + 1), [shown]);
  return (
    <div className="files-lines">
      <pre className="files-gutter" aria-hidden="true">
        {numbers.join("\n")}
      </pre>
      <Code code={shown} language={language} />
    </div>
  );
}
