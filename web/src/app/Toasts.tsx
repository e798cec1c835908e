import { X } from "lucide-react";
import { useEffect, useRef } from "react";
import { createPortal } from "react-dom";
import { useWords } from "../lib/i18n";
import { useStore } from "../lib/store";
import { dismiss, type Toast, toasts } from "../state/toasts";
import { Button } from "../ui/Button";
import { openDialogs } from "../ui/Dialog";
import { words } from "./words";

/** Short notices, on top of everything. An open dialog makes all beside it lifeless, so they go into it. */
export function Toasts() {
  const shown = useStore(toasts);
  const t = useWords(words);
  const place = useRef<HTMLElement>(null);
  const dialog = useStore(openDialogs, (open) => open.at(-1)?.element ?? null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: in another dialog, or on the page again, it is a new element.
  useEffect(() => {
    const element = place.current;
    // A dialog that goes in the same moment takes it along; it is drawn again at once.
    if (!element?.isConnected) return;
    element.hidePopover();
    if (shown.length > 0) element.showPopover();
  }, [shown, dialog]);
  return createPortal(
    <section ref={place} popover="manual" className="app-toasts" aria-label={t.notices} role="status">
      {shown.map((one) => (
        <Notice key={one.id} toast={one} />
      ))}
    </section>,
    dialog ?? document.body,
  );
}

function Notice({ toast: { id, text, tone, action } }: { toast: Toast }) {
  const t = useWords(words);
  return (
    <div className="app-toast" data-tone={tone}>
      <span dir="auto">{text}</span>
      {action && (
        <Button
          small
          onClick={() => {
            action.run();
            dismiss(id);
          }}
        >
          {action.label}
        </Button>
      )}
      <Button small look="quiet" icon={X} label={t.dismiss} onClick={() => dismiss(id)} />
    </div>
  );
}
