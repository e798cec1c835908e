import { Check, Copy } from "lucide-react";
import { type Ref, useEffect, useState } from "react";
import { copied as toClipboard } from "../lib/clipboard";
import { useWords } from "../lib/i18n";
import { Button } from "./Button";
import "./ui.css";
import { words } from "./words";

const SHOWN_MS = 2000;

interface CopyLineProps {
  text: string;
  /** The button has its name beside its icon. */
  named?: boolean;
  button?: Ref<HTMLButtonElement>;
}

/** Something to be typed elsewhere, word for word. */
export function CopyLine({ text, named = false, button }: CopyLineProps) {
  const t = useWords(words);
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [copied]);
  const name = copied ? t.copied : t.copy;
  return (
    <span className="ui-copy-line">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what does not fit is scrolled, by keyboard too. */}
      <code className="ui-copy-text" dir="ltr" translate="no" tabIndex={0}>
        {text}
      </code>
      <Button
        ref={button}
        look={named ? "plain" : "quiet"}
        small
        icon={copied ? Check : Copy}
        label={name}
        onClick={() => void toClipboard(text).then(setCopied)}
      >
        {named ? name : undefined}
      </Button>
      <span className="ui-hidden" role="status">
        {copied ? t.copied : ""}
      </span>
    </span>
  );
}
