import { Check, Copy } from "lucide-react";
import { useEffect, useState } from "react";
import { copied as toClipboard } from "../../lib/clipboard";
import { useWords } from "../../lib/i18n";
import { Button } from "../Button";
import { words } from "./words";

const SAID_MS = 2000;

export function CopyButton({ text, label }: { text: () => string; label?: string }) {
  const t = useWords(words);
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), SAID_MS);
    return () => clearTimeout(timer);
  }, [copied]);
  return (
    <Button
      look="quiet"
      small
      icon={copied ? Check : Copy}
      label={copied ? t.copied : (label ?? t.copy)}
      onClick={() => void toClipboard(text()).then(setCopied)}
    />
  );
}
