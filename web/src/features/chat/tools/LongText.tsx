import { useState } from "react";
import { size } from "../../../lib/format";
import { useLocale, useWords } from "../../../lib/i18n";
import { Button } from "../../../ui/Button";
import { words } from "./words";

const SHOWN = 20_000;

/** Text of a tool, as it is, in a box of its own. A very long one is drawn in whole only when it is asked for. */
export function LongText({ label, text }: { label: string; text: string }) {
  const t = useWords(words);
  const locale = useLocale();
  const [whole, setWhole] = useState(false);
  const cut = !whole && text.length > SHOWN;
  if (text === "") return <span className="chat-soft">{t.nothing}</span>;
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard. */}
      {/* biome-ignore lint/a11y/useSemanticElements: it is a box to scroll, not a part of a form. */}
      <pre className="chat-long" role="group" aria-label={label} tabIndex={0} dir="auto">
        {cut ? `${text.slice(0, SHOWN)}…` : text}
      </pre>
      {cut && (
        <Button small onClick={() => setWhole(true)}>
          {t.showAll(size(new Blob([text]).size, locale))}
        </Button>
      )}
    </>
  );
}
