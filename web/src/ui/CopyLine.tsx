import { Check, Copy } from "lucide-react";
import { useEffect, useState } from "react";
import { copied as toClipboard } from "../lib/clipboard";
import { useWords } from "../lib/i18n";
import { Button } from "./Button";
import "./ui.css";
import { words } from "./words";

const SHOWN_MS = 2000;

/** Something to be typed elsewhere, word for word. */
export function CopyLine({ text }: { text: string }) {
  const t = useWords(words);
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [copied]);
  return (
    <span className="ui-copy-line">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what does not fit is scrolled, by keyboard too. */}
      <code className="ui-copy-text" dir="ltr" translate="no" tabIndex={0}>
        {text}
      </code>
      <Button
        look="quiet"
        small
        icon={copied ? Check : Copy}
        label={copied ? t.copied : t.copy}
        onClick={() => void toClipboard(text).then(setCopied)}
      />
      <span className="ui-hidden" role="status">
        {copied ? t.copied : ""}
      </span>
    </span>
  );
}
