import { Check, Copy } from "lucide-react";
import { useEffect, useState } from "react";
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
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setCopied(true);
    } catch {
      // Without TLS some browsers have no clipboard; the text can be marked by hand.
    }
  };
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
        onClick={() => void copy()}
      />
      <span className="ui-hidden" role="status">
        {copied ? t.copied : ""}
      </span>
    </span>
  );
}
