import { WrapText } from "lucide-react";
import { useState } from "react";
import { useWords } from "../../lib/i18n";
import { Button } from "../Button";
import { CopyButton } from "./CopyButton";
import { useHighlighted } from "./highlight";
import "./markdown.css";
import { words } from "./words";

export interface CodeProps {
  code: string;
  language?: string | null;
  highlight?: boolean;
}

export function Code({ code, language = null, highlight = true }: CodeProps) {
  const t = useWords(words);
  const [wrap, setWrap] = useState(false);
  const name = language?.trim().toLowerCase() || null;
  const shown = useHighlighted(code, name, highlight);
  return (
    <div className="md-code" data-wrap={wrap || undefined}>
      <div className="md-bar">
        <span className="md-bar-name">{name ?? t.plain}</span>
        <Button
          look="quiet"
          small
          icon={WrapText}
          label={t.wrap}
          aria-pressed={wrap}
          onClick={() => setWrap((now) => !now)}
        />
        <CopyButton text={() => code} />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard */}
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for controls, and a region would be a landmark */}
      <pre className="md-scroll" tabIndex={0} role="group" aria-label={t.code(name ?? "")} dir="ltr">
        <code>{shown}</code>
      </pre>
    </div>
  );
}
